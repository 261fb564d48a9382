"""The text that the words' encoder is trained on, written in word pieces.

``python -m measured.words.text FOLDER`` learns the pieces from the files ``*.txt`` of a folder, one
paragraph a line, and from the corpus of the series, and writes ``pieces.json`` and the ids of every
source into the folder (ten minutes on an idle core).
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cloze.corpus import DATA, sample_windows, windows
from cloze.tokenizer import SEP, Tokenizer, plain_words
from cloze.vocabulary import Vocabulary

PIECES = 8192
"""How many symbols there are, the four special ones included."""
TIMES = {"corpus": 10, "stories": 6, "voice": 6}
"""How often a source is read, and counted when pieces are learned, for one time of the others.

Everyday sentences of today are few; counted once, *umbrella* would be no piece.
"""
HELD_OUT = (24, 74)
"""Of a hundred stretches of every source, these are held out."""
MEASURED = 2**15
"""How many held-out pieces of every source are measured on."""


def sources(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return the paragraphs of every source: those to train on, and those that are held out.

    A source is a text file, of which two stretches in a hundred are held out, or the corpus of the
    series, which holds out what it always does.
    """
    found = {}
    for path in sorted(folder.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        parts: tuple[list[str], list[str]] = ([], [])
        for k in range(100):
            start, end = (len(lines) * i // 100 for i in (k, k + 1))
            parts[k in HELD_OUT].extend(lines[start:end])
        found[path.stem] = parts
    corpus: tuple[list[str], list[str]] = ([], [])
    for i, topic in enumerate(sorted((DATA / "corpus").glob("[!.]*/"))):
        for path in sorted(topic.glob("*.txt")):
            lines = path.read_text(encoding="utf-8").splitlines()
            corpus[path.stem == f"{i % 10 + 1:02d}"].extend(line for line in lines if line)
    return {**found, "corpus": corpus}


def learned(folder: Path) -> Tokenizer:
    """Learn the pieces from everything that is trained on."""
    text = []
    for name, (train, _) in sources(folder).items():
        text += [" ".join(" ".join(plain_words(line)) for line in train)] * TIMES.get(name, 1)
    return Tokenizer.train(" ".join(text), PIECES - 4)


class Text:
    """What the words' encoder is trained on and measured on: ids, a ``[SEP]`` after a paragraph.

    Args:
        folder: where :func:`main` has written it.
        everyday: how many times as often as ``TIMES`` says its sources are read.
    """

    def __init__(self, folder: Path, everyday: int = 1) -> None:
        self.tokenizer = load_pieces(folder / "pieces.json")
        self.vocabulary: Vocabulary = self.tokenizer.vocabulary
        self.held_out: dict[str, Tensor] = {}
        train, more = [], []
        for path in sorted(folder.glob("*.train.npy")):
            name = path.name.split(".")[0]
            ids = torch.from_numpy(np.load(path).astype(np.int64))
            train += [ids] * TIMES.get(name, 1)
            more += [ids] * TIMES.get(name, 0) * (everyday - 1)
            held_out = np.load(folder / f"{name}.held_out.npy")[:MEASURED]
            self.held_out[name] = torch.from_numpy(held_out.astype(np.int64))
        self.train = torch.cat(train)  # (pieces,)
        self.sha256 = f"{self.train.double().square().sum():.0f} {len(self.train)}"
        self.train = torch.cat([self.train, *more])

    def sample(self, n: int, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw windows at random places, shape ``(n, length)``."""
        return sample_windows(self.train, n, length, generator)

    def held_out_windows(self, length: int) -> Tensor:
        """Return the held-out windows of all sources, shape ``(windows, length)``."""
        return torch.cat([windows(ids, length) for ids in self.held_out.values()])


def load_pieces(path: Path) -> Tokenizer:
    """Read what :func:`main` has learned."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return Tokenizer(tuple(kept["alphabet"]), tuple((a, b) for a, b in kept["merges"]))


def encoded(tokenizer: Tokenizer, paragraphs: list[str]) -> Iterator[int]:
    """Yield the ids of paragraphs, a ``[SEP]`` after each."""
    ids = tokenizer.vocabulary.ids
    known: dict[str, list[int]] = {}
    for paragraph in paragraphs:
        for word in plain_words(paragraph):
            if word not in known:
                known[word] = tokenizer.encode(word).tolist()
            yield from known[word]
        yield ids[SEP]


def main() -> None:
    folder = Path(sys.argv[1])
    pieces = folder / "pieces.json"
    if not pieces.exists():
        made = learned(folder)
        kept = {"alphabet": made.alphabet, "merges": made.merges}
        pieces.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    tokenizer = load_pieces(pieces)
    for name, parts in sources(folder).items():
        for part, paragraphs in zip(("train", "held_out"), parts, strict=True):
            written = np.array(array("H", encoded(tokenizer, paragraphs)), dtype=np.int16)
            np.save(folder / f"{name}.{part}.npy", written)
            print(f"{name} {part}: {len(written):,} pieces", flush=True)


if __name__ == "__main__":
    main()
