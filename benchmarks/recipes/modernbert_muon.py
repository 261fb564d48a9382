"""ModernBERT of `transformers`, `torch.optim.Muon` at 0.02 for its matrices, AdamW at 4e-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from benchmarks.recipes import loop
from benchmarks.recipes.modernbert_adamw import Model

if TYPE_CHECKING:
    from benchmarks.lane import Race

MINUTES = {1.3: 0.65, 0.9: 2.6, None: 0.995}


def train(race: Race) -> None:
    """Train on a schedule made for the goal."""
    model = Model()
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n]
    theirs = set(matrices)
    rest = [p for p in model.parameters() if p not in theirs]
    optimizers = [
        (torch.optim.Muon(matrices), 0.02),
        (torch.optim.AdamW(rest, fused=True), 4e-3),
    ]
    loop.train(race, model, optimizers, MINUTES[race.goal], warmup=0.06)
