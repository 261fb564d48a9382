"""How notebook 14 compares what the commands in ``measured/inside`` measured."""

from __future__ import annotations

import torch
from torch import Tensor


def ranks(values: Tensor) -> Tensor:
    """Return the rank of each value; equal values share theirs."""
    below = (values[None] < values[:, None]).sum(1)
    equal = (values[None] == values[:, None]).sum(1)
    return below + (equal - 1) / 2


def rank_correlation(a: Tensor, b: Tensor) -> float:
    """Return Spearman's rank correlation of two lists of numbers."""
    return float(torch.corrcoef(torch.stack([ranks(a).double(), ranks(b).double()]))[0, 1])
