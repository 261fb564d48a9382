"""A bet on a gap: hand out probability, see what each letter would cost, and what the bet does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import traitlets
from markupsafe import Markup

from cloze.arguments import Count, checked
from cloze.lessons.the_loss.probability_bet import CHIPS
from cloze.vocabulary import GAP
from cloze.widgets.markup import still_lines
from cloze.widgets.widget import Widget, program


class ProbabilityBet(Widget):
    """Hand out 1.00 of probability over the letters that a gap may hide.

    Args:
        counts: how often each letter is there, such as ``letter_counts(corpus, "_ook")``; secret
            until the learner asks.
        word: the word with its gap.
        letters: those that one can bet on one by one.
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
    def __init__(self, counts: Mapping[str, Count], word: str, letters: str) -> None:
        super().__init__(
            counts=dict(counts), word=word, letters=letters, chips=dict.fromkeys(letters, 0)
        )

    def __repr__(self) -> str:
        given = ", ".join(f"{c} {n / CHIPS:.2f}" for c, n in self.chips.items() if n)
        return f"ProbabilityBet({self.word}: {given or 'nothing handed out'})"

    def still(self) -> Markup:
        words = ", ".join(self.word.replace(GAP, letter) for letter in self.letters)
        return still_lines(f"Which letter is missing in {self.word}? You can bet on {words}.")
