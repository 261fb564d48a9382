"""A bet on a gap: hand out probability, see what each letter would cost, and what the bet does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import traitlets
from markupsafe import Markup

from cloze.border import Count, Some, checked, shown
from cloze.corpus import Corpus
from cloze.vocabulary import ALPHABET, GAP, normalise
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program, style

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


class ProbabilityBet(Widget):
    """Hand out 1.00 of probability over the letters that a gap may hide.

    Args:
        counts: how often each letter is there, such as ``letter_counts(corpus, "_ook")``; secret
            until the learner asks.
        word: the word with its gap.
        letters: those that one can bet on one by one.

    Raises:
        ValueError: ``letters`` repeats one, or has something else than a to z; the word has not one
            gap; there are no counts, or one is below 1.
    """

    _esm = program("bet.js")
    _css = style("bet.css")

    counts = traitlets.Dict().tag(sync=True)
    word = traitlets.Unicode().tag(sync=True)
    letters = traitlets.Unicode().tag(sync=True)
    chips = traitlets.Dict().tag(sync=True)
    """How many twentieths each letter was given."""
    revealed = traitlets.Bool(False).tag(sync=True)
    """Whether the true shares are shown."""

    @checked
    def __init__(
        self, counts: Annotated[Mapping[str, Count], Some], word: str, letters: str
    ) -> None:
        if not re.fullmatch("[a-z]+", letters) or len({*letters}) < len(letters):
            raise ValueError(f"Bet on different letters from a to z, not {shown(letters)}.")
        if word.count(GAP) != 1:
            raise ValueError(f"Bet on a word with one gap, such as '_ook', not {shown(word)}.")
        super().__init__(
            counts=dict(counts),
            word=normalise(word, keep=GAP).text,
            letters=letters,
            chips=dict.fromkeys(letters, 0),
        )

    def __repr__(self) -> str:
        given = ", ".join(f"{c} {n / CHIPS:.2f}" for c, n in self.chips.items() if n)
        return f"ProbabilityBet({self.word}: {given or 'nothing handed out'})"

    @property
    def bet(self) -> dict[str, float]:
        """The probability of every character; they sum to 1."""
        return bet_of(self.chips)

    def still(self) -> Markup:
        """Write what is bet on, for where nothing runs."""
        words = ", ".join(self.word.replace(GAP, letter) for letter in self.letters)
        return element("p", f"Which letter is missing in {self.word}? You can bet on {words}.")

    @traitlets.validate("chips")
    def _only_on_letters(self, proposal: Any) -> dict[str, int]:
        chips = dict(proposal["value"])
        bet_of(chips)
        if other := [letter for letter in chips if letter not in self.letters]:
            known = ", ".join(self.letters)
            raise ValueError(f"You can give to the letters {known}, not to {shown(other[0])}.")
        return {letter: chips.get(letter, 0) for letter in self.letters}
