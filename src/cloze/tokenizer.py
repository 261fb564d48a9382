"""Word pieces by byte-pair encoding: trained on a text, and any text written in them.

The words' encoder reads such pieces: ``shipped_model("words")``.

A piece that begins a word begins with ``▁``; a piece without it continues the word.

Source: Sennrich et al. 2016, *Neural Machine Translation of Rare Words with Subword Units*,
section 3.2; the pairs are of characters here, not of bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise

import torch
from torch import Tensor

from cloze.arguments import Count, checked
from cloze.vocabulary import MASK, PAD, TextError, Vocabulary

START = "▁"
"""In front of every word."""
CLS, SEP = "[CLS]", "[SEP]"
"""Before a line, and after each of its texts."""
SPECIALS = (MASK, CLS, SEP, PAD)

Pair = tuple[str, str]
Pieces = tuple[str, ...]

QUOTES = str.maketrans("’‘“”—–‐", "''\"\"---")
WORD = r"[a-z]+(?:'[a-z]+)*|[0-9]+|[.,;:!?\"()-]"


def plain_words(text: str, keep: str = "") -> list[str]:
    """Cut a text into words, numbers and signs, in small letters and without accents.

    A character in ``keep`` (say, ``GAP``) is a word of its own; all others only separate words.
    """
    plain = unicodedata.normalize("NFKD", text.translate(QUOTES))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).lower()
    return re.findall("|".join([WORD, *keep]), plain)


def word_counts(text: str) -> dict[Pieces, int]:
    """Count the words of a text, each cut into its characters after a ``▁``."""
    words = Counter(text.split())
    return {tuple(START + word): n for word, n in words.items()}


def pair_counts(words: Mapping[Pieces, int]) -> Counter[Pair]:
    """Count the pairs of neighbouring pieces in words, each as often as its word occurs."""
    counts: Counter[Pair] = Counter()
    for pieces, n in words.items():
        for pair in pairwise(pieces):
            counts[pair] += n
    return counts


def merge(pieces: Sequence[str], pair: Pair) -> Pieces:
    """Make one piece of a pair wherever it occurs, from left to right."""
    joined, i = [], 0
    while i < len(pieces):
        together = tuple(pieces[i : i + 2]) == pair
        joined.append(pair[0] + pair[1] if together else pieces[i])
        i += 1 + together
    return tuple(joined)


def cut(pieces: Pieces, ranks: Mapping[Pair, int]) -> Pieces:
    """Merge neighbouring pieces as long as there is a merge for them, the oldest first."""
    while known := [pair for pair in pairwise(pieces) if pair in ranks]:
        pieces = merge(pieces, min(known, key=ranks.__getitem__))
    return pieces


@dataclass(frozen=True)
class Tokenizer:
    """A vocabulary of word pieces, and the merges that any word is written with."""

    alphabet: Pieces
    """The characters of the text it was trained on, sorted; ``▁`` is one of them."""
    merges: tuple[Pair, ...]
    """What was put together, in this order."""

    @classmethod
    @checked
    def train(cls, text: str, vocab_size: Count) -> Tokenizer:
        """Merge the most frequent pair of neighbouring pieces again and again.

        Of pairs that are equally frequent the one whose pieces are older is merged: pieces are
        numbered, the alphabet first, in the order in which they came.

        Args:
            text: what to learn from; words stand between spaces or new lines.
            vocab_size: how many pieces there shall be, or fewer when no pair is left.

        Raises:
            TextError: there is no word in the text, or it has more different characters.
        """
        words = word_counts(text)
        if not words:
            raise TextError("There is no word in this text; train on a text with some words.")
        alphabet = tuple(sorted({character for pieces in words for character in pieces}))
        if vocab_size < len(alphabet):
            raise TextError(
                f"The text has {len(alphabet)} different characters with {START}, and each is a "
                f"piece; choose a vocab_size of at least {len(alphabet)}, not {vocab_size}."
            )
        return cls(alphabet, tuple(_merges(words, alphabet, vocab_size)))

    @classmethod
    @lru_cache
    def of(cls, vocabulary: Vocabulary) -> Tokenizer:
        """Return the tokenizer with the pieces of a vocabulary.

        They are in the order in which they came, so those before a piece say which two it was
        merged from.
        """
        alphabet = tuple(piece for piece in vocabulary.ordinary if len(piece) == 1)
        ranks: dict[Pair, int] = {}
        for piece in vocabulary.ordinary[len(alphabet) :]:
            first, second = cut(tuple(piece), ranks)
            ranks[first, second] = len(ranks)
        return cls(alphabet, tuple(ranks))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The alphabet, the merged pieces in the order in which they came, the special symbols."""
        pieces = dict.fromkeys([*self.alphabet, *(a + b for a, b in self.merges)])
        return Vocabulary(tuple(pieces), SPECIALS)

    @cached_property
    def _ranks(self) -> dict[Pair, int]:
        return {pair: rank for rank, pair in enumerate(self.merges)}

    @cached_property
    def _cache(self) -> dict[str, Pieces]:
        return {}

    @checked
    def pieces(self, text: str) -> list[str]:
        """Write a text in pieces.

        Raises:
            TextError: it holds a character that the tokenizer has never seen.
        """
        found: list[str] = []
        for word in text.split():
            if word not in self._cache:
                self._cache[word] = self._word(word)
            found += self._cache[word]
        return found

    def _word(self, word: str) -> Pieces:
        pieces = tuple(START + word)
        for character in pieces:
            if character not in self.alphabet:
                raise TextError(
                    f"{character!r} in {word!r:.60} is not among the "
                    f"{len(self.alphabet)} characters that this tokenizer was trained on; leave "
                    "it out, or train on a text that has it."
                )
        return cut(pieces, self._ranks)

    def encode(self, text: str) -> Tensor:
        """Return the ids of a text's pieces, shape ``(pieces,)``; see :meth:`pieces`."""
        ids = self.vocabulary.ids
        return torch.tensor([ids[piece] for piece in self.pieces(text)], dtype=torch.int64)


