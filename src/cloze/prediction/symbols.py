"""Symbols: what a line is made of, how text becomes a line, and how a line is written again."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from cloze.arguments import shown
from cloze.reading import read_line, read_words, with_gaps
from cloze.tokenizer import SEP, SPECIALS, Tokenizer, plain_words
from cloze.tokenizer import shown as named
from cloze.vocabulary import GAP, MASK, VOCABULARY, TextError, Vocabulary, counted, frame


@dataclass(frozen=True)
class Symbols(ABC):
    """What lines are made of, how text becomes a line, and how a line is written again.

    Where not even the line knows the truth, ``GAP`` stands in it.
    """

    vocabulary: Vocabulary
    unit: ClassVar[str]
    """What one of them is called, such as "character"."""
    framed: ClassVar[int]
    """How many special symbols the model reads on either side of the line."""

    @cached_property
    def known(self) -> tuple[str, ...]:
        """What may stand in a gap, in the order of the probabilities."""
        return tuple(self.vocabulary.ordinary)

    @abstractmethod
    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Read a line as a learner types it.

        Returns:
            The line, and a sentence on what reading changed ("" if nothing).

        Raises:
            ValueError: nothing usable is left, it is too long, or it has an unknown symbol.
        """

    @abstractmethod
    def read_symbol(self, typed: object) -> str:
        """Read what somebody puts into a gap; capitals become small.

        Raises:
            ValueError: it is not one of ``known``.
        """

    def write(self, line: Sequence[str]) -> str:
        """Write a line as text."""
        return self.vocabulary.separator.join(line)

    @abstractmethod
    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of each word: what is masked as one, and not broken across rows."""

    @abstractmethod
    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return what the model reads, with ``[MASK]`` for ``GAP``: the line and its frame."""


class Characters(Symbols):
    """The 28 characters."""

    unit = "character"
    framed = 0

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Normalise a line and cut it into characters."""
        input_ids, note = read_line(text, max_len)
        return tuple(self.vocabulary.decode(input_ids, gap=GAP)), note

    def read_symbol(self, typed: object) -> str:
        """Read a character; capitals become small."""
        lower = typed.lower() if isinstance(typed, str) else ""
        if lower not in self.known:
            raise ValueError(f"A gap holds one letter, a space or a newline, not {shown(typed)}.")
        return lower

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of what stands between spaces and newlines."""
        return [range(*match.span()) for match in re.finditer(r"\S+", "".join(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of a line, shape ``(length,)``."""
        return self.vocabulary.encode("".join(line).replace(GAP, MASK))


class Words(Symbols):
    """The words of a small world; a line stands between ``[BEGIN]`` and ``[END]``."""

    unit = "word"
    framed = 1

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Cut a line into words; capitals become small and punctuation goes without saying."""
        return read_words(text, self.vocabulary, max_len), ""

    def read_symbol(self, typed: object) -> str:
        """Read a word; capitals become small."""
        words = read_words(typed, self.vocabulary, 1) if isinstance(typed, str) else (GAP,)
        if words == (GAP,):
            raise ValueError(f"A gap holds one word of this world, not {shown(typed)}.")
        return words[0]

    def words(self, line: Sequence[str]) -> list[range]:
        """Return each position by itself."""
        return [range(i, i + 1) for i in range(len(line))]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of ``[BEGIN]``, the line and ``[END]``, shape ``(length + 2,)``."""
        return frame(line, self.vocabulary)


class WordPieces(Symbols):
    """The pieces of a tokenizer, written as BERT does; a line stands between ``[SEP]``s.

    A gap, however many underscores it is typed with, stands for one piece, and most words are one.
    """

    unit = "piece"
    framed = 1

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The pieces, with ``##`` in front of those that continue a word."""
        return tuple(named(self.vocabulary.ordinary))

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {**{piece: i for i, piece in enumerate(self.known)}, GAP: self.vocabulary.mask_id}

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What cuts words into these pieces."""
        return Tokenizer.of(self.vocabulary)

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Cut a line into pieces; capitals become small, accents and unknown signs vanish.

        Underscores side by side are one gap.
        """
        line: list[str] = []
        typed = re.sub(f"{GAP}+", GAP, with_gaps(text))
        for word in plain_words(typed, keep=GAP):
            line += [GAP] if word == GAP else named(self.tokenizer.pieces(word))
        if not line:
            raise TextError("The line is empty; type some words, and _ for every gap.")
        if len(line) > max_len:
            raise TextError(
                f"The line has {counted(len(line), self.unit)} and the model reads {max_len}; "
                "shorten it."
            )
        return tuple(line), ""

    def read_symbol(self, typed: object) -> str:
        """Read a piece by its name, or a word that is one piece; capitals become small."""
        lower = typed.lower() if isinstance(typed, str) else ""
        if lower in self.known:
            return lower
        line = named(self.tokenizer.pieces(" ".join(plain_words(lower))))
        if len(line) == 1:
            return line[0]
        parts = f": it is cut into {' '.join(line):.60}" if len(line) > 1 else ""
        raise ValueError(f"A gap holds one {self.unit}, not {shown(typed)}{parts}.")

    def write(self, line: Sequence[str]) -> str:
        """Write a line as text, with a space before every word but none before most signs."""
        text = " ".join(line).replace(" ##", "")
        return re.sub(r" (?=[.,;:!?)])|(?<=\() ", "", text)

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of each word: its first piece and those that continue it."""
        starts = [i for i, piece in enumerate(line) if i == 0 or not piece.startswith("##")]
        return [range(*ends) for ends in zip(starts, [*starts[1:], len(line)], strict=True)]

    def input_ids(self, line: Sequence[str]) -> Tensor:
        """Return the ids of a line between two ``[SEP]``, shape ``(length + 2,)``."""
        sep = self.vocabulary.ids[SEP]
        return torch.tensor([sep, *(self._ids[piece] for piece in line), sep])


CHARACTERS = Characters(VOCABULARY)


def symbols_of(vocabulary: Vocabulary) -> Symbols:
    """Return what the lines of a vocabulary are made of."""
    if vocabulary.specials == SPECIALS:
        return WordPieces(vocabulary)
    return Words(vocabulary) if vocabulary.separator else CHARACTERS
