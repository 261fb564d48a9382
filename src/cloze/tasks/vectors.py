"""Vectors: one per text, from hidden states or from counted words, and what lies near what."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from cloze.arguments import (
    Count,
    Finite,
    Lines,
    NotNaN,
    Selected,
    Some,
    checked,
    known_symbols,
    whole_number,
)
from cloze.corpus import Piece
from cloze.encoder import Encoder
from cloze.heads import LINES_AT_ONCE
from cloze.tasks.heads import mean_pool, no_line_is_all

# From hidden states to vectors


Wide = Float[Tensor, "n d"]
Vectors = Annotated[Wide, Finite]
"""A vector for each of n things."""
Others = Float[Tensor, "m d"]
"""A vector of the same width for each of m other things."""
Rows = Float[Tensor, "n m"]
Similarity = Annotated[Rows, NotNaN]
"""The similarity of each of n to each of m."""
Table = Float[Tensor, "n n"]
Square = Annotated[Table, NotNaN]
"""The similarity of each of n to each of them."""
Groups = Int64[Tensor, "n"]
"""The group or class of each."""
AnyLine = Int64[Tensor, "_"]
"""The ids of one line, as long as it is."""


@checked
@torch.no_grad()
def layer_states(
    encoder: Encoder, input_ids: Lines, padding_mask: Selected | None = None
) -> list[Tensor]:
    """Return the hidden states after the embedding and after each layer.

    Args:
        encoder: what reads.
        input_ids: shape ``(n, length)``.
        padding_mask: True where there is padding, shape ``(n, length)``.

    Returns:
        One tensor ``(n, length, d_model)`` for the embedding and one for each layer. The last is
        what the encoder returns, normalised.

    Raises:
        ValueError: an id has no symbol, the padding mask has another shape, or a line is all
            padding.
    """
    known_symbols(input_ids, encoder.config.vocab_size)
    no_line_is_all(padding_mask)
    mask = encoder.make_mask(input_ids, padding_mask, None)
    states = [encoder.embedding(input_ids)]
    for layer in encoder.layers:
        states.append(layer(states[-1], mask))
    return [*states[:-1], encoder.norm(states[-1])]


@checked
@torch.no_grad()
def embed(encoder: Encoder, input_ids: Lines, padding_mask: Selected | None = None) -> Tensor:
    """Return one vector per line: the mean of its hidden states.

    Args:
        encoder: what reads.
        input_ids: shape ``(n, length)``.
        padding_mask: True where there is padding, shape ``(n, length)``.

    Returns:
        Shape ``(n, d_model)``.

    Raises:
        ValueError: an id has no symbol, the padding mask has another shape, or a line is all
            padding.
    """
    known_symbols(input_ids, encoder.config.vocab_size)
    no_line_is_all(padding_mask)
    batches = torch.split(input_ids, LINES_AT_ONCE)
    if padding_mask is None:
        return torch.cat([encoder(ids).mean(1) for ids in batches])
    paddings = torch.split(padding_mask, LINES_AT_ONCE)
    together = zip(batches, paddings, strict=True)
    return torch.cat([mean_pool(encoder(ids, pad), pad) for ids, pad in together])


# Geometry


@checked
def cosine(a: Vectors, b: Others) -> Tensor:
    """Return the cosine of the angle between each vector of a and each of b.

    Args:
        a: shape ``(n, d)``.
        b: shape ``(m, d)``.

    Returns:
        Shape ``(n, m)``, from −1 to 1; 0 where a vector is zero.
    """
    return F.normalize(a, dim=1) @ F.normalize(b, dim=1).T


@checked
def mean_cosine(vectors: Vectors) -> float:
    """Return the mean cosine between two different vectors of ``(n, d)``.

    Far from 0, the vectors are anisotropic: they lie in a narrow cone.
    """
    n = len(vectors)
    unit = F.normalize(vectors.double(), dim=1)
    # The sum over all pairs is the squared length of the sum; each is paired with itself once.
    return float((unit.sum(0).square().sum() - unit.square().sum()) / (n * (n - 1)))


class Whitening(NamedTuple):
    """A change of coordinates: x ↦ (x − mean) @ turn."""

    mean: Tensor
    """Shape ``(d,)``."""
    turn: Tensor
    """Shape ``(d, k)``."""

    def __call__(self, vectors: Tensor) -> Tensor:
        """Change the coordinates of vectors ``(n, d)``; the result has the shape ``(n, k)``."""
        return (vectors - self.mean) @ self.turn


@checked
def whitening(vectors: Vectors) -> Whitening:
    """Return the map that gives vectors ``(n, d)`` mean 0 and covariance 1.

    Every direction is taken to have at least a thousandth of the greatest variance, so that
    rounding noise is not blown up.

    Raises:
        ValueError: all vectors are the same.

    Source: Su et al. 2021, Whitening Sentence Representations.
    """
    mean = vectors.mean(0)
    scaled = (vectors - mean).double() / math.sqrt(len(vectors) - 1)
    _, sizes, directions = torch.linalg.svd(scaled, full_matrices=False)
    if not sizes[0] > 0:
        raise ValueError("Vectors that are all the same cannot be whitened: nothing varies.")
    sizes = sizes.clamp(min=math.sqrt(1e-3) * float(sizes[0]))
    return Whitening(mean, (directions.T / sizes).float())


@checked
def principal_plane(vectors: Vectors) -> Tensor:
    """Return the first two principal components of vectors ``(n, d)``.

    Returns:
        Shape ``(n, 2)``, signs chosen so that the largest number of each direction is positive.
    """
    left, sizes, _ = torch.linalg.svd((vectors - vectors.mean(0)).double(), full_matrices=False)
    points = left[:, :2] * sizes[:2]
    signs = points.gather(0, points.abs().argmax(0, keepdim=True)).sign()
    return (points * signs).float()


# Near and far


@checked
def nearest(similarity: Similarity, k: int = 1, *, but_itself: bool = False) -> Tensor:
    """Return for each row the columns of the k greatest similarities, the greatest first.

    Args:
        similarity: shape ``(n, m)``.
        k: how many.
        but_itself: rows and columns are the same things; leave out the diagonal.

    Returns:
        Shape ``(n, k)``.
    """
    if but_itself:
        similarity = similarity.clone().fill_diagonal_(-math.inf)
    most = similarity.shape[1] - but_itself
    return similarity.topk(whole_number(k, 1, most, "k"), dim=1).indices


@checked
def precision_at(similarity: Square, groups: Groups, k: int = 1) -> float:
    """Return the mean share of the k nearest others that have the same group.

    Args:
        similarity: of all with all, shape ``(n, n)``.
        groups: the group of each, shape ``(n,)``.
        k: how many neighbours are looked at.
    """
    neighbours = nearest(similarity, k, but_itself=True)
    return float((groups[neighbours] == groups[:, None]).double().mean())


@checked
def precision_by_chance(groups: Groups) -> float:
    """Return the precision of neighbours drawn at random."""
    sizes = torch.bincount(groups).double()
    return float((sizes * (sizes - 1)).sum() / (len(groups) * (len(groups) - 1)))


# Counted words

Terms = Callable[[str], Sequence[str]]
"""Splits a text into terms."""


def words(text: str) -> list[str]:
    """Split a text into words."""
    return text.split()


@checked
def character_ngrams(text: str, shortest: Count = 3, longest: Count = 5) -> list[str]:
    """Return all n-grams of characters, spaces between words included."""
    line = f" {' '.join(text.split())} "
    return [
        line[start : start + n]
        for n in range(shortest, longest + 1)
        for start in range(len(line) - n + 1)
    ]


@checked
def padded(lines: Annotated[Sequence[AnyLine], Some]) -> tuple[Tensor, Tensor]:
    """Pad lines to one length.

    Returns:
        Ids and the padding mask, True where there is padding; both ``(n, length)``.
    """
    lengths = torch.tensor([len(line) for line in lines])
    ids = pad_sequence([*lines], batch_first=True)
    return ids, torch.arange(ids.shape[1]) >= lengths[:, None]


class Passage(NamedTuple):
    """A stretch of a piece."""

    piece: str
    text: str


@checked
def passages(pieces: Iterable[Piece], length: Count = 64) -> list[Passage]:
    """Cut pieces between words into passages of at most ``length`` characters."""
    return [
        Passage(piece.name, line) for piece in pieces for line in textwrap.wrap(piece.text, length)
    ]


class TfIdf:
    """Texts as counted terms, each weighted by how rare it is: tf · log(N / df).

    Args:
        texts: N texts; df is the number of them in which a term occurs.
        terms: splits a text into terms.

    Source: Spärck Jones 1972, A statistical interpretation of term specificity.
    """

    @checked
    def __init__(
        self, texts: Annotated[list[str] | tuple[str, ...], Some], terms: Terms = words
    ) -> None:
        self.terms = terms
        counts = [Counter(terms(text)) for text in texts]
        df = Counter(term for count in counts for term in count)
        self.ids = {term: i for i, term in enumerate(sorted(df))}
        self.idf = torch.tensor([math.log(len(counts) / df[term]) for term in self.ids])
        self.vectors = self._weighted(counts)

    def _weighted(self, counts: Sequence[Counter[str]]) -> Tensor:
        """Return sparse vectors of length 1, ``(n, terms)``, without unknown terms."""
        at = [
            (row, self.ids[term], n)
            for row, count in enumerate(counts)
            for term, n in count.items()
            if term in self.ids
        ]
        rows, columns, tf = torch.tensor(at, dtype=torch.int64).reshape(-1, 3).T
        weights = tf * self.idf[columns]
        lengths = torch.zeros(len(counts)).index_add_(0, rows, weights.square()).sqrt()
        weights = weights / lengths[rows].clamp(min=1e-12)
        shape = (len(counts), len(self.ids))
        return torch.sparse_coo_tensor(
            torch.stack([rows, columns]), weights, shape, check_invariants=False
        )

    def similarity(self, queries: Sequence[str] | None = None) -> Tensor:
        """Return the cosine of each query with each text, ``(queries, texts)``.

        Args:
            queries: None for the texts themselves.
        """
        vectors = self.vectors
        if queries is not None:
            vectors = self._weighted([Counter(self.terms(query)) for query in queries])
        return torch.cat(
            [
                torch.sparse.mm(self.vectors, some.T).T
                for some in torch.split(vectors.to_dense(), LINES_AT_ONCE)
            ]
        )

    def shared(self, query: str, text: str) -> list[str]:
        """Return the rare terms that a query and a text share, the heaviest first.

        A rare one has more than half of the largest weight: *the* is in most texts and tells
        nothing.
        """
        both = {*self.terms(query)} & {*self.terms(text)} & self.ids.keys()
        weights = {term: float(self.idf[self.ids[term]]) for term in both}
        rare = [term for term in both if weights[term] > float(self.idf.max()) / 2]
        return sorted(rare, key=lambda term: (-weights[term], term))


# Linear probes


class LinearProbe:
    """A linear classifier of vectors, fitted by ridge regression.

    Args:
        vectors: shape ``(n, d)``.
        classes: of each, shape ``(n,)``.
    """

    @checked
    def __init__(self, vectors: Vectors, classes: Groups) -> None:
        x = F.pad(vectors.double(), (0, 1), value=1.0)
        targets = F.one_hot(classes).double()
        gram = x.T @ x
        gram.diagonal().add_(1e-3 * gram.diagonal().mean())  # keeps it from reading noise
        self.weights = torch.linalg.solve(gram, x.T @ targets)

    @checked
    def __call__(self, vectors: Vectors) -> Tensor:
        """Return the predicted class of each of ``(n, d)``: shape ``(n,)``."""
        return (F.pad(vectors.double(), (0, 1), value=1.0) @ self.weights).argmax(1)
