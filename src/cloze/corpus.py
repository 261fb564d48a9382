"""The corpus: pieces to train on, pieces held out, and the windows they are cut into."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cloze.vocabulary import VOCABULARY, TextError, counted, normalise

DATA = Path(os.environ.get("CLOZE_DATA") or Path(__file__).resolve().parents[2] / "data")
"""The folder ``data/`` of the project; the environment variable CLOZE_DATA overrides it."""


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
