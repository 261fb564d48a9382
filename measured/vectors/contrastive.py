"""Contrastive training: two windows of one piece become alike; late interaction."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import Corpus, sample_windows
from cloze.heads import MaskedLM
from cloze.masking import MaskedBatch, mask_tokens
from cloze.objectives import Objective
from cloze.tasks.vectors import cosine
from cloze.vocabulary import Vocabulary

TEMPERATURE = 0.1


def info_nce(one: Tensor, other: Tensor) -> Tensor:
    """Return the mean −log P(other_i | one_i, all others): each view must find its partner.

    Args:
        one: a view of each thing, shape ``(n, d)``.
        other: another view of it, in the same order; the others of the batch are wrong answers.

    Returns:
        A scalar in nats, the mean of both directions; guessing costs log n.

    Sources: van den Oord et al. 2018; Gao et al. 2021, SimCSE, equation 1.
    """
    scores = cosine(one, other) / TEMPERATURE
    right = torch.arange(len(one))
    return (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2


def pair_loss(model: MaskedLM, batch: MaskedBatch) -> Tensor:
    """Return :func:`info_nce` of a batch whose first half are views, its second their partners."""
    return info_nce(*model.encoder(batch.inputs).mean(1).chunk(2))


def paired(views: Tensor) -> MaskedBatch:
    """Make a batch of views ``(2 n, length)``; the label of each is its partner's row."""
    return MaskedBatch(views, torch.arange(len(views)).roll(len(views) // 2))


TWO_WINDOWS = Objective(
    name="two windows",
    ask=lambda views, mask_prob, chance, vocabulary: paired(views),  # noqa: ARG005
    loss=pair_loss,
    held_out=lambda windows, vocabulary: paired(windows[:4]),  # noqa: ARG005
    measure=lambda model, batch: pair_loss(model, batch).item(),
    measured="partner",
    head=False,
)
"""Two windows of one piece become alike; train with it on :class:`Pairs`."""


def masked_twice(
    views: Tensor, mask_prob: float, chance: torch.Generator, vocabulary: Vocabulary
) -> MaskedBatch:
    """Pair each window of the first half with itself under another mask."""
    twice = views[: len(views) // 2].repeat(2, 1)
    return paired(mask_tokens(twice, mask_prob, vocabulary=vocabulary, generator=chance).inputs)


TWICE_MASKED = replace(TWO_WINDOWS, name="twice masked", ask=masked_twice)
"""One window, masked twice, becomes alike: SimCSE with masks in place of dropout."""


class Pairs:
    """A corpus drawn in pairs: rows i and i + n/2 of a sample are from the same piece.

    No two pairs of a sample share a piece, so no right answer counts as wrong.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.vocabulary: Vocabulary = corpus.vocabulary
        self.sha256 = hashlib.sha256(f"pairs of {corpus.sha256}".encode()).hexdigest()
        self.held_out_windows = corpus.held_out_windows

    def sample(self, n: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw n/2 pieces and two windows of each, shape ``(n, length)``."""
        pieces = self.corpus.train
        drawn = [
            sample_windows(pieces[i].input_ids, 2, length, generator)
            for i in torch.randperm(len(pieces), generator=generator)[: n // 2].tolist()
        ]
        return torch.stack(drawn, dim=1).flatten(0, 1)


def late_interaction(queries: Tensor, documents: Tensor) -> Tensor:
    """Compare texts position by position: each position of a query finds its best match.

    Args:
        queries: hidden states, shape ``(n, length, d)``.
        documents: hidden states, shape ``(m, length, d)``.

    Returns:
        The mean over a query's positions of the greatest cosine, shape ``(n, m)``. It is not
        symmetric.

    Source: Khattab and Zaharia 2020, ColBERT, whose MaxSim is the sum.
    """
    all_positions = F.normalize(documents, dim=-1).flatten(0, 1).T
    scores = [
        (query @ all_positions).unflatten(1, documents.shape[:2]).amax(2).mean(0)
        for query in F.normalize(queries, dim=-1)
    ]
    return torch.stack(scores)
