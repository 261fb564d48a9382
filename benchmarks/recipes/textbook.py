"""The textbook's: post-norm, learned positions, Adam at a constant 1e-3, 15 %, no dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from benchmarks.peers import Textbook
from benchmarks.recipes import loop

if TYPE_CHECKING:
    from benchmarks.lane import Race


class Model(Textbook):
    """Without the dropout of 0.1 that it comes with, and that makes it half as fast."""

    def __init__(self) -> None:
        super().__init__(dropout=0.0)


def train(race: Race) -> None:
    """Train; to 0.9 nats it would take too long."""
    model = Model()
    optimizers = [(torch.optim.Adam(model.parameters()), 1e-3)]
    loop.train(
        race,
        model,
        optimizers,
        0.995 if race.goal is None else 2.6,
        warmup=None,
        mask_prob=0.15,
        moments=[1.0] if race.goal is None else [0.55 + 0.05 * k for k in range(10)],
    )
