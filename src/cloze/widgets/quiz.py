"""The checkpoint questions of a lesson as a form that answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from cloze.arguments import shown, whole_number
from cloze.teaching.quiz import Option, Question, inline, questions_of
from cloze.vocabulary import counted
from cloze.widgets.view import View, button, element


class Quiz(View):
    """Questions with one right answer each; every choice is explained at once.

    Args:
        questions: the name of a lesson, such as ``"the_loss"``, or questions of your own.

    Raises:
        ValueError: there are no such questions.
    """

    def __init__(self, questions: str | Sequence[Question]) -> None:
        known = questions_of(questions) if isinstance(questions, str) else questions
        self.questions = tuple(known) if isinstance(known, Iterable) else ()
        if not self.questions or not all(isinstance(each, Question) for each in self.questions):
            raise ValueError(
                "A quiz is the name of a lesson, such as 'the_loss', or a list of questions, not "
                f"{shown(questions)}."
            )
        self.answers: dict[int, str] = {}
        """The letter chosen last, by number of the question (from 1)."""
        self.at = 1
        """The number of the question that a lecture hall sees."""
        self.announcement = ""
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        return f"Quiz({counted(len(self.questions), 'question')}, {self._progress()})"

    @property
    def score(self) -> int:
        """How many of the answers are right as they stand."""
        return sum(self.questions[n - 1].by_letter[a].right for n, a in self.answers.items())

    def _progress(self) -> str:
        return f"{len(self.answers)} answered, {self.score} right"

    def markup(self) -> Markup:
        """Write a form per question, in a lecture hall for one, and how far the learner is."""
        numbers = [self.at] if self.present else range(1, len(self.questions) + 1)
        spoken = element("span", self.announcement, " ", class_="spoken")
        progress = f"{counted(len(self.questions), 'question')}: {self._progress()}."
        return element(
            "div",
            *map(self._form, numbers),
            element("p", spoken, progress, role="status", class_="status"),
            self._buttons(),
            class_="quiz",
        )

    def _buttons(self) -> Markup:
        buttons = [button("Start over", "restart", aria_disabled=not self.answers or None)]
        if self.present and len(self.questions) > 1:
            steps = {"Previous": self.at - 1, "Next": self.at + 1}
            buttons += [
                button(
                    label,
                    "turn",
                    data_with_question=number,
                    aria_disabled=not 0 < number <= len(self.questions) or None,
                )
                for label, number in steps.items()
            ]
        return element("div", *buttons, class_="row")

    def _form(self, number: int) -> Markup:
        question = self.questions[number - 1]
        options = (self._option(number, *item) for item in question.by_letter.items())
        legend = element("legend", f"{number}. ", inline(question.text))
        # A form each: radio buttons are a group within their form, whatever else is on the page.
        return element("form", element("fieldset", legend, *options))

    def _option(self, number: int, letter: str, option: Option) -> Markup:
        chosen = self.answers.get(number) == letter
        radio = element(
            "input",
            type="radio",
            name=f"question-{number}",
            value=letter,
            checked=chosen,
            data_do="choose",
            data_with_question=number,
        )
        label = element("label", radio, element("span", f"({letter}) ", inline(option.text)))
        if not chosen:
            return element("div", label)
        sign = element("b", "✓ " if option.right else "✗ ", option.verdict)
        look = "explanation right" if option.right else "explanation wrong"
        explained = element("p", sign, " ", inline(option.explanation), class_=look)
        return element("div", label, explained)

    def do_choose(self, question: object, value: object) -> None:
        """Choose an option and hear why it is right or wrong; any other may be tried after it."""
        number = whole_number(question, 1, len(self.questions), "The question")
        by_letter = self.questions[number - 1].by_letter
        if str(value) not in by_letter:
            known = ", ".join(by_letter)
            raise ValueError(f"The options of question {number} are {known}, not {shown(value)}.")
        self.answers[number] = letter = str(value)
        option = by_letter[letter]
        said = f"{option.verdict} {inline(option.explanation).striptags()}"
        self.announcement = f"Question {number}, ({letter}): {said}"

    def do_turn(self, question: object) -> None:
        """Go to another question, where one is shown at a time."""
        self.at = whole_number(question, 1, len(self.questions), "The question")
        self.announcement = f"Question {self.at} of {len(self.questions)}."

    def do_restart(self) -> None:
        """Forget all answers."""
        self.answers.clear()
        self.at = 1
        self.announcement = "All answers are cleared."
