"""Text and ids: the vocabulary, normalising, the corpus and its held-out pieces."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz"
"""The 28 characters of normalised text, in the order of their ids."""

MASK = "[MASK]"
GAP = "_"
"""How a learner types a gap: one key instead of ``[MASK]``."""

DATA = Path(os.environ.get("CLOZE_DATA") or Path(__file__).resolve().parents[2] / "data")
"""The folder ``data/`` of the project; the environment variable CLOZE_DATA overrides it."""


class TextError(ValueError):
    """Text that cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True)
class Vocabulary:
    """Every symbol the model knows: characters first, special symbols after them.

    Ids 0 … 27 are the characters, 28 is ``[MASK]``. Because characters come first, "draw a random
    character" is "draw an integer below ``n_characters``", and symbols added later
    (:meth:`with_specials`) leave all earlier ids as they were.
    """

    characters: str = ALPHABET
    specials: tuple[str, ...] = (MASK,)

    def __post_init__(self) -> None:
        if len(set(self.symbols)) != len(self.symbols):
            raise TextError("A vocabulary holds every symbol once; a symbol is given twice.")
        if MASK not in self.specials:
            raise TextError(f"The special symbols must include {MASK}.")

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """All symbols in the order of their ids."""
        return (*self.characters, *self.specials)

    @cached_property
    def ids(self) -> dict[str, int]:
        """From symbol to id."""
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        """|V|: the number of symbols, special ones included."""
        return len(self.symbols)

    @property
    def n_characters(self) -> int:
        """The number of ordinary characters; their ids are ``0 … n_characters - 1``."""
        return len(self.characters)

    @property
    def mask_id(self) -> int:
        """The id of ``[MASK]``."""
        return self.ids[MASK]

    def with_specials(self, *specials: str) -> Vocabulary:
        """Return a vocabulary with more special symbols, such as ``[PAD]`` or ``[CLS]``."""
        return Vocabulary(self.characters, self.specials + specials)

    def encode(self, text: str) -> Tensor:
        """Turn text into ids. Special symbols such as ``[MASK]`` are recognised.

        Returns:
            A tensor of shape ``(length,)`` and type int64.

        Raises:
            TextError: a character is not in the vocabulary (:func:`normalise` the text first).
        """
        ids = []
        for match in self._pattern.finditer(text):
            symbol = match.group()
            if symbol not in self.ids:
                raise TextError(
                    f"{symbol!r} at position {match.start()} is not among the {len(self)} symbols "
                    "of the vocabulary; call normalise(text).text first."
                )
            ids.append(self.ids[symbol])
        return torch.tensor(ids, dtype=torch.int64)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join([*map(re.escape, self.specials), "."]), re.DOTALL)

    def decode(self, ids: Tensor | Sequence[int], gap: str = MASK) -> str:
        """Turn ids of shape ``(length,)`` back into text; ``[MASK]`` is written as ``gap``."""
        values = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        if not all(isinstance(i, int) and 0 <= i < len(self) for i in values):
            raise TextError(f"Ids must be a single row of integers from 0 to {len(self) - 1}.")
        return "".join(gap if i == self.mask_id else self.symbols[i] for i in values)


VOCABULARY = Vocabulary()
"""The 28 characters and ``[MASK]``: |V| = 29."""


# Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = str.maketrans(
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

    def __str__(self) -> str:
        return f"{self.text}\n({self.report})"

    @property
    def report(self) -> str:
        """What changed, in words."""
        return (
            f"{counted(len(self.text), 'character')} kept; "
            f"{counted(self.folded, 'accent')} folded, {counted(self.dropped, 'character')} dropped"
        )


def counted(n: int, what: str) -> str:
    """Return "1 gap", "2 gaps": a number with its noun."""
    return f"{n:,} {what}{'s' * (n != 1)}"


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
        decomposed = unicodedata.normalize("NFKD", character).casefold().translate(_LETTERS)
        letters = re.sub("[^a-z]", "", decomposed)
        if letters:
            return letters
    if character == "’" or unicodedata.combining(character):
        return "'"  # vanishes
    return " " if character.isspace() else "?"  # becomes a space, as all punctuation does


@dataclass(frozen=True)
class Piece:
    """One text of the corpus, normalised."""

    name: str
    text: str

    @cached_property
    def input_ids(self) -> Tensor:
        """The ids of the piece, shape ``(length,)``."""
        return VOCABULARY.encode(self.text) if len(self.text) < 4096 else _encode_fast(self.text)


def _encode_fast(text: str) -> Tensor:
    """Encode normalised text through a table: a 50 MB file takes a fraction of a second."""
    table = np.zeros(128, dtype=np.int64)
    for character, i in VOCABULARY.ids.items():
        if len(character) == 1:
            table[ord(character)] = i
    return torch.from_numpy(table[np.frombuffer(text.encode("ascii"), dtype=np.uint8)])


