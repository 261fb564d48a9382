"""What text becomes: symbols and their ids, and how any text is reduced to 28 characters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whatever shows text can know the vocabulary without loading torch
    from torch import Tensor

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz"
"""The 28 characters of normalised text, in the order of their ids."""
MASK = "[MASK]"
BEGIN, END, PAD = "[BEGIN]", "[END]", "[PAD]"
"""``[BEGIN]`` and ``[END]`` stand around a sentence of words; ``[PAD]`` fills up shorter lines."""
WRITE = "[WRITE]"
"""Separates the input from the output to be written."""
GAP = "_"
"""How a learner types a gap: one key instead of ``[MASK]``."""


class TextError(ValueError):
    """Text that cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True)
class Vocabulary:
    """Every symbol the model knows: ordinary symbols first, special symbols after them.

    In the series' own vocabulary ids 0 … 27 are the characters and 28 is ``[MASK]``; in that of a
    small world the ordinary symbols are words. Because ordinary symbols come first, "draw a random
    symbol" is "draw an integer below ``n_ordinary``", and symbols added later
    (:meth:`with_specials`) leave all earlier ids as they were.
    """

    ordinary: Sequence[str] = ALPHABET
    """What text is made of and what gaps may hold: a text of characters, or a tuple of words."""
    specials: tuple[str, ...] = (MASK,)

    def __post_init__(self) -> None:
        for word in () if isinstance(self.ordinary, str) else self.ordinary:
            if word.split() != [word] or word == GAP:
                raise TextError(f"A word is a text without spaces, not {word!r:.60}.")
        if len(set(self.symbols)) != len(self.symbols):
            raise TextError("A vocabulary holds every symbol once; a symbol is given twice.")
        if MASK not in self.specials:
            raise TextError(f"The special symbols must include {MASK}.")

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """All symbols in the order of their ids."""
        return (*self.ordinary, *self.specials)

    @cached_property
    def ids(self) -> dict[str, int]:
        """From symbol to id."""
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        """|V|: the number of symbols, special ones included."""
        return len(self.symbols)

    @property
    def n_ordinary(self) -> int:
        """The number of ordinary symbols; their ids are ``0 … n_ordinary - 1``."""
        return len(self.ordinary)

    @property
    def separator(self) -> str:
        """What stands between two symbols of a text: nothing for characters, a space for words."""
        return "" if isinstance(self.ordinary, str) else " "

    @property
    def mask_id(self) -> int:
        """The id of ``[MASK]``."""
        return self.ids[MASK]

    @property
    def pad_id(self) -> int | None:
        """The id of ``[PAD]``, which no position reads; None where all lines have one length."""
        return self.ids.get(PAD)

    def with_specials(self, *specials: str) -> Vocabulary:
        """Return a vocabulary with more special symbols, such as ``[PAD]`` or ``[CLS]``."""
        return Vocabulary(self.ordinary, self.specials + specials)

    def encode(self, text: str) -> Tensor:
        """Turn text into ids. Special symbols such as ``[MASK]`` are recognised.

        Returns:
            A tensor of shape ``(length,)`` and type int64.

        Raises:
            TextError: a symbol is not in the vocabulary (characters: :func:`normalise` the text
                first).
        """
        import torch

        ids = []
        for match in self._pattern.finditer(text):
            symbol = match.group()
            if symbol not in self.ids:
                raise TextError(
                    f"{symbol!r:.60} at position {match.start()} is not among the "
                    f"{len(self)} symbols of the vocabulary{self.advice(symbol)}."
                )
            ids.append(self.ids[symbol])
        return torch.tensor(ids, dtype=torch.int64)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        one = r"\S+" if self.separator else "."
        return re.compile("|".join([*map(re.escape, self.specials), one]), re.DOTALL)

    def advice(self, symbol: str) -> str:
        """Return what to write in place of an unknown symbol, to end a sentence with, or ""."""
        if not self.separator:
            return "; call normalise(text).text first"
        nearest = get_close_matches(symbol, self.ordinary, 1)
        return "".join(f"; the nearest is {word!r}" for word in nearest)

    def decode(self, ids: Tensor | Iterable[int], gap: str = MASK) -> str:
        """Turn ids of shape ``(length,)`` back into text; ``[MASK]`` is written as ``gap``."""
        try:
            values = [index(i) for i in (ids.tolist() if hasattr(ids, "tolist") else ids)]
        except TypeError:
            values = [-1]
        if not all(0 <= i < len(self) for i in values):
            raise TextError(f"Ids are a single row of whole numbers from 0 to {len(self) - 1}.")
        return self.separator.join(gap if i == self.mask_id else self.symbols[i] for i in values)


