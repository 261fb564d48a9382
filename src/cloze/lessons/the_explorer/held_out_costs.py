"""What left, right, both and the baselines pay for all held-out pieces, by kind of character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.baselines import BASELINES, NeighbourBaseline
from cloze.corpus import Corpus, windows
from cloze.evaluation import answers
from cloze.heads import Model
from cloze.masking import held_out_batch
from cloze.vocabulary import VOCABULARY

LENGTH = 64
KINDS = ("space", "first letter", "middle letter", "last letter", "new line")
"""The kinds of characters; a word of one letter counts as a first letter."""


def kinds_of(input_ids: Tensor) -> Tensor:
    """Return the kind of every character of a text ``(length,)`` as an index into ``KINDS``."""
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

    def count(self) -> int:
        """Return how many positions there are."""
        return len(self.kinds)

    def mean(self, name: str) -> float:
        """Return the mean cost of a predictor in nats."""
        return float(self.costs[name].mean())

    def by_kind(self, *kinds: str) -> dict[str, dict[str, float]]:
        """Return the mean costs in nats, by predictor and kind."""
        places = {kind: self.kinds == KINDS.index(kind) for kind in kinds}
        return {
            name: {kind: float(costs[here].mean()) for kind, here in places.items()}
            for name, costs in self.costs.items()
        }


@torch.no_grad()
def held_out_costs(corpus: Corpus, models: Mapping[str, Model]) -> HeldOutCosts:
    """Let models and baselines answer exactly the same questions about all held-out pieces.

    The questions are those of every held-out loss of the series (15%, 80/10/10, seed 0), so a
    model's mean is its held-out loss.

    Args:
        corpus: its training pieces are what the baselines count.
        models: by name.
    """
    held_out = held_out_batch(corpus.held_out_windows())
    selected = held_out.selected
    truth = held_out.labels[selected]
    # A window may begin inside a word, so kinds are told before the pieces are cut.
    kinds = torch.cat([windows(kinds_of(piece.input_ids), LENGTH) for piece in corpus.held_out])
    costs: dict[str, Tensor] = {}
    for name, model in models.items():
        logits = torch.cat([logits for logits, _ in answers(model, held_out)])
        costs[name] = F.cross_entropy(logits, truth, reduction="none")
    for name in ("both neighbours", "unigram"):
        baseline = NeighbourBaseline(BASELINES[name]).fit(windows(corpus.train_ids, LENGTH))
        log_probs = baseline.log_probs(held_out.inputs)[selected]
        costs[name] = F.nll_loss(log_probs, truth, reduction="none")
    return HeldOutCosts(costs, kinds[selected])
