"""Export all checkpoint questions to Moodle, with the explanation of every option.

``python -m lecture.quizzes [FILE]`` writes ``cloze.gift``, where each lesson is a category of
Moodle's question bank. Texts are HTML, which is all that the questions need: their formulas are
plain text.

Source: https://docs.moodle.org/en/GIFT_format
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloze.teaching.quiz import QuizQuestion, inline, questions_of

ROOT = Path(__file__).resolve().parents[1]
SPECIAL = re.compile(r"([\\~=#{}:])")
"""Characters that need a backslash in GIFT."""


def lessons() -> dict[str, tuple[QuizQuestion, ...]]:
    """Return the questions of every lesson in the order of the series, by its title."""
    quizzes = {"The series": questions_of("the_series")}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        number, _, lesson = path.stem.partition("_")
        title = f"{number} {lesson.replace('_', ' ').capitalize()}"
        quizzes[title] = questions_of(lesson)
    return quizzes


def escaped(text: str) -> str:
    """Write a text of a question as HTML, escaped for GIFT."""
    return SPECIAL.sub(r"\\\1", str(inline(text)))


def gift(quizzes: Mapping[str, Sequence[QuizQuestion]]) -> str:
    """Write questions for Moodle: ``=`` before the right option, ``~`` before the others."""
    parts = []
    for title, questions in quizzes.items():
        parts.append(f"$CATEGORY: Cloze/{title}\n")
        for number, question in enumerate(questions, start=1):
            options = "".join(
                f"\t{'=' if option.right else '~'}{escaped(option.text)}"
                f"#{escaped(option.explanation)}\n"
                for option in question.options
            )
            name = SPECIAL.sub(r"\\\1", f"{title}, question {number}")
            parts.append(f"::{name}::[html]{escaped(question.text)}{{\n{options}}}\n")
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> None:
    """Write the file, by default ``cloze.gift``."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        sys.exit("usage: python -m lecture.quizzes [FILE]")
    path, quizzes = Path(*arguments or ["cloze.gift"]), lessons()
    try:
        path.write_text(gift(quizzes), encoding="utf-8")
    except OSError as error:
        sys.exit(f"{path} cannot be written: {error.strerror or error}.")
    print(f"{path}: {sum(map(len, quizzes.values()))} questions of {len(quizzes)} lessons")


if __name__ == "__main__":
    main(sys.argv[1:])
