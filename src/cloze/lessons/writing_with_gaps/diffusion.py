"""The bound of masked diffusion by the number of gaps, and exactly for short lines."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from cloze.arguments import Line, checked, known_symbols
from cloze.heads import LINES_AT_ONCE, Model
from cloze.lessons.writing_with_gaps.objective_diffusion import held_out_bound, hidden_costs, hide
from cloze.masking import IGNORE, MaskedBatch, seeded

MOST_EXACT = 16
"""The most symbols of a line of which every subset is hidden: 65 536 lines to read."""


def curve(model: Model, windows: Tensor) -> list[float]:
    """Return the mean cost of a hidden symbol when 1, 2, … n are hidden; their mean is a bound.

    Args:
        model: any model that reads both sides.
        windows: lines of n ordinary symbols each, shape ``(lines, n)``.
    """
    n, generator = windows.shape[1], seeded(0)
    found = []
    for k in range(1, n + 1):
        shares = torch.full((len(windows),), (k - 0.5) / n)
        batch = hide(windows, shares, vocabulary=model.vocabulary, generator=generator)
        found.append(held_out_bound(model, batch))
    return found


# Exactly, where every subset can be hidden


@checked
@torch.no_grad()
def all_costs(model: Model, input_ids: Line) -> Tensor:
    """Return −log P of every symbol of a line under every set of hidden symbols.

    Args:
        model: any model that reads both sides.
        input_ids: shape ``(length,)``, with n ordinary symbols, at most ``MOST_EXACT``.

    Returns:
        Shape ``(2 ** n, n)``, float64: row s hides the ordinary symbols whose bits are set in s;
        0 at what is not hidden.

    Raises:
        ValueError: there are too many symbols, or none.
    """
    known = known_symbols(input_ids, len(model.vocabulary))
    (at,) = (known < model.vocabulary.n_ordinary).nonzero(as_tuple=True)
    n = len(at)
    if not 1 <= n <= MOST_EXACT:
        raise ValueError(
            f"A line of 1 to {MOST_EXACT} symbols can be hidden in all ways, and this one has {n}."
        )
    bits = (torch.arange(2**n)[:, None] >> torch.arange(n)) & 1 == 1
    hidden = torch.zeros(2**n, len(input_ids), dtype=torch.bool)
    hidden[:, at] = bits
    lines = input_ids.expand(2**n, -1)
    batch = MaskedBatch(
        lines.masked_fill(hidden, model.vocabulary.mask_id), lines.masked_fill(~hidden, IGNORE)
    )
    parts = zip(*(torch.split(each, LINES_AT_ONCE) for each in batch), strict=True)
    costs = torch.zeros(2**n, n, dtype=torch.float64)
    costs[bits] = torch.cat([hidden_costs(model, MaskedBatch(*part)).double() for part in parts])
    return costs


def line_bound(costs: Tensor) -> float:
    """Return the bound on −log P of a line in nats from ``all_costs``: Σ_k of the means for k."""
    n = costs.shape[1]
    k = ((torch.arange(2**n)[:, None] >> torch.arange(n)) & 1).sum(1)[1:]
    ways = torch.tensor([math.comb(n, j) for j in range(n + 1)], dtype=torch.float64)
    return float((costs[1:].sum(1) / (k * ways[k])).sum())