@dataclass(frozen=True)
class Corpus:
    """Pieces to train on and pieces held out, never a slice of one piece in both.

    A corpus is what a model learns English from; the held-out pieces measure what it learned.
    """

    train: tuple[Piece, ...]
    held_out: tuple[Piece, ...]
    report: str = field(default="", compare=False)
    """What normalising changed, in words."""

    @classmethod
    def load(cls, folder: Path | str = DATA / "corpus") -> Corpus:
        """Load a folder of topics with ten pieces each.

        With the topics in alphabetical order i = 0, 1, …, piece number ``i % 10 + 1`` of each topic
        is held out.

        Raises:
            TextError: the folder does not hold such a corpus.
        """
        folder = Path(folder)
        train: list[Piece] = []
        held_out: list[Piece] = []
        topics = sorted(p for p in folder.glob("*") if p.is_dir()) if folder.is_dir() else []
        for i, topic in enumerate(topics):
            for path in sorted(topic.glob("*.txt")):
                piece = Piece(f"{topic.name}/{path.stem}", normalise(_read(path)).text)
                (held_out if path.stem == f"{i % 10 + 1:02d}" else train).append(piece)
        if not train or not held_out:
            raise TextError(
                f"{folder} is not a corpus: it needs one folder a topic with 01.txt … 10.txt in it."
            )
        return cls(tuple(train), tuple(held_out))

    @classmethod
    def from_file(cls, path: Path | str, window: int = 64) -> Corpus:
        """Load a text file of your own and hold out every tenth stretch of it.

        The file is cut at ends of lines into up to 100 stretches of equal length; every tenth is
        held out. What normalising changed is in ``corpus.report``.

        Args:
            path: a text file, UTF-8 (or Latin-1), up to some hundred MB.
            window: the length in characters of the windows you will train on.

        Raises:
            TextError: no such file, an empty or binary file, or too little text.
        """
        normalised = normalise(_read(Path(path)))
        text = normalised.text
        # Two pieces at the least, each of them at least one window long.
        if len(text) < 2 * window:
            raise TextError(
                f"{path} holds {counted(len(text), 'usable character')}; training needs at least "
                f"{2 * window}: one window of {window} to learn from and one to hold out."
            )
        n = max(2, min(100, len(text) // (2 * window)))
        cuts = [0]
        for k in range(1, n):
            target = max(len(text) * k // n, cuts[-1] + window)
            if target > len(text) - window:
                break
            end_of_line = text.find("\n", target, min(target, len(text) - 2 * window) + window)
            cuts.append(end_of_line + 1 if end_of_line >= 0 else target)
        cuts.append(len(text))
        pieces = [
            Piece(f"{Path(path).name}:{k + 1}", text[start:end])
            for k, (start, end) in enumerate(pairwise(cuts))
        ]
        step = min(10, len(pieces))
        held_out = tuple(pieces[step - 1 :: step])
        train = tuple(piece for piece in pieces if piece not in held_out)
        return cls(train, held_out, normalised.report)

    @cached_property
    def train_ids(self) -> Tensor:
        """All training pieces in a row, a newline between them; shape ``(characters,)``."""
        newline = VOCABULARY.encode("\n")
        return torch.cat([part for piece in self.train for part in (piece.input_ids, newline)])

    def held_out_windows(self, length: int = 64) -> Tensor:
        """Return the held-out pieces cut into windows, shape ``(windows, length)``."""
        return torch.cat([windows(piece.input_ids, length) for piece in self.held_out])

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the texts and their split."""
        digest = hashlib.sha256()
        for part in (self.train, self.held_out):
            for piece in part:
                digest.update(piece.text.encode("ascii") + b"\0")
            digest.update(b"\1")
        return digest.hexdigest()

    def __repr__(self) -> str:
        characters = sum(len(piece.text) for piece in self.train)
        held = sum(len(piece.text) for piece in self.held_out)
        return (
            f"Corpus({len(self.train)} pieces, {characters:,} characters to train on; "
            f"{len(self.held_out)} pieces, {held:,} characters held out)"
        )


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TextError(f"There is no file {path}; check the path.") from None
    except OSError as error:
        raise TextError(f"{path} cannot be read: {error.strerror}.") from None
    if not raw.strip():
        raise TextError(f"{path} is empty; choose a file with text in it.")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        raise TextError(f"{path} is not a text file (it holds zero bytes); save it as plain text.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def windows(input_ids: Tensor, length: int) -> Tensor:
    """Cut ids of shape ``(characters,)`` into windows ``(n, length)``; a shorter rest is left out.

    Raises:
        TextError: there is less text than one window.
    """
    if length < 1:
        raise TextError(f"A window holds at least 1 character, not {length}.")
    n = len(input_ids) // length
    if n == 0:
        raise TextError(f"{len(input_ids)} characters are fewer than one window of {length}.")
    return input_ids[: n * length].view(n, length)


def sample_windows(
    input_ids: Tensor, n: int, length: int, generator: torch.Generator | None = None
) -> Tensor:
    """Draw ``n`` windows at random places of ids ``(characters,)``; shape ``(n, length)``.

    Raises:
        TextError: there is less text than one window.
    """
    if len(input_ids) < length:
        raise TextError(f"{len(input_ids)} characters are fewer than one window of {length}.")
    starts = torch.randint(len(input_ids) - length + 1, (n, 1), generator=generator)
    return input_ids[starts + torch.arange(length)]


def read_line(line: str, max_len: int = 64) -> tuple[Tensor, str]:
    """Read a line as a learner types it: ``_`` or ``[MASK]`` marks a gap.

    Returns:
        The ids, shape ``(length,)``, and a sentence on what normalising changed ("" if nothing).

    Raises:
        TextError: nothing usable is left, or more than ``max_len`` characters.
    """
    typed = re.sub(re.escape(MASK), GAP, line, flags=re.IGNORECASE)
    clean = normalise(typed, keep=GAP)
    if not clean.text:
        raise TextError("The line is empty; type some letters, and _ for every gap.")
    if len(clean.text) > max_len:
        raise TextError(
            f"The line has {len(clean.text)} characters and the model reads {max_len}; shorten it."
        )
    notes = []
    if clean.folded:
        notes.append(f"{counted(clean.folded, 'accent')} folded")
    if clean.dropped:
        notes.append(f"{counted(clean.dropped, 'character')} dropped")
    return VOCABULARY.encode(clean.text.replace(GAP, MASK)), ", ".join(notes)


def visible(character: str) -> str:
    """Return a sign for a character that could not be seen otherwise."""
    return {" ": "␣", "\n": "↵", "[MASK]": "▒"}.get(character, character)
