"""The corpus: pieces to train on, pieces held out, and the windows they are cut into."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor

from cloze.arguments import Count, FilePath, Line, between, checked
from cloze.vocabulary import (
    ALPHABET,
    VOCABULARY,
    Normalised,
    TextError,
    Vocabulary,
    counted,
    normalise,
)


def data_folder() -> Path:
    """Find the data of the series: what CLOZE_DATA names, or else what belongs to this code.

    That is ``data/`` in a checkout and ``cloze/data/`` where a wheel was installed.
    """
    if chosen := os.environ.get("CLOZE_DATA"):
        return Path(chosen)
    package = Path(__file__).resolve().parent
    installed = package / "data"
    return installed if installed.is_dir() else package.parents[1] / "data"


DATA = data_folder()
MOST_BYTES = 200_000_000
"""The largest text file that is read into memory."""
MOST_HELD_OUT = 2**17
"""How many characters are held out at the most; the corpus of the series holds out 77 000.

More would make every measurement longer and hardly more exact: the mean over 2 048 windows is known
to about 0.01 nats.
"""

Windows = Annotated[int, between(1, 10**6)]
"""How many windows are drawn at once."""


def read_text(path: FilePath) -> str:
    """Read a text file.

    Raises:
        TextError: there is no such file, it is too large or empty, it is not UTF-8, or holds NULs.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise TextError(f"There is no file {path}; check the path.")
        if path.stat().st_size > MOST_BYTES:
            raise TextError(f"{path} holds more than 200 MB of text; take a part.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TextError(
            f"{path} is not text in UTF-8; open it and save it as plain text in UTF-8."
        ) from None
    except OSError as error:
        raise TextError(f"{path} cannot be read: {error.strerror}.") from None
    if "\0" in text:
        raise TextError(f"{path} holds NULs, as UTF-16 does; save it as plain text in UTF-8.")
    if not text.strip():
        raise TextError(f"{path} is empty; choose a file with text in it.")
    return text


@dataclass(frozen=True)
class Piece:
    """One text of the corpus, normalised."""

    name: str
    text: str

    def __post_init__(self) -> None:
        if not self.text.isascii() or self.text.encode().translate(None, ALPHABET.encode()):
            raise TextError(
                f"The text of {self.name!r:.60} holds other characters than newline, space and "
                "a to z; call normalise(text).text first."
            )

    @cached_property
    def input_ids(self) -> Tensor:
        """The ids of the piece, shape ``(length,)``."""
        # Through a table, which takes a fraction of a second for 50 MB.
        table = np.zeros(128, dtype=np.int64)
        table[[ord(character) for character in ALPHABET]] = range(len(ALPHABET))
        return torch.from_numpy(table[np.frombuffer(self.text.encode(), dtype=np.uint8)])


