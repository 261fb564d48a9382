"""A bet on a gap: hand out probability, see what each letter would cost, and what the bet does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import traitlets
from markupsafe import Markup

from cloze.arguments import Count, Some, checked, shown
from cloze.lessons.the_loss.probability_bet import CHIPS, bet_of
from cloze.vocabulary import GAP, normalise
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program


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

    _esm = program(Path(__file__).with_suffix(".js"))

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
