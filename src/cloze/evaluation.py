"""Evaluation: what models and baselines pay on all held-out pieces, under the fixed masks.

And how well scores set what is looked for, such as typos, above everything else.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze import arguments
from cloze.baselines import BASELINES, NeighbourBaseline
from cloze.corpus import Corpus, windows
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, held_out_batch
from cloze.vocabulary import VOCABULARY


@torch.no_grad()
def held_out_loss(model: MaskedLM, held_out: MaskedBatch, batch_size: int = 32) -> float:
    """Return the mean loss in nats over the selected positions of fixed masks.

    Raises:
        ValueError: there is no model, or nothing to ask it.
    """
    arguments.model(model, int(held_out.inputs.max()) + 1)
    batch_size = arguments.whole_number(batch_size, 1, None, "batch_size")
    answers = _answers(model, held_out, batch_size)
    total = sum(mlm_loss(logits, labels, reduction="sum").item() for logits, labels in answers)
    return total / int(held_out.selected.sum())


def _answers(
    model: MaskedLM, held_out: MaskedBatch, batch_size: int = 32
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield logits ``(|M|, |V|)`` and labels ``(|M|,)`` of so many windows at a time."""
    for start in range(0, len(held_out.inputs), batch_size):
        inputs, labels = (part[start : start + batch_size] for part in held_out)
        selected = labels != IGNORE
        if selected.any():
            yield model.logits_at(inputs, selected), labels[selected]


class Repeated(NamedTuple):
    """What several runs scored that differ in nothing but the draw, such as the seed."""

    mean: float
    spread: float
    """The standard deviation; 0 for a single run."""

    @classmethod
    def of(cls, scores: Iterable[float]) -> Repeated:
        """Return mean and spread of what the runs scored."""
        found = [*scores]
        return cls(statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else 0.0)

    def __format__(self, digits: str) -> str:
        digits = digits or ".2f"
        return f"{self.mean:{digits}} ± {self.spread:{digits}}"

    def __repr__(self) -> str:
        return f"{self}"


def area_under_curve(scores: Tensor, wanted: Tensor) -> float:
    """Return how often what is wanted has a higher score than what is not, ties counted half.

    That is the area under the curve of hits over false alarms: 1 finds everything first, ½ is
    chance.

    Args:
        scores: of any shape.
        wanted: boolean, of the same shape.

    Raises:
        ValueError: the shapes differ, or nothing is wanted, or everything.
    """
    if scores.shape != wanted.shape:
        raise ValueError(
            f"Scores and what is wanted have one shape, not {tuple(scores.shape)} and "
            f"{tuple(wanted.shape)}."
        )
    ours, others = scores[wanted], scores[~wanted].sort().values
    if not len(ours) or not len(others):
        raise ValueError(
            "An area under the curve compares what is wanted with what is not; mark at least one "
            "of each."
        )
    below = torch.searchsorted(others, ours, right=False).double()
    at_most = torch.searchsorted(others, ours, right=True).double()
    return float((below + at_most).mean()) / 2 / len(others)


KINDS = ("space", "first letter", "middle letter", "last letter", "new line")
"""The kinds of characters; a word of one letter counts as a first letter."""


def kinds_of(input_ids: Tensor) -> Tensor:
    """Return the kind of every character of a text ``(length,)`` as an index into ``KINDS``."""
    arguments.token_ids(input_ids, len(VOCABULARY), dim=1)
    space, newline = (VOCABULARY.ids[character] for character in " \n")
    letter = (input_ids != space) & (input_ids != newline)
    none = torch.zeros(1, dtype=torch.bool)
    after_letter = torch.cat([none, letter[:-1]])
    before_letter = torch.cat([letter[1:], none])
    kinds = torch.full_like(input_ids, KINDS.index("middle letter"))
    kinds[letter & ~before_letter] = KINDS.index("last letter")
    kinds[letter & ~after_letter] = KINDS.index("first letter")
    kinds[input_ids == space] = KINDS.index("space")
    kinds[input_ids == newline] = KINDS.index("new line")
    return kinds


@dataclass(frozen=True, eq=False)
class HeldOutCosts:
    """What every predictor pays at every selected position of the held-out pieces."""

    costs: Mapping[str, Tensor]
    """By predictor, −log P of the truth in nats, shape ``(|M|,)``."""
    kinds: Tensor
    """The kind of the true character as an index into ``KINDS``, shape ``(|M|,)``."""

    def count(self, kind: str | None = None) -> int:
        """Return how many positions are of a kind; of any kind by default."""
        return int(self._of(kind).sum())

    def mean(self, name: str, kind: str | None = None) -> float:
        """Return the mean cost of a predictor in nats, at positions of one kind or at all.

        It is NaN where no position is of the kind.
        """
        costs = self.costs[arguments.one_of(name, self.costs, "A predictor")]
        return float(costs[self._of(kind)].mean())

    def _of(self, kind: str | None) -> Tensor:
        """Return where the truth is of a kind (of any for None): boolean, shape ``(|M|,)``."""
        if kind is None:
            return torch.ones_like(self.kinds, dtype=torch.bool)
        return self.kinds == KINDS.index(arguments.one_of(kind, KINDS, "A kind of character"))

    def by_kind(self, *kinds: str) -> dict[str, dict[str, float]]:
        """Return the mean costs in nats by predictor and kind; of all kinds by default."""
        kinds = tuple(arguments.one_of(kind, KINDS, "A kind of character") for kind in kinds)
        return {
            name: {kind: self.mean(name, kind) for kind in kinds or KINDS} for name in self.costs
        }

    def __repr__(self) -> str:
        heads = "  ".join(f"{name:>{max(6, len(name))}}" for name in self.costs)
        rows = [f"{'nats per character':<18} {'gaps':>6}  {heads}"]
        for kind in (*KINDS, None):
            if self.count(kind):
                means = "  ".join(
                    f"{self.mean(name, kind):>{max(6, len(name))}.3f}" for name in self.costs
                )
                rows.append(f"{kind or 'all':<18} {self.count(kind):>6}  {means}")
        return "\n".join(rows)


@torch.no_grad()
def held_out_costs(
    corpus: Corpus, models: Mapping[str, MaskedLM], length: int = 64
) -> HeldOutCosts:
    """Let models and baselines answer exactly the same questions about all held-out pieces.

    The questions are those of every held-out loss of the series (15 %, 80/10/10, seed 0), so a
    model's mean is its held-out loss.

    Args:
        corpus: its training pieces are what the baselines count.
        models: by name.
        length: of the windows that the pieces are cut into.

    Raises:
        TextError: a held-out piece is shorter than one window.
    """
    models = arguments.models(models, len(VOCABULARY))
    held_out = held_out_batch(arguments.of_type(corpus, Corpus, "corpus").held_out_windows(length))
    selected = held_out.selected
    truth = held_out.labels[selected]
    # A window may begin inside a word, so kinds are told before the pieces are cut.
    kinds = torch.cat([windows(kinds_of(piece.input_ids), length) for piece in corpus.held_out])
    costs: dict[str, Tensor] = {}
    for name, model in models.items():
        logits = torch.cat([logits for logits, _ in _answers(model, held_out)])
        costs[name] = F.cross_entropy(logits, truth, reduction="none")
    for name in ("both neighbours", "unigram"):
        baseline = NeighbourBaseline(BASELINES[name]).fit(windows(corpus.train_ids, length))
        log_probs = baseline.log_probs(held_out.inputs)[selected]
        costs[name] = F.nll_loss(log_probs, truth, reduction="none")
    return HeldOutCosts(costs, kinds[selected])
