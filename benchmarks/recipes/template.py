"""Our model with AdamW for everything: write here what you changed, and why it helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from cloze.corpus import sample_windows
from cloze.heads import MaskedLM  # or your own: model(ids) returns logits at every position
from cloze.loss import mlm_loss
from cloze.masking import mask_tokens

if TYPE_CHECKING:
    from benchmarks.speedrun import Race

MINUTES = {"0.9": 3.0, "minute": 0.98}
"""How long to train on each track."""


def train(race: Race) -> MaskedLM:
    """Train until the planned time is over, and return the model."""
    model = MaskedLM()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    generator = torch.Generator().manual_seed(race.seed)
    for used in race.until(MINUTES[race.track]):
        windows = sample_windows(race.ids, 32, 64, generator)
        inputs, labels = mask_tokens(windows, 0.3, generator=generator)
        selected = labels >= 0
        loss = mlm_loss(model.logits_at(inputs, selected), labels[selected])
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.param_groups[0]["lr"] = 4e-3 * min(1.0, (used + 1e-3) / 0.1, (1 - used) / 0.9)
        optimizer.step()
    return model
