"""The explorer as a picture that stays: what it shows, without anything to click."""

from __future__ import annotations

from dataclasses import dataclass

from cloze.prediction import Comparison
from cloze.widgets.explorer.answers import Answers
from cloze.widgets.explorer.chart import chart
from cloze.widgets.explorer.line import line, occlusion_in_words
from cloze.widgets.view import element, still_style


@dataclass(frozen=True, repr=False)
class Picture:
    """What was guessed at one gap of one line; it is stored with the notebook."""

    answers: Answers

    @property
    def predictions(self) -> Comparison:
        """The same in numbers, as ``MaskExplorer.predictions`` has it."""
        return self.answers.by_name

    def __repr__(self) -> str:
        return repr(self.predictions)

    def _repr_html_(self) -> str:
        picture = element(
            "div",
            line(self.answers, live=False),
            chart(self.answers, 5, baseline=False, live=False),
            element("p", occlusion_in_words(self.answers), class_="quiet"),
            class_="cloze still" + " words" * self.answers.asked.wide,
        )
        return f"<style>{still_style()}</style>{picture}"
