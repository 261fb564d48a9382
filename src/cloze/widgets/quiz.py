"""The checkpoint questions of a lesson as a form that answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.teaching.quiz import Option, QuizQuestion, inline, questions_of
from cloze.vocabulary import counted
from cloze.widgets.markup import element, join
from cloze.widgets.widget import Widget, program


def _in_markup(questions: Sequence[QuizQuestion], _: object) -> list[dict[str, Any]]:
    def fields(of: QuizQuestion | Option) -> dict[str, Any]:
        values = vars(of).items()
        return {name: inline(value) if isinstance(value, str) else value for name, value in values}

    return [fields(each) | {"options": [*map(fields, each.options)]} for each in questions]


def _by_number(answers: dict[str, str], _: object) -> dict[int, str]:
    return {int(number): letter for number, letter in answers.items()}


class Quiz(Widget):
    """Questions with one right answer each; every choice is explained at once.

    Args:
        questions: the name of a lesson, such as ``"the_loss"``, or questions of your own.

    Raises:
        ValueError: there are no such questions.
    """

    _esm = program("quiz.js")

    questions = traitlets.Tuple().tag(sync=True, to_json=_in_markup)
    answers: traitlets.Dict[Any, str] = traitlets.Dict().tag(sync=True, from_json=_by_number)
    """The letter chosen last, by number of the question (from 1)."""

    def __init__(self, questions: str | Sequence[QuizQuestion]) -> None:
        known = questions_of(questions) if isinstance(questions, str) else questions
        super().__init__(questions=tuple(known))

    def __repr__(self) -> str:
        far = f"{len(self.answers)} answered, {self.score} right"
        return f"Quiz({counted(len(self.questions), 'question')}, {far})"

    @property
    def score(self) -> int:
        """How many of the answers are right as they stand."""
        return sum(self.questions[n - 1].by_letter[x].right for n, x in self.answers.items())

    def still(self) -> Markup:
        """List the questions with their options, for where nothing runs."""
        return join(
            element("p", f"{number}. ", inline(question.text))
            + element(
                "ul",
                *(
                    element("li", f"({letter}) ", inline(option.text))
                    for letter, option in question.by_letter.items()
                ),
                style="list-style: none",
            )
            for number, question in enumerate(self.questions, start=1)
        )