def shown(pieces: Iterable[str]) -> list[str]:
    """Write pieces as BERT does: ``##`` in front of what goes on with a word, no ``▁``."""

    def written(piece: str) -> str:
        if piece in (*SPECIALS, START):
            return piece
        return piece[len(START) :] if piece.startswith(START) else f"##{piece}"

    return [written(piece) for piece in pieces]


def _merges(words: dict[Pieces, int], alphabet: Pieces, vocab_size: int) -> Iterator[Pair]:
    """Yield merges until there are so many pieces, or no pair is left."""
    number = {piece: i for i, piece in enumerate(alphabet)}
    cut, times = [*words], [*words.values()]
    counts = pair_counts(words)
    where: defaultdict[Pair, set[int]] = defaultdict(set)
    for i, pieces in enumerate(cut):
        for pair in pairwise(pieces):
            where[pair].add(i)

    def entry(pair: Pair) -> tuple[int, int, int, Pair]:
        return -counts[pair], number[pair[0]], number[pair[1]], pair

    heap = [entry(pair) for pair in counts]
    heapify(heap)
    while len(number) < vocab_size and heap:
        frequency, *_, best = heappop(heap)
        if counts[best] != -frequency:  # it has changed since, and what it is now was pushed, too
            continue
        yield best
        number.setdefault(best[0] + best[1], len(number))
        changed = set()
        for i in where.pop(best):
            before = cut[i]
            cut[i] = merge(before, best)
            for pieces, sign in ((before, -1), (cut[i], 1)):
                for pair in pairwise(pieces):
                    counts[pair] += sign * times[i]
                    changed.add(pair)
            for pair in pairwise(cut[i]):
                where[pair].add(i)
        for pair in changed:
            if counts[pair] > 0:
                heappush(heap, entry(pair))
