"""One line, hidden as you choose, and what predicting it costs the shipped model."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.arguments import Line, Whole, checked
from cloze.heads import log_probs_at
from cloze.lessons.what_to_hide.choices import SHAPES, SHARES, Shape, Shares
from cloze.masking import IGNORE, seeded
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY


class HiddenLine(NamedTuple):
    """A line of which some positions are to be predicted."""

    inputs: Tensor
    """The ids that the model reads, shape ``(length,)``."""
    costs: dict[int, float]
    """By selected position, −log P of the true character, in nats."""
    fates: dict[int, str]
    """By selected position, what became of the character: M, R or K."""

    @property
    def total(self) -> float:
        """What all answers cost together, in nats."""
        return sum(self.costs.values())

    @property
    def mean(self) -> float:
        """What an answer costs on average, in nats."""
        return self.total / len(self.costs)


@checked
@torch.no_grad()
def hide_line(
    line: Line,
    rate: float = 0.15,
    shape: Shape = "characters",
    shares: Shares = "80/10/10",
    seed: Whole = 0,
) -> HiddenLine:
    """Hide a part of a line and let the encoder that ships with the series predict it.

    Args:
        line: its ids, shape ``(length,)``.
        rate: the rate of selection.
        shape: one of ``SHAPES``.
        shares: one of ``SHARES``.
        seed: of the source of chance.

    Raises:
        ValueError: there is no such shape, or there are no such shares.
    """
    mask, model = SHAPES[shape], shipped_model()
    mask_share, random_share = SHARES[shares]
    masker = partial(mask, line[None], rate, vocabulary=VOCABULARY)
    inputs, labels = masker(
        mask_share=mask_share, random_share=random_share, generator=seeded(seed)
    )
    # The same numbers with [MASK] for the random ones too: one may be the original by chance.
    either, _ = masker(
        mask_share=mask_share + random_share, random_share=0.0, generator=seeded(seed)
    )
    selected = labels != IGNORE
    costs = -log_probs_at(model, inputs, selected).gather(1, labels[selected][:, None]).squeeze(1)
    at = selected[0].nonzero().flatten().tolist()
    hidden = VOCABULARY.mask_id
    fates = {
        i: "M" if inputs[0, i] == hidden else "R" if either[0, i] == hidden else "K" for i in at
    }
    return HiddenLine(inputs[0], dict(zip(at, costs.tolist(), strict=True)), fates)
