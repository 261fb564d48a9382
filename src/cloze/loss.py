"""The loss L = −Σ_{i∈M} log P(x_i | x̃), its units, and the cost −log P that it is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from torch import Tensor
from torch.nn import functional as F

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
        ValueError: no position is selected (the mean over nothing would be NaN), or the shapes
            do not fit.
    """
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
    return F.cross_entropy(rows, labels.flatten(), ignore_index=IGNORE, reduction=reduction)


def cost(probability: float) -> float:
    """Return −log P in nats; what was called impossible costs infinitely much."""
    return abs(math.log(probability)) if probability else math.inf


def expected_cost(truth: Mapping[str, float], bet: Mapping[str, float]) -> float:
    """Return −Σ p(c) log q(c) in nats: what bet q pays on average if the truth is drawn from p.

    No bet pays less than ``bet = truth`` (Gibbs' inequality); what that pays is the entropy of p.
    """
    return sum(p * cost(bet.get(c, 0.0)) for c, p in truth.items() if p)


def to_bits(nats: float) -> float:
    """Convert nats to bits: one bit is log 2 = 0.693 nats."""
    return nats / LOG2


def perplexity(nats: float) -> float:
    """Return e^loss: among how many equally likely symbols the model as good as hesitates."""
    return math.exp(nats)
