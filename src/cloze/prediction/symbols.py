"""Symbols: what a line is made of, how text becomes a line, and how a line is written again."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from torch import Tensor

from cloze.arguments import shown
from cloze.reading import read_line, read_words
from cloze.vocabulary import GAP, MASK, VOCABULARY, Vocabulary, frame


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


CHARACTERS = Characters(VOCABULARY)


def symbols_of(vocabulary: Vocabulary) -> Symbols:
    """Return what the lines of a vocabulary are made of."""
    return Words(vocabulary) if vocabulary.separator else CHARACTERS
