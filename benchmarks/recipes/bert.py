"""BERT as `transformers` builds it: AdamW at 2e-3, 15 %, no dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from benchmarks.peers import Bert
from benchmarks.recipes import loop

if TYPE_CHECKING:
    from benchmarks.lane import Race


class Model(Bert):
    """Without the dropout of 0.1 that it comes with, and that makes it half as fast."""

    def __init__(self) -> None:
        super().__init__(dropout=0.0)


def train(race: Race) -> None:
    """Train on a schedule of almost five minutes, which it leaves at 1.3 nats."""
    model = Model()
    optimizers = [(torch.optim.AdamW(model.parameters(), fused=True), 2e-3)]
    loop.train(
        race,
        model,
        optimizers,
        0.995 if race.goal is None else 4.6,
        warmup=0.06,
        mask_prob=0.15,
        moments=[1.0] if race.goal is None else [0.44 + 0.02 * k for k in range(9)],
    )