@dataclass(frozen=True)
class Corpus:
    """Pieces to train on and pieces held out, never a slice of one piece in both.

    A corpus is what a model learns English from; the held-out pieces measure what it learned.
    """

    train: tuple[Piece, ...]
    held_out: tuple[Piece, ...]
    report: str = field(default="", compare=False)
    """What normalising changed and what was left out, in words."""
    vocabulary: ClassVar[Vocabulary] = VOCABULARY

    @classmethod
    def load(cls, folder: FilePath = DATA / "corpus") -> Corpus:
        """Load a folder of topics with ten pieces each.

        With the topics in alphabetical order i = 0, 1, …, piece number ``i % 10 + 1`` of each topic
        is held out, as far as ``MOST_HELD_OUT`` characters reach.

        Raises:
            TextError: the folder does not hold such a corpus, or a file in it cannot be read.
        """
        train: list[Piece] = []
        held_out: list[Piece] = []
        folded = dropped = 0
        # What a program put there (.ipynb_checkpoints) must not move the split.
        paths = sorted(Path(folder).glob("[!.]*/[!.]*.txt"))
        topics = [*dict.fromkeys(path.parent for path in paths)]
        for path in paths:
            normalised = normalise(read_text(path))
            folded, dropped = folded + normalised.folded, dropped + normalised.dropped
            if not normalised.text:
                raise TextError(f"{path} holds no usable character; take it out of the corpus.")
            piece = Piece(f"{path.parent.name}/{path.stem}", normalised.text)
            number = topics.index(path.parent) % 10 + 1
            (held_out if path.stem == f"{number:02d}" else train).append(piece)
        if not train or not held_out:
            raise TextError(
                f"{folder} is not a corpus: it needs one folder per topic with 01.txt … 10.txt in "
                "it. A single text file is read with Corpus.from_file."
            )
        texts = "".join(piece.text for piece in (*train, *held_out))
        report = Normalised(texts, folded, dropped).report
        return cls._of(train, held_out, report)

    @classmethod
    def from_file(cls, path: FilePath, window: Count = 64) -> Corpus:
        """Load a text file of your own and hold out every tenth stretch of it.

        The file is cut at ends of lines into up to 100 stretches of equal length; every tenth is
        held out. What normalising changed is in ``corpus.report``.

        Args:
            path: a text file in UTF-8, up to 200 MB.
            window: the length in characters of the windows you will train on.

        Raises:
            TextError: no such file, an empty or binary file, or too little text.
        """
        path = Path(path)
        normalised = normalise(read_text(path))
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
            Piece(f"{path.name}:{k + 1}", text[start:end])
            for k, (start, end) in enumerate(pairwise(cuts))
        ]
        step = min(10, len(pieces))
        held_out = pieces[step - 1 :: step]
        train = [piece for k, piece in enumerate(pieces, start=1) if k % step]
        return cls._of(train, held_out, normalised.report, window)

    @classmethod
    def _of(
        cls, train: list[Piece], held_out: list[Piece], report: str, window: int = 64
    ) -> Corpus:
        """Make a corpus that holds out no more than ``MOST_HELD_OUT``, about as much of each."""
        total = sum(len(piece.text) for piece in held_out)
        if total > MOST_HELD_OUT:
            share = max(window, MOST_HELD_OUT // len(held_out))
            held_out = [Piece(piece.name, piece.text[:share]) for piece in held_out]
            used = sum(len(piece.text) for piece in held_out)
            report += f"; of {total:,} held-out characters {used:,} are measured on, no others used"
        return cls(tuple(train), tuple(held_out), report)

    @cached_property
    def train_ids(self) -> Tensor:
        """All training pieces in a row, a newline between them; shape ``(characters,)``."""
        newline = VOCABULARY.encode("\n")
        return torch.cat([part for piece in self.train for part in (piece.input_ids, newline)])

    def sample(self, n: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw ``n`` windows at random places of the training pieces; shape ``(n, length)``."""
        return sample_windows(self.train_ids, n, length, generator)

    @checked
    def held_out_windows(self, length: Count = 64) -> Tensor:
        """Return the held-out pieces cut into windows, shape ``(windows, length)``.

        Raises:
            TextError: a held-out piece is shorter than one window.
        """
        for piece in self.held_out:
            if len(piece.text) < length:
                raise TextError(
                    f"{piece.name} is held out and has {counted(len(piece.text), 'character')}, "
                    f"fewer than one window of {length}; give it more text."
                )
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
            f"Corpus({counted(len(self.train), 'piece')}, {characters:,} characters to train on; "
            f"{counted(len(self.held_out), 'piece')}, {held:,} characters held out)"
        )


@checked
def windows(input_ids: Line, length: Count) -> Tensor:
    """Cut ids of shape ``(characters,)`` into windows ``(n, length)``; a shorter rest is left out.

    Raises:
        TextError: there is less text than one window.
    """
    n = len(input_ids) // length
    if n == 0:
        raise TextError(f"{len(input_ids)} characters are fewer than one window of {length}.")
    return input_ids[: n * length].view(n, length)


@checked
def sample_windows(
    input_ids: Line, n: Windows, length: Count, generator: torch.Generator | None = None
) -> Tensor:
    """Draw ``n`` windows at random places of ids ``(characters,)``; shape ``(n, length)``.

    Raises:
        TextError: there is less text than one window.
    """
    if len(input_ids) < length:
        raise TextError(f"{len(input_ids)} characters are fewer than one window of {length}.")
    starts = torch.randint(len(input_ids) - length + 1, (n, 1), generator=generator)
    return input_ids[starts + torch.arange(length)]
