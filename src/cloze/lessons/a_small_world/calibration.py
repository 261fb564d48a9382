"""Do the 0.8s come true? What a reader says, and how often it happens."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

EDGES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Probabilities below the first are left out: those of nearly all words at nearly all gaps."""


class Bin(NamedTuple):
    """All answers between two probabilities."""

    said: float
    """The mean of the probabilities that were given."""
    came_true: float
    """The share of them that were right."""
    n: int


def binned(probabilities: Tensor, labels: Tensor) -> list[Bin]:
    """Compare what was said with what happened.

    Args:
        probabilities: shape ``(|M|, n)``.
        labels: the right words, shape ``(|M|,)``.

    Returns:
        A bin per interval between two edges in which anything was said.
    """
    happened = torch.zeros_like(probabilities).scatter_(1, labels[:, None], 1.0)
    bins = []
    for low, high in pairwise(EDGES):
        inside = (probabilities > low) & (probabilities <= high)
        if inside.any():
            mean, true = (float(values[inside].mean()) for values in (probabilities, happened))
            bins.append(Bin(mean, true, int(inside.sum())))
    return bins
