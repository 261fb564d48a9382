"""The checkpoint questions: each lesson ends with some, and every option has its explanation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup, escape


@dataclass(frozen=True)
class Option:
    """One possible answer.

    In all texts here `` `code` `` and ``*emphasis*`` are the only markup.
    """

    text: str
    right: bool
    explanation: str
    """Why it is right or wrong, without a "Yes." or "No." at the beginning."""

    @property
    def verdict(self) -> str:
        """The first word of the answer to this option."""
        return "Yes." if self.right else "No."


@dataclass(frozen=True)
class QuizQuestion:
    """A question with exactly one right answer."""

    text: str
    options: tuple[Option, ...]

    @property
    def by_letter(self) -> dict[str, Option]:
        """The options by letter, from a on."""
        return {chr(ord("a") + i): option for i, option in enumerate(self.options)}


def inline(text: str) -> Markup:
    """Write `` `code` `` and ``*emphasis*`` as HTML; everything else is escaped."""

    def tagged(match: re.Match[str]) -> str:
        tag = "code" if match[1] else "em"
        return f"<{tag}>{match[1] or match[2]}</{tag}>"

    return Markup(re.sub(r"`([^`]+)`|\*([^*\s][^*]*)\*", tagged, escape(text)))  # noqa: S704


class AnswerSheet:
    """The questions of a lesson with the explanation of every option.

    A static version of the quiz for when no kernel runs: as text, and as HTML, folded because the
    quiz itself is above it.

    Args:
        lesson: the name of its folder in ``cloze.lessons``, such as ``"the_loss"``.
    """

    def __init__(self, lesson: str) -> None:
        self.questions = questions_of(lesson)

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, start=1):
            lines += ["", f"{number}. {question.text}"]
            for letter, option in question.by_letter.items():
                lines += [f"   ({letter}) {option.text}"]
                lines += [f"       {option.verdict} {option.explanation}"]
        return "\n".join(lines[1:])

    def _repr_html_(self) -> str:
        questions = Markup("").join(map(self._in_html, range(1, len(self.questions) + 1)))
        summary = "The questions once more, with every answer explained"
        return str(Markup("<details><summary>{}</summary>{}</details>").format(summary, questions))

    def _in_html(self, number: int) -> Markup:
        question = self.questions[number - 1]
        options, answers = [], []
        for letter, option in question.by_letter.items():
            verdict = Markup("<b>{}</b>").format(option.verdict) if option.right else option.verdict
            options.append(Markup("<li>({}) {}</li>").format(letter, inline(option.text)))
            answers.append(
                Markup("<li>({}) {} {}</li>").format(letter, verdict, inline(option.explanation))
            )
        # The signs (a), (b) are written out, so the list needs none of its own.
        a_list = Markup('<ul style="list-style: none; margin: 4px 0; padding-left: 1.5em">{}</ul>')
        return Markup(
            "<p style='margin: 10px 0 0'><b>{0}.</b> {1}</p>{2}"
            "<details><summary>Answers to question {0}</summary>{3}</details>"
        ).format(
            number,
            inline(question.text),
            a_list.format(Markup("").join(options)),
            a_list.format(Markup("").join(answers)),
        )


def questions_of(lesson: str, *beginnings: str) -> tuple[QuizQuestion, ...]:
    """Return the checkpoint questions of a lesson, as its ``quiz.md`` holds them.

    Args:
        lesson: the name of its folder in ``cloze.lessons``, such as ``"the_loss"``.
        beginnings: the first words of each question that is wanted; by default all questions.

    Raises:
        ValueError: there is no such lesson, or its file is not in the form of a quiz.
    """
    text = files("cloze.lessons") / lesson / "quiz.md"
    if not text.is_file():
        raise ValueError(f"There is no lesson {lesson!r} with questions.")
    questions = parse_quiz(text.read_text(encoding="utf-8"))
    chosen = (q for words in beginnings for q in questions if q.text.startswith(words))
    return tuple(chosen) if beginnings else questions


def parse_quiz(text: str) -> tuple[QuizQuestion, ...]:
    """Read questions written in Markdown.

    A question is a heading of the second level. Its options follow as a list, ``- [x]`` before the
    right one and ``- [ ]`` before the others, each with its explanation as a paragraph below it.

    Raises:
        ValueError: a question is not in this form; the message says which.
    """
    before, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    if before.strip() or not parts:
        raise ValueError("A quiz begins with a question: a line that starts with '## '.")
    return tuple(map(_parse_question, parts))


def _parse_question(part: str) -> QuizQuestion:
    heading, _, rest = part.partition("\n")
    before, *items = re.split(r"^- \[([ x])\] ", rest, flags=re.MULTILINE)
    options = []
    for sign, item in zip(items[::2], items[1::2], strict=True):
        paragraphs = [" ".join(lines.split()) for lines in re.split(r"\n\s*\n", item.strip())]
        if len(paragraphs) != 2:
            raise ValueError(
                f"Each option of {heading!r} is one paragraph with its explanation as a second, "
                f"indented one below it; {paragraphs[0]!r} has {len(paragraphs)}."
            )
        options.append(Option(paragraphs[0], sign == "x", paragraphs[1]))
    if before.strip():
        raise ValueError(f"Between {heading!r} and its options stands {before.strip()!r}.")
    return QuizQuestion(heading.strip(), tuple(options))
