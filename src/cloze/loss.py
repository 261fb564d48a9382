"""The loss L = −Σ_{i∈M} log P(x_i | x̃), its units, and the cost −log P that it is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from torch import Tensor
from torch.nn import functional as F

from cloze.arguments import Labels, Logits, Probability, checked
from cloze.masking import IGNORE, number_selected

LOG2 = math.log(2)


@checked
def mlm_loss(logits: Logits, labels: Labels, reduction: Literal["mean", "sum"] = "mean") -> Tensor:
    """Compute the masked language modeling loss in nats.

    Args:
        logits: unnormalised log-probabilities, shape ``(…, |V|)``.
        labels: original ids at the selected positions, −100 elsewhere; shape ``(…)``.
        reduction: ``"sum"`` is the formula as it stands; ``"mean"`` divides it by |M|.

    Returns:
        A scalar tensor.

    Raises:
        ValueError: no position is selected (the mean over nothing would be NaN), or the shapes do
            not fit.
    """
    number_selected(labels != IGNORE)
    rows = logits.reshape(-1, logits.shape[-1])  # (positions, |V|)
    answers = labels.flatten()  # (positions,)
    return F.cross_entropy(rows, answers, ignore_index=IGNORE, reduction=reduction)


@checked
def cost(probability: Probability) -> float:
    """Return −log P in nats; an outcome given probability 0 costs infinity."""
    return abs(math.log(probability)) if probability else math.inf  # never −0


@checked
def expected_cost(truth: Mapping[str, Probability], bet: Mapping[str, Probability]) -> float:
    """Return −Σ p(c) log q(c) in nats: what bet q pays on average if the truth is drawn from p.

    This is the cross-entropy H(p, q). No bet pays less than ``bet = truth`` (Gibbs' inequality);
    what that pays is the entropy of p. A bet may sum to less than 1.

    Raises:
        ValueError: the truth does not sum to 1, or the bet to more.
    """
    for what, least, shares in (("The truth", 1.0, truth), ("The bet", 0.0, bet)):
        total = sum(shares.values())
        if not least - 1e-6 <= total <= 1 + 1e-6 or min(shares.values(), default=0.0) < 0:
            raise ValueError(f"{what} is a distribution: its shares sum to 1, not to {total:.6g}.")
    return sum(p * cost(bet.get(c, 0.0)) for c, p in truth.items() if p)


@checked
def to_bits(nats: float) -> float:
    """Convert nats to bits: one bit is log 2 = 0.693 nats."""
    return nats / LOG2


@checked
def perplexity(nats: float) -> float:
    """Return e^loss: the model is as unsure as if it chose among so many equally likely symbols."""
    try:
        return math.exp(nats)
    except OverflowError:
        return math.inf
