"""A training loop that several recipes share; yours may be any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from cloze.corpus import sample_windows
from cloze.loss import mlm_loss
from cloze.masking import mask_tokens

if TYPE_CHECKING:
    from benchmarks.speedrun import Race

Optimizers = Sequence[tuple[torch.optim.Optimizer, float]]
"""Each with its peak learning rate."""


def schedule(used: float, warmup: float) -> float:
    """Rise linearly over a share of the time, then fall linearly to 0."""
    return min(1.0, (used + 1e-3) / warmup, (1 - used) / (1 - warmup))


def train(
    race: Race,
    model: Any,
    optimizers: Optimizers,
    minutes: float,
    *,
    warmup: float | None = 0.1,
    lines: int = 32,
    mask_prob: float = 0.3,
) -> Any:
    """Train a model on masked windows of 64 characters, and return it.

    Args:
        race: what the recipe was given.
        model: with ``logits_at(ids, selected)``.
        optimizers: what improves its parameters.
        minutes: how long the training takes.
        warmup: the share of this time in which the rates rise; None for constant rates.
        lines: how many windows a batch has.
        mask_prob: how many of its characters are selected.
    """
    generator = torch.Generator().manual_seed(race.seed)
    for used in race.until(minutes):
        windows = sample_windows(race.ids, lines, 64, generator)
        inputs, labels = mask_tokens(windows, mask_prob, generator=generator)
        selected = labels >= 0
        loss = mlm_loss(model.logits_at(inputs, selected), labels[selected])
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, peak in optimizers:
            optimizer.param_groups[0]["lr"] = peak * (schedule(used, warmup) if warmup else 1.0)
            optimizer.step()
    return model
