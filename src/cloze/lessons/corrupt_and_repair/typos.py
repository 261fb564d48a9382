"""Typos: planted at random, and looked for by what a model says of every symbol."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.lessons.corrupt_and_repair.corruptions import replace
from cloze.lessons.corrupt_and_repair.replaced import ReplacedLM
from cloze.masking import seeded
from cloze.prediction import surprise, visible_costs

RATE = 0.05
"""How many of the characters are typos."""

Finder = Callable[[Tensor], Tensor]
"""From lines ``(n, length)`` to a score for each symbol: the higher, the more likely a typo."""


def planted(windows: Tensor, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Replace characters of windows ``(n, length)`` by others; return the lines, and where."""
    chance = seeded(seed)
    lines = torch.stack([replace(window, RATE, generator=chance).inputs for window in windows])
    return lines, lines != windows


def finders(model: MaskedLM) -> dict[str, Finder]:
    """Return every way in which this model can look for typos, by name.

    A discriminator says of each symbol whether it was replaced. Of a masked model −log P of each
    symbol is taken, from one look that sees it or from a look per symbol that does not.
    """
    if isinstance(model, ReplacedLM):
        return {"discriminator, one look": lambda lines: model(lines).detach()}
    return {
        "masked, one look": lambda lines: visible_costs(model, lines),
        "masked, in turn": lambda lines: torch.stack([surprise(model, line) for line in lines]),
    }
