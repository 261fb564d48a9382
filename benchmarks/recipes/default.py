"""The default: the first layer's projections are computed once per symbol and looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.recipes import loop
from cloze.heads import MaskedLM
from cloze.training import Recipe, _optimizers

if TYPE_CHECKING:
    from benchmarks.speedrun import Race

MINUTES = {"1.3": 0.125, "0.9": 0.75, "minute": 0.99}


def train(race: Race) -> Any:
    """Train on a schedule made for the goal."""
    model = MaskedLM()
    lines = 24 if race.track == "1.3" else 32
    optimizers = _optimizers(model, Recipe(), head=True)
    return loop.train(race, model, optimizers, MINUTES[race.track], lines=lines)
