"""Evaluation: what a model pays under the fixed masks of the series, and how runs are summed up.

Also how well scores separate positives, such as typos, from negatives.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.arguments import checked
from cloze.heads import LINES_AT_ONCE, Model
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, number_selected


@checked
@torch.no_grad()
def held_out_loss(model: Model, held_out: MaskedBatch) -> float:
    """Return the mean loss in nats over the selected positions of fixed masks.

    Raises:
        ValueError: no position is selected.
    """
    n = number_selected(held_out.selected)
    total = sum(
        mlm_loss(logits, labels, reduction="sum").item()
        for logits, labels in answers(model, held_out)
    )
    return total / n


def answers(model: Model, held_out: MaskedBatch) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield logits ``(|M|, |V|)`` and labels ``(|M|,)`` of some windows at a time."""
    parts = (torch.split(part, LINES_AT_ONCE) for part in held_out)
    for inputs, labels in zip(*parts, strict=True):
        selected = labels != IGNORE
        if selected.any():
            yield model.logits_at(inputs, selected), labels[selected]


class Repeated(NamedTuple):
    """Scores of runs that differ only in their seed."""

    mean: float
    spread: float
    """The standard deviation; 0 for a single run."""

    @classmethod
    def of(cls, scores: Iterable[float]) -> Repeated:
        """Return mean and spread of what the runs scored."""
        runs = [*scores]
        return cls(statistics.fmean(runs), statistics.stdev(runs) if len(runs) > 1 else 0.0)

    def __format__(self, digits: str) -> str:
        digits = digits or ".2f"
        return f"{self.mean:{digits}} ± {self.spread:{digits}}"

    def __repr__(self) -> str:
        return f"{self}"
