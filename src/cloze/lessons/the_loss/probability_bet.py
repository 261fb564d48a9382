"""A bet on a gap: which letters the corpus has there, and chips as probabilities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from cloze.arguments import checked, shown
from cloze.corpus import Corpus
from cloze.vocabulary import ALPHABET, GAP

CHIPS = 20
"""The learner hands out probability in twentieths."""


@checked
def letter_counts(corpus: Corpus, word: str) -> Counter[str]:
    """Count the letters in the gap of a word, wherever the training pieces have such a word.

    Args:
        corpus: where to look.
        word: letters with one gap, such as ``"_ook"``.

    Raises:
        ValueError: not one gap, or no such word in the corpus.
    """
    counts: Counter[str] = Counter()
    if re.fullmatch(f"[a-z]*{GAP}[a-z]*", word):
        pattern = re.compile(rf"(?<![a-z]){word.replace(GAP, '([a-z])')}(?![a-z])")
        counts.update(letter for piece in corpus.train for letter in pattern.findall(piece.text))
    if not counts:
        raise ValueError(
            f"The corpus has no word like {shown(word)}. Give a common one with one gap, '_ook'."
        )
    return counts


def shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Turn counts into probabilities."""
    total = sum(counts.values())
    return {letter: count / total for letter, count in counts.items()}


@checked
def bet_of(chips: Mapping[str, int]) -> dict[str, float]:
    """Turn chips into a probability for every character.

    A chip is worth 1/20; the chips that are not handed out are spread evenly over all 28
    characters, so the probabilities always sum to 1.

    Raises:
        ValueError: more chips than there are, fewer than none, or on something else.
    """
    if sum(chips.values()) > CHIPS or any(n < 0 or c not in [*ALPHABET] for c, n in chips.items()):
        raise ValueError(f"Hand out {CHIPS} chips at most, by letter, not {shown(chips)}.")
    kept = CHIPS - sum(chips.values())
    return {c: (chips.get(c, 0) + kept / len(ALPHABET)) / CHIPS for c in ALPHABET}
