"""The questions for learning platforms, read back: options, verdicts, explanations."""

from __future__ import annotations

import html
import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cloze.teaching.quiz import Question, inline, parse_quiz
from lecture.quizzes import QTI, gift, lessons, main

Read = tuple[str, list[tuple[str, bool, str]]]
"""A question's text, and its options with verdict and explanation, all in HTML."""

AWKWARD = parse_quiz(
    "## What is {a: 1} = ~b # `x \\ y` & <c>?\n\n- [x] `{}`: *yes* #1\n\n  Since 1 ~ 2.\n\n"
    "- [ ] =no\n\n  A \\ is a \\.\n"
)


def as_read(question: Question) -> Read:
    return str(inline(question.text)), [
        (str(inline(each.text)), each.right, str(inline(each.explanation)))
        for each in question.options
    ]


def from_gift(text: str) -> list[Read]:
    """Read GIFT: signs with a backslash are put aside first, as Moodle does it."""
    text = re.sub(r"\\([\\~=#{}:])", lambda match: f"\0{ord(match[1])}\0", text)
    found = []
    for part in re.split(r"\n\s*\n", text):
        if match := re.fullmatch(r"\s*::[^:]+::\[html\]([^{]*)\{([^}]*)\}\s*", part):
            options = re.findall(r"([=~])([^=~#]*)#([^=~#]*)\n", match[2])
            put_back = [
                re.sub("\0(\\d+)\0", lambda code: chr(int(code[1])), each)
                for each in [match[1], *(each for option in options for each in option)]
            ]
            signs, texts, told = (put_back[i::3] for i in (1, 2, 3))
            rights = [sign == "=" for sign in signs]
            found.append((put_back[0], [*zip(texts, rights, told, strict=True)]))
    return found


def from_qti(data: bytes) -> list[Read]:
    def tag(name: str) -> str:
        return f".//{{{QTI}}}{name}"

    found = []
    for item in ET.fromstring(data).iterfind(tag("item")):
        worth = {
            str(each.findtext(tag("varequal"))): each.findtext(tag("setvar")) == "100"
            for each in item.iterfind(tag("respcondition"))
        }
        told = {
            str(each.findtext(tag("varequal"))): each.find(tag("displayfeedback")).get("linkrefid")  # type: ignore[union-attr]
            for each in item.iterfind(tag("respcondition"))
        }
        why = {
            each.get("ident"): str(each.findtext(tag("mattext")))
            for each in item.iterfind(tag("itemfeedback"))
        }
        labels = {
            str(each.get("ident")): str(each.findtext(tag("mattext")))
            for each in item.iterfind(tag("response_label"))
        }
        options = [(text, worth[letter], why[told[letter]]) for letter, text in labels.items()]
        found.append((str(item.findtext(f"{tag('presentation')}//{{{QTI}}}mattext")), options))
    return found


def test_gift_says_what_the_quizzes_say() -> None:
    quizzes = {**lessons(), "awkward": AWKWARD}
    asked = [as_read(question) for questions in quizzes.values() for question in questions]
    assert from_gift(gift(quizzes)) == asked
    assert len(asked) > 80


def test_another_library_reads_the_gift() -> None:
    parser = pytest.importorskip("pygiftparser.parser")
    quizzes = lessons()
    read = parser.parseFile(io.StringIO(gift(quizzes)))
    asked = [question for questions in quizzes.values() for question in questions]
    for question, own in zip(read, asked, strict=True):
        assert question.valid
        assert [each.fraction == 100 for each in question.answers.answers] == [
            option.right for option in own.options
        ]
        told = [
            html.unescape(re.sub(r"\\(.)", r"\1", each.feedback))
            for each in question.answers.answers
        ]
        assert told == [html.unescape(str(inline(option.explanation))) for option in own.options]


def test_qti_says_what_the_quizzes_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    before = (tmp_path / "cloze_qti.zip").read_bytes()
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / "cloze_qti.zip").read_bytes() == before
    quizzes = lessons()
    assert f"questions of {len(quizzes)} lessons" in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "cloze_qti.zip") as package:
        resources = ET.fromstring(package.read("imsmanifest.xml")).iterfind(".//{*}file")
        files = [str(each.get("href")) for each in resources]
        assert {"imsmanifest.xml", *files} == {*package.namelist()}
        for file, questions in zip(files, quizzes.values(), strict=True):
            assert from_qti(package.read(file)) == [as_read(question) for question in questions]


def test_it_refuses_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main([str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.endswith("cannot be written: File exists.\n")
    assert main(["--help"]) == 2
