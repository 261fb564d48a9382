"""A search by vectors and by counted words, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.encoder import Encoder
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.tasks.vectors import (
    Passage,
    TfIdf,
    Whitening,
    character_ngrams,
    cosine,
    embed,
    nearest,
    padded,
    words,
)
from cloze.vocabulary import VOCABULARY, TextError, normalise

LONGEST = 64
"""The most characters of a query: what the encoder reads at once."""
SHOWN = 5
TERMS = {"words": words, "3 to 5 characters": character_ngrams}


class EncoderVectors(NamedTuple):
    """How texts become vectors: the mean of an encoder's states, then a change of coordinates."""

    encoder: Encoder
    change: Whitening | None = None
    read: Callable[[str], Tensor] = VOCABULARY.encode
    """From a text to the ids that the encoder reads."""

    def __call__(self, texts: Sequence[str]) -> Tensor:
        """Return one vector for each text, ``(n, d)``."""
        means = embed(self.encoder, *padded([self.read(text) for text in texts]))
        return means if self.change is None else self.change(means)


def words_vectors(change: Whitening | None = None) -> EncoderVectors:
    """Return how the words' encoder, which reads pieces of words, makes vectors of texts."""
    model = shipped_model("words")
    symbols = symbols_of(model.vocabulary)
    longest = model.config.max_len - 2 * symbols.framed

    def read(text: str) -> Tensor:
        return symbols.input_ids(symbols.read(text, longest)[0])

    return EncoderVectors(model.encoder, change, read)


def read_query(typed: str) -> str:
    """Read what somebody looks for, as the 28 characters.

    Raises:
        TextError: nothing is left of it, or it is too long.
    """
    line = " ".join(normalise(typed).text.split())
    if not line:
        raise TextError("There is nothing to look for; type a word or two with letters a to z.")
    if len(line) > LONGEST:
        raise TextError(
            f"That has {len(line)} characters and the model reads {LONGEST}; shorten it."
        )
    return line


class Hit(NamedTuple):
    """A passage that was found."""

    passage: Passage
    similarity: float
    shared: tuple[str, ...]
    """The rare words that it has in common with what was looked for, the rarest first."""


class SearchResult(NamedTuple):
    """What was found for a line."""

    line: str
    ways: dict[str, list[Hit]]
    """By way of looking, the nearest passages, the nearest first."""

    def __repr__(self) -> str:
        lines = [f"nearest to {self.line!r}"]
        for way, hits in self.ways.items():
            lines.append(f"by {way}:")
            lines += [f"  {h.similarity:.2f}  {h.passage.text}  ({h.passage.piece})" for h in hits]
            if not hits:
                lines.append("  no passage matches")
        return "\n".join(lines)


class Index:
    """Passages that can be searched, by vectors of several kinds and by counted terms.

    Args:
        passages: what is searched.
        vectors: by name, what makes vectors of texts.
    """

    def __init__(self, passages: Sequence[Passage], vectors: Mapping[str, EncoderVectors]) -> None:
        self.passages = list(passages)
        texts = [passage.text for passage in passages]
        self.vectors = {name: (of, of(texts)) for name, of in vectors.items()}
        self.terms = {name: TfIdf(texts, terms) for name, terms in TERMS.items()}

    def find(self, typed: str, vectors: str, terms: str = "words", k: int = SHOWN) -> SearchResult:
        """Find the nearest passages, except the line itself.

        Args:
            typed: what is looked for.
            vectors: by which vectors.
            terms: by which terms.
            k: how many.

        Raises:
            TextError: the line cannot be read.
        """
        line = read_query(typed)
        of, known = self.vectors[vectors]
        by_vectors = cosine(of([line]), known)
        by_terms = self.terms[terms].similarity([line])
        return SearchResult(
            line,
            {
                f"vectors ({vectors})": self._hits(line, by_vectors[0], k),
                f"tf-idf ({terms})": self._hits(line, by_terms[0], k, above=0.0),
            },
        )

    def _hits(
        self, line: str, similarity: Tensor, k: int, above: float = float("-inf")
    ) -> list[Hit]:
        same = torch.tensor([passage.text == line for passage in self.passages])
        similarity = similarity.masked_fill(same, float("-inf"))
        found = nearest(similarity[None], min(k, len(self.passages)))[0].tolist()
        return [
            Hit(
                self.passages[i],
                float(similarity[i]),
                tuple(self.terms["words"].shared(line, self.passages[i].text)),
            )
            for i in found
            if similarity[i] > above and not same[i]
        ]
