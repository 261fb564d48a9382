"""The loss L = −Σ_{i∈M} log P(x_i | x̃), its units, and the cost −log P that it is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze import arguments
from cloze.masking import IGNORE

LOG2 = math.log(2)


def mlm_loss(logits: Tensor, labels: Tensor, reduction: Literal["mean", "sum"] = "mean") -> Tensor:
    """Compute the masked language modeling loss in nats.

    Args:
        logits: unnormalised log-probabilities, shape ``(…, |V|)``.
        labels: original ids at the selected positions, −100 elsewhere; shape ``(…)``.
        reduction: ``"sum"`` is the formula as it stands; ``"mean"`` divides it by |M|.

    Returns:
        A scalar tensor.

    Raises:
        ValueError: no position is selected (the mean over nothing would be NaN), the shapes do
            not fit, or a label is none.
    """
    arguments.one_of(reduction, ("mean", "sum"), "reduction")
    if not arguments.of_type(logits, Tensor, "logits").is_floating_point() or not logits.dim():
        raise ValueError(f"Logits are a tensor of numbers (…, |V|), not {arguments.shown(logits)}.")
    if arguments.of_type(labels, Tensor, "labels").dtype != torch.int64:
        raise ValueError(f"Labels are a tensor of int64, not {arguments.shown(labels)}.")
    if logits.shape[:-1] != labels.shape:
        raise ValueError(
            f"Logits of shape {tuple(logits.shape)} need labels of shape "
            f"{tuple(logits.shape[:-1])}, not {tuple(labels.shape)}."
        )
    if not (labels != IGNORE).any():
        raise ValueError(
            "No position is selected: every label is -100, so there is nothing to average over."
        )
    rows = logits.reshape(-1, logits.shape[-1])  # (positions, |V|)
    try:
        return F.cross_entropy(rows, labels.flatten(), ignore_index=IGNORE, reduction=reduction)
    except IndexError:  # torch looks at every label anyway
        raise ValueError(
            f"A label is -100 or an id from 0 to {logits.shape[-1] - 1}, for there are "
            f"{logits.shape[-1]} logits at a position; one of these is neither."
        ) from None


def cost(probability: float) -> float:
    """Return −log P in nats; what was called impossible costs infinitely much."""
    p = arguments.probability(probability, "What has a cost")
    return abs(math.log(p)) if p else math.inf


def expected_cost(truth: Mapping[str, float], bet: Mapping[str, float]) -> float:
    """Return −Σ p(c) log q(c) in nats: what bet q pays on average if the truth is drawn from p.

    No bet pays less than ``bet = truth`` (Gibbs' inequality); what that pays is the entropy of p.
    """
    _total(truth, "The truth", at_least=1.0)
    _total(bet, "The bet", at_least=0.0)
    return sum(p * cost(bet.get(c, 0.0)) for c, p in truth.items() if p)


def _total(shares: Mapping[str, float], what: str, at_least: float) -> None:
    """Refuse what is no distribution; a bet may leave some of its money at home."""
    if not isinstance(shares, Mapping):
        raise ValueError(f"{what} is a dict of probabilities, not {arguments.shown(shares)}.")
    total = sum(arguments.probability(p, f"A share of {what.lower()}") for p in shares.values())
    if not at_least - 1e-6 <= total <= 1 + 1e-6:
        raise ValueError(f"{what} is a distribution: its shares sum to 1, not to {total:.6g}.")


def to_bits(nats: float) -> float:
    """Convert nats to bits: one bit is log 2 = 0.693 nats."""
    return arguments.number(nats, "A cost in nats") / LOG2


def perplexity(nats: float) -> float:
    """Return e^loss: among how many equally likely symbols the model as good as hesitates."""
    try:
        return math.exp(arguments.number(nats, "A loss in nats"))
    except OverflowError:
        return math.inf
