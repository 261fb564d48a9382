"""Masked diffusion: hide any number of symbols, and bound −log P(x) by what the answers cost.

Put the n symbols of a line into a random order and write them one after the other, each from what
stands there already. The chain rule in that order, averaged over all orders (Jensen's inequality),
gives −log P(x) ≤ Σ_k E[cost of a hidden symbol | k are hidden], k = 1 … n: the symbol written
when k are missing is any one of the k. So

    bound = n · E_k E_M [ 1/k · Σ_{i ∈ M} −log P(x_i | x̃) ],   k uniform on 1 … n, |M| = k,

and divided by n it is the mean cost of a symbol, all *numbers of gaps* counted equally. Hiding each
symbol with a rate t uniform on (0, 1) and weighing by 1/t is the same thing in expectation, with
more chance in it.

Sources: Uria et al. 2014 (NADE, any order); Austin et al. 2021 (D3PM); Sahoo et al. 2024 (MDLM).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.heads import LINES_AT_ONCE, Model
from cloze.masking import IGNORE, MaskedBatch, seeded
from cloze.objectives import Objective, register
from cloze.vocabulary import VOCABULARY, Vocabulary

DRAWS = 4
"""How often each line is asked about, with numbers of gaps far apart."""


def hide(
    input_ids: Tensor,
    shares: Tensor,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> MaskedBatch:
    """Hide exactly k symbols of each line, any k of them equally likely; ``[MASK]`` alone is used.

    Args:
        input_ids: shape ``(lines, length)``; special symbols of it are never hidden.
        shares: for each line a number from 0 to 1, shape ``(lines,)``: of n ordinary symbols
            k = 1 + ⌊share · n⌋ are hidden, so a uniform share gives k uniform on 1 … n. A share of
            1 hides all.
        vocabulary: what the ids mean.
        generator: the source of chance; the same state hides the same symbols.
    """
    ordinary = input_ids < vocabulary.n_ordinary
    n = ordinary.sum(dim=1)
    k = (1 + (shares * n).long()).minimum(n)
    # Special symbols get 2, a number that no uniform draw reaches, so they come last.
    number = torch.rand(input_ids.shape, generator=generator).masked_fill(~ordinary, 2.0)
    place = number.argsort(dim=1).argsort(dim=1)
    hidden = place < k[:, None]
    return MaskedBatch(
        input_ids.masked_fill(hidden, vocabulary.mask_id), input_ids.masked_fill(~hidden, IGNORE)
    )


def spread(lines: int, generator: torch.Generator | None = None) -> Tensor:
    """Return a uniform share for each line, evenly spread over 0 … 1: shape ``(lines,)``.

    Each is uniform, but not independent of the others: a batch sees few and many gaps alike, and
    its loss varies less (Kingma et al. 2021, Variational Diffusion Models, appendix I).
    """
    return (torch.rand(1, generator=generator) + torch.arange(lines) / lines) % 1


def bound_on(model: Model, batch: MaskedBatch) -> Tensor:
    """Return the bound on −log P(x) in nats per symbol, estimated from lines with hidden symbols.

    Every line counts n/k · Σ_{i ∈ M} −log P(x_i | x̃), and the sum over lines is divided by all
    their symbols: a scalar with a gradient.
    """
    costs, symbols = line_bounds(model, batch)
    return costs.sum() / symbols.sum()


def line_bounds(model: Model, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
    """Return n/k · Σ_{i ∈ M} −log P(x_i | x̃) of each line, and its n; both ``(lines,)``."""
    selected = batch.selected
    k = selected.sum(dim=1)
    n = k + (batch.inputs < model.vocabulary.n_ordinary).sum(dim=1)
    paid = hidden_costs(model, batch)
    rows = selected.nonzero(as_tuple=True)[0]
    total = paid.new_zeros(len(n)).index_add(0, rows, paid)
    return total * n / k, n


def hidden_costs(model: Model, batch: MaskedBatch) -> Tensor:
    """Return −log P of the truth at the selected positions, shape ``(|M|,)``."""
    logits = model.logits_at(batch.inputs, batch.selected)
    return F.cross_entropy(logits, batch.labels[batch.selected], reduction="none")


# What is measured


def held_out_lines(windows: Tensor, vocabulary: Vocabulary = VOCABULARY) -> MaskedBatch:
    """Hide symbols of held-out windows ``(n, length)``, each ``DRAWS`` times, always the same."""
    generator = seeded(0)
    shares = (torch.arange(DRAWS) + torch.rand(len(windows), 1, generator=generator)) / DRAWS
    return hide(
        windows.repeat_interleave(DRAWS, dim=0),
        shares.flatten().clamp(max=1.0),
        vocabulary=vocabulary,
        generator=generator,
    )


@torch.no_grad()
def held_out_bound(model: Model, held_out: MaskedBatch) -> float:
    """Return the bound in nats per symbol over lines with hidden symbols, in float64."""
    parts = [
        line_bounds(model, MaskedBatch(*part))
        for part in zip(*(torch.split(each, LINES_AT_ONCE) for each in held_out), strict=True)
    ]
    costs, symbols = (torch.cat(each).double() for each in zip(*parts, strict=True))
    return float(costs.sum() / symbols.sum())


DIFFUSION = register(
    Objective(
        name="diffusion",
        ask=lambda windows, mask_prob, generator, vocabulary: hide(  # noqa: ARG005
            windows, spread(len(windows), generator), vocabulary=vocabulary, generator=generator
        ),
        loss=bound_on,
        held_out=held_out_lines,
        measure=held_out_bound,
        measured="bound",
    )
)
"""Masked diffusion's: any number of symbols is hidden, all numbers equally often."""
