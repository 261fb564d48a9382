"""The explorer as a picture that stays: what it shows, without anything to click."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cloze.widgets.explorer.answers import Answers
from cloze.widgets.explorer.chart import chart
from cloze.widgets.explorer.line import leaning_in_words, line
from cloze.widgets.view import element, still_style


@dataclass(frozen=True, repr=False)
class Picture:
    """What was guessed at one gap of one line; it is stored with the notebook."""

    answers: Answers
    predictions: Any
    """The same in numbers, as ``MaskExplorer.predictions`` has it."""

    def __repr__(self) -> str:
        return repr(self.predictions)

    def _repr_html_(self) -> str:
        picture = element(
            "div",
            line(self.answers, live=False),
            chart(self.answers, 5, baseline=False, live=False),
            element("p", leaning_in_words(self.answers), class_="quiet"),
            class_="cloze still" + " words" * self.answers.asked.wide,
        )
        return f"<style>{still_style()}</style>{picture}"
