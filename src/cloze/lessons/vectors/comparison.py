"""Who finds another window of the same piece: counted words, hidden states, trained vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus, windows
from cloze.evaluation import Repeated
from cloze.tasks.vectors import TfIdf, cosine, mean_cosine, precision_at
from cloze.teaching.measurements import load_results
from cloze.vocabulary import VOCABULARY

LENGTH = 64


class Queries(NamedTuple):
    """Held-out windows, and the piece that each comes from."""

    input_ids: Tensor
    """Shape ``(n, length)``."""
    pieces: Tensor
    """Shape ``(n,)``."""

    @property
    def texts(self) -> list[str]:
        """The windows as texts."""
        return [VOCABULARY.decode(row) for row in self.input_ids]


class Precision(NamedTuple):
    """How often the nearest windows come from the same piece."""

    at_1: float
    at_10: float
    cosine: float | None = None
    """The mean cosine between two windows."""

    def __repr__(self) -> str:
        text = f"precision at 1: {self.at_1:.2f}, at 10: {self.at_10:.2f}"
        return text if self.cosine is None else f"{text}, mean cosine: {self.cosine:.2f}"


def held_out(corpus: Corpus) -> Queries:
    """Cut the held-out pieces into windows."""
    cut = [windows(piece.input_ids, LENGTH) for piece in corpus.held_out]
    pieces = torch.arange(len(cut)).repeat_interleave(torch.tensor([len(part) for part in cut]))
    return Queries(torch.cat(cut), pieces)


def training_windows(corpus: Corpus) -> Tensor:
    """Return every sixth window of the training pieces, on which vectors are measured."""
    return torch.cat([windows(piece.input_ids, LENGTH)[::6] for piece in corpus.train])


def by_vectors(vectors: Tensor, queries: Queries) -> Precision:
    """Measure how well vectors ``(n, d)`` find windows of the same piece."""
    near = cosine(vectors, vectors)
    at_1, at_10 = (precision_at(near, queries.pieces, k) for k in (1, 10))
    return Precision(at_1, at_10, mean_cosine(vectors))


def by_terms(queries: Queries, terms: Callable[[str], list[str]]) -> Precision:
    """Measure how well counted terms do."""
    near = TfIdf(queries.texts, terms).similarity()
    return Precision(*(precision_at(near, queries.pieces, k) for k in (1, 10)))


def trained_results() -> dict[str, Repeated]:
    """Return precision at 1 of every kind of contrastive training."""
    first, *more = load_results("vectors", "comparison")["runs"].values()
    return {name: Repeated.of(run[name][0] for run in (first, *more)) for name in first}


def hits(file: str, part: str) -> dict[str, Tensor]:
    """Return for each window whether its piece was found, 1 or 0, by name of the search."""
    found = load_results("vectors", file)[part]
    return {name: torch.tensor([float(hit) for hit in each]) for name, each in found.items()}


def clusters() -> dict[str, dict[str, Repeated]]:
    """Return how well k-means finds topics and forms: adjusted Rand index by vectors and by what.

    The runs differ in the pieces at which the centres begin.
    """
    by_vectors = load_results("vectors", "words")["clusters"]
    return {
        name: {what: Repeated.of(runs.values()) for what, runs in each.items()}
        for name, each in by_vectors.items()
    }
