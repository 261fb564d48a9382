"""Do the 0.8s come true? What a reader says, and how often it happens."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.heads import Model
from cloze.masking import MaskedBatch

EDGES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Probabilities below the first are left out: those of nearly all words at nearly all gaps."""


class Bin(NamedTuple):
    """All answers between two probabilities."""

    said: float
    """The mean of the probabilities that were given."""
    came_true: float
    """The share of them that were right."""
    n: int


def said(reader: Model, batch: MaskedBatch, n: int) -> Tensor:
    """Return the probabilities that a reader gives the ``n`` ordinary words: ``(|M|, n)``."""
    with torch.no_grad():
        logits = reader.logits_at(batch.inputs, batch.selected).double()
    return logits.softmax(dim=1)[:, :n]


def binned(probabilities: Tensor, labels: Tensor) -> list[Bin]:
    """Compare what was said with what happened.

    Args:
        probabilities: shape ``(|M|, n)``.
        labels: the right words, shape ``(|M|,)``.

    Returns:
        A bin per interval between two edges in which anything was said.
    """
    happened = torch.zeros_like(probabilities).scatter_(1, labels[:, None], 1.0)
    found = []
    for low, high in pairwise(EDGES):
        inside = (probabilities > low) & (probabilities <= high)
        if inside.any():
            mean, true = (float(values[inside].mean()) for values in (probabilities, happened))
            found.append(Bin(mean, true, int(inside.sum())))
    return found