VOCABULARY = Vocabulary()
"""The 28 characters and ``[MASK]``: |V| = 29."""

# Letters that Unicode does not decompose into a base letter and an accent.
WRITTEN_OUT = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)


@dataclass(frozen=True)
class Normalised:
    """Normalised text, and what it took to get there."""

    text: str
    folded: int
    """How many letters lost an accent or were written out (é → e, ß → ss)."""
    dropped: int
    """How many characters became a space or vanished (punctuation, digits, other scripts)."""

    @property
    def report(self) -> str:
        """What changed, in words."""
        return (
            f"{counted(len(self.text), 'character')} kept; "
            f"{counted(self.folded, 'accent')} folded, {counted(self.dropped, 'character')} dropped"
        )


def counted(n: int, what: str) -> str:
    """Return "1 gap", "2 gaps": a number with its noun."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def normalise(text: str, keep: str = "") -> Normalised:
    """Reduce any text to the 28 characters: newline, space, a–z.

    Capitals become small letters and accents are folded; apostrophes vanish (don't → dont); every
    other character becomes a space. Then runs of spaces shrink to one, blank lines disappear, and
    the ends are trimmed. Characters in ``keep`` (ASCII; say, ``GAP``) pass unchanged.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    plain = unicodedata.normalize("NFC", plain)  # one character for a letter and its accent
    beyond_ascii = Counter(re.sub(r"[\x00-\x7f]+", "", plain))
    in_ascii = {character: _in_ascii(character) for character in beyond_ascii}
    folded = sum(n for character, n in beyond_ascii.items() if in_ascii[character].isalpha())
    table = {ord(character): letters for character, letters in in_ascii.items()}
    # From here on bytes, for they are translated twenty times as fast: 50 MB in a second or two.
    raw = plain.translate(table).lower().encode("ascii")
    usable = (ALPHABET + keep).encode("ascii")
    dropped = len(raw.translate(None, usable))
    raw = raw.translate(bytes(i if i in usable else ord(" ") for i in range(256)), b"'")
    plain = re.sub(r" ?\n[\n ]*", "\n", re.sub(r"  +", " ", raw.decode("ascii")))
    return Normalised(plain.strip(), folded=folded, dropped=dropped)


def _in_ascii(character: str) -> str:
    """Return the letters a–z that a character stands for, or what else is put in its place."""
    if character.isalpha():
        decomposed = unicodedata.normalize("NFKD", character).casefold().translate(WRITTEN_OUT)
        letters = re.sub("[^a-z]", "", decomposed)
        if letters:
            return letters
    if character == "’" or unicodedata.combining(character):
        return "'"  # vanishes
    return " " if character.isspace() else "?"  # becomes a space, as all punctuation does


def frame(words: Iterable[str], vocabulary: Vocabulary) -> Tensor:
    """Return the ids of ``[BEGIN]``, words and ``[END]``, with ``[MASK]`` for every ``_``."""
    import torch

    ids = {**vocabulary.ids, GAP: vocabulary.mask_id}
    return torch.tensor([ids[symbol] for symbol in (BEGIN, *words, END)])


def visible(character: str) -> str:
    """Return a sign for a character that could not be seen otherwise."""
    return {" ": "␣", "\n": "↵", "[MASK]": "▒"}.get(character, character)
