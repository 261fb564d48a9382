"""Lines that were spoilt on purpose, to see whether a score notices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from torch import Tensor

from cloze.corpus import Corpus
from cloze.vocabulary import VOCABULARY

Score = Callable[[str], Tensor]
"""From a text to what each of its characters costs."""


def held_out_texts(corpus: Corpus, n: int) -> list[str]:
    """Return so many held-out lines, spread over all pieces, cut to whole words."""
    windows = corpus.held_out_windows()
    some = windows[:: len(windows) // n][:n]
    return [" ".join(VOCABULARY.decode(window).split()[1:-1]) for window in some]


def exchanged(text: str, chance: random.Random) -> str:
    """Let two neighbouring words, which are not the same, change places.

    Raises:
        ValueError: there are no two such words.
    """
    words = text.split()
    places = [i for i in range(len(words) - 1) if words[i] != words[i + 1]]
    if not places:
        raise ValueError(
            f"No two neighbouring words of {text!r} differ, so none can change places."
        )
    i = chance.choice(places)
    words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words)


def misspelt(text: str, chance: random.Random) -> tuple[str, int]:
    """Replace one letter by another; return the text and where."""
    at = chance.choice([i for i, c in enumerate(text) if c != " "])
    letters = [c for c in "abcdefghijklmnopqrstuvwxyz" if c != text[at]]
    return f"{text[:at]}{chance.choice(letters)}{text[at + 1 :]}", at


def preferred(score: Score, pairs: Sequence[tuple[str, str]]) -> float:
    """Return the share of pairs whose first text costs less."""
    return sum(float(score(a).sum()) < float(score(b).sum()) for a, b in pairs) / len(pairs)


def found(score: Score, typos: Sequence[tuple[str, int]]) -> float:
    """Return the share of texts whose most costly character is the typo."""
    return sum(int(score(text).argmax()) == at for text, at in typos) / len(typos)
