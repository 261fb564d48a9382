"""The questions for Moodle, read back: options, verdicts, explanations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cloze.teaching.quiz import QuizQuestion, inline, parse_quiz
from lecture.quizzes import gift, lessons, main

Read = tuple[str, list[tuple[str, bool, str]]]
"""A question's text, and its options with verdict and explanation, all in HTML."""

AWKWARD = parse_quiz(
    "## What is {a: 1} = ~b # `x \\ y` & <c>?\n\n- [x] `{}`: *yes* #1\n\n  Since 1 ~ 2.\n\n"
    "- [ ] =no\n\n  A \\ is a \\.\n"
)


def as_read(question: QuizQuestion) -> Read:
    return str(inline(question.text)), [
        (str(inline(each.text)), each.right, str(inline(each.explanation)))
        for each in question.options
    ]


def from_gift(text: str) -> list[Read]:
    """Read GIFT as Moodle does, which first puts aside every character after a backslash."""
    text = re.sub(r"\\([\\~=#{}:])", lambda match: f"\0{ord(match[1])}\0", text)
    questions = []
    for part in re.split(r"\n\s*\n", text):
        if match := re.fullmatch(r"\s*::[^:]+::\[html\]([^{]*)\{([^}]*)\}\s*", part):
            options = re.findall(r"([=~])([^=~#]*)#([^=~#]*)\n", match[2])
            put_back = [
                re.sub("\0(\\d+)\0", lambda code: chr(int(code[1])), each)
                for each in [match[1], *(each for option in options for each in option)]
            ]
            signs, texts, explanations = (put_back[i::3] for i in (1, 2, 3))
            right = [sign == "=" for sign in signs]
            questions.append((put_back[0], [*zip(texts, right, explanations, strict=True)]))
    return questions


def test_gift_holds_every_question() -> None:
    quizzes = {**lessons(), "awkward": AWKWARD}
    expected = [as_read(question) for questions in quizzes.values() for question in questions]
    assert from_gift(gift(quizzes)) == expected
    assert len(expected) > 80


def test_the_command_writes_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.gift"
    main([str(path)])
    assert path.read_text(encoding="utf-8") == gift(lessons())
    assert capsys.readouterr().out.startswith(f"{path}: ")
    with pytest.raises(SystemExit, match="cannot be written: Is a directory"):
        main([str(tmp_path)])
