"""ModernBERT of `transformers` with AdamW at 4e-3, and with our rotary base of 100; 30 %."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from benchmarks.peers import ModernBert
from benchmarks.recipes import loop

if TYPE_CHECKING:
    from benchmarks.lane import Race


class Model(ModernBert):
    """Its own rotary bases are made for texts of thousands of symbols."""

    def __init__(self) -> None:
        super().__init__(rotary_base=100.0)


def train(race: Race) -> None:
    """Train on a schedule made for 1.3 nats, or for a minute."""
    model = Model()
    optimizers = [(torch.optim.AdamW(model.parameters(), fused=True), 4e-3)]
    minutes = 0.995 if race.goal is None else 1.2
    loop.train(race, model, optimizers, minutes, warmup=0.06)
