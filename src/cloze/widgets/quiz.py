"""The checkpoint questions of a lesson as a form that answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markupsafe import Markup

from cloze.teaching.quiz import Option, Question, inline, questions_of
from cloze.vocabulary import counted
from cloze.widgets.view import View, button, element


def score(questions: Sequence[Question], answers: Mapping[int, str]) -> int:
    """Count the right answers among those given, by number of the question (from 1)."""
    return sum(questions[n - 1].by_letter[letter].right for n, letter in answers.items())


def progress(questions: int, answered: int, right: int) -> str:
    """Say how far the learner is."""
    return f"{counted(questions, 'question')}: {answered} answered, {right} right."


def form(number: int, question: Question, chosen: str, *, folded: bool) -> Markup:
    """Write one question: an option a line, below the chosen one why it is right or wrong.

    Args:
        number: of the question, from 1.
        question: what is asked.
        chosen: the letter of an option, or none.
        folded: write the other explanations as well, hidden, for a page that asks nobody.
    """

    def line(letter: str, option: Option) -> Markup:
        radio = element(
            "input",
            type="radio",
            name=f"question-{number}",
            value=letter,
            checked=letter == chosen,
            data_do="choose",
            data_with_question=number,
        )
        label = element("label", radio, element("span", f"({letter}) ", inline(option.text)))
        if not folded and letter != chosen:
            return element("div", label)
        sign = element("b", "✓ " if option.right else "✗ ", option.verdict)
        look = "explanation right" if option.right else "explanation wrong"
        text = (sign, " ", inline(option.explanation))
        explained = element("p", *text, class_=look, hidden=letter != chosen)
        return element("div", label, explained)

    legend = element("legend", f"{number}. ", inline(question.text))
    options = (line(*item) for item in question.by_letter.items())
    # A form each: radio buttons are a group within their form, whatever else is on the page.
    return element("form", element("fieldset", legend, *options))


def sheet(
    questions: Sequence[Question],
    answers: Mapping[int, str] = MappingProxyType({}),
    announcement: str = "",
    *,
    only: int | None = None,
    folded: bool = False,
) -> Markup:
    """Write a form per question and, below them, how far the learner is.

    Args:
        questions: all of them.
        answers: the letter chosen, by number of the question (from 1).
        announcement: what only a screen reader says.
        only: the number of the one question that is shown, with buttons for the others.
        folded: write every explanation, hidden but for those of ``answers``; a page that has no
            Python beside it unfolds them (``web/site/static/quiz.js``).
    """
    spoken = element("span", announcement, " ", class_="spoken")
    far = progress(len(questions), len(answers), score(questions, answers))
    buttons = [button("Start over", "restart", aria_disabled=not answers or None)]
    if only is not None and len(questions) > 1:
        buttons += [
            button(
                label,
                "turn",
                data_with_question=number,
                aria_disabled=not 0 < number <= len(questions) or None,
            )
            for label, number in (("Previous", only - 1), ("Next", only + 1))
        ]
    return element(
        "div",
        *(
            form(number, question, answers.get(number, ""), folded=folded)
            for number, question in enumerate(questions, start=1)
            if only in (None, number)
        ),
        element("p", spoken, far, role="status", class_="status"),
        element("div", *buttons, class_="row"),
        class_="quiz",
    )


class Quiz(View):
    """Questions with one right answer each; every choice is explained at once.

    Args:
        questions: the name of a lesson, such as ``"the_loss"``, or questions of your own.

    Raises:
        ValueError: there are no such questions.
    """

    def __init__(self, questions: str | Sequence[Question]) -> None:
        known = questions_of(questions) if isinstance(questions, str) else questions
        self.questions = tuple(known)
        self.answers: dict[int, str] = {}
        """The letter chosen last, by number of the question (from 1)."""
        self.at = 1
        """The number of the question that a lecture hall sees."""
        self.announcement = ""
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        far = f"{len(self.answers)} answered, {self.score} right"
        return f"Quiz({counted(len(self.questions), 'question')}, {far})"

    @property
    def score(self) -> int:
        """How many of the answers are right as they stand."""
        return score(self.questions, self.answers)

    def markup(self) -> Markup:
        """Write a form per question, in a lecture hall for one, and how far the learner is."""
        only = self.at if self.present else None
        return sheet(self.questions, self.answers, self.announcement, only=only)

    def do_choose(self, question: object, value: object) -> None:
        """Choose an option and hear why it is right or wrong; any other may be tried after it."""
        number = self._number(question)
        by_letter = self.questions[number - 1].by_letter
        if str(value) not in by_letter:
            known = ", ".join(by_letter)
            raise ValueError(f"The options of question {number} are {known}, not {value}.")
        self.answers[number] = letter = str(value)
        option = by_letter[letter]
        said = f"{option.verdict} {inline(option.explanation).striptags()}"
        self.announcement = f"Question {number}, ({letter}): {said}"

    def do_turn(self, question: object) -> None:
        """Go to another question, where one is shown at a time."""
        self.at = self._number(question)
        self.announcement = f"Question {self.at} of {len(self.questions)}."

    def do_restart(self) -> None:
        """Forget all answers."""
        self.answers.clear()
        self.at = 1
        self.announcement = "All answers are cleared."

    def _number(self, sent: object) -> int:
        """Read the number of a question, which a browser sends as text."""
        numbers = {str(n): n for n in range(1, len(self.questions) + 1)}
        if str(sent) not in numbers:
            raise ValueError(
                f"The questions are numbered from 1 to {len(numbers)}; there is no {sent}."
            )
        return numbers[str(sent)]
