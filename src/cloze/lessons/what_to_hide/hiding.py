"""One line, hidden as you choose: what is asked, and what that costs the shipped model."""

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
    """What is read of a line, what is asked of it, and what the answers cost."""

    inputs: Tensor
    """The ids that are read, shape ``(length,)``."""
    costs: dict[int, float]
    """By position that is asked about, −log P of the true character, in nats."""
    fates: dict[int, str]
    """By the same positions, what became of the character: M, R or K."""

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
    """Hide a part of a line and ask the encoder that ships with the series about it.

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
    hide, swap = SHARES[shares]
    masker = partial(mask, line[None], rate, vocabulary=VOCABULARY)
    inputs, labels = masker(mask_share=hide, random_share=swap, generator=seeded(seed))
    # The same numbers with [MASK] for the random ones too: one may be the original by chance.
    either = masker(mask_share=hide + swap, random_share=0.0, generator=seeded(seed)).inputs
    selected = labels != IGNORE
    costs = -log_probs_at(model, inputs, selected).gather(1, labels[selected][:, None]).squeeze(1)
    at = selected[0].nonzero().flatten().tolist()
    hidden = VOCABULARY.mask_id
    fates = {
        i: "M" if inputs[0, i] == hidden else "R" if either[0, i] == hidden else "K" for i in at
    }
    return HiddenLine(inputs[0], dict(zip(at, costs.tolist(), strict=True)), fates)
