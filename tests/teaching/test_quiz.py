"""The checkpoint questions, and the sheet with their answers."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze import lessons
from cloze.teaching.quiz import AnswerSheet, QuizQuestion, inline, questions_of
from cloze.vocabulary import ALPHABET
from cloze.widgets import Quiz
from tests.markup import read

QUESTIONS = {
    path.parent.name: questions_of(path.parent.name)
    for path in sorted(Path(lessons.__file__).parent.glob("*/quiz.md"))
}
ALL = [question for questions in QUESTIONS.values() for question in questions]
each_question = pytest.mark.parametrize("question", ALL, ids=lambda question: question.text[:40])
each_notebook = pytest.mark.parametrize("notebook", QUESTIONS)


# The questions


@each_question
def test_every_option_is_explained(question: QuizQuestion) -> None:
    assert sum(option.right for option in question.options) == 1
    explanations = [option.explanation for option in question.options]
    assert len(set(explanations)) == len({o.text for o in question.options}) == len(explanations)
    for explanation in explanations:
        assert re.fullmatch(r"(e⁰|[^a-z]).{10,}\.", explanation), explanation
        assert not explanation.startswith(("Yes", "No."))
    for text in (question.text, *explanations, *(option.text for option in question.options)):
        assert "$" not in text
        assert text.count("`") % 2 == text.count("*") % 2 == 0
        assert text == text.strip()


@each_notebook
def test_the_right_option_has_no_favourite_place(notebook: str) -> None:
    places = [[o.right for o in question.options].index(True) for question in QUESTIONS[notebook]]
    assert len(places) >= 4
    assert max(places.count(place) for place in places) <= max(3, len(places) // 2)
    assert len(set(places)) >= 2


def words(notebook: str, number: int) -> dict[str, str]:
    """Return texts and explanations of a question by letter."""
    by_letter = QUESTIONS[notebook][number - 1].by_letter
    return {letter: f"{option.text} {option.explanation}" for letter, option in by_letter.items()}


def test_the_numbers_in_the_answers_are_true() -> None:
    assert f"{3 * 0.005:.3f}" in words("start_here", 2)["a"]
    assert f"{len(ALPHABET) - 3} characters" in words("start_here", 2)["c"]
    sums = words("the_loss", 1)
    assert f"{0.1 * 0.1:.2f}" in sums["a"]
    assert f"{-math.log(0.1):.2f}" in sums["b"]
    assert f"{-2 * math.log(0.1):.2f}" in sums["c"]
    assert f"{-math.log(0.1):.3f}" in sums["c"]
    assert math.isclose(2 * math.log(0.1), math.log(1 / 100))
    assert f"{1 / math.log(2):.2f} bits" in words("the_loss", 4)["a"]
    assert f"= {1.4 * math.log(2):.2f} nats" in words("the_loss", 4)["b"]
    assert 1.4 * math.log(2) < 1.0
    assert f"{10 * 27 / 28:.2f}% and {10 + 10 / 28:.2f}%" in words("the_mask", 2)["a"]
    multiplied = words("the_mask", 3)
    assert f"{0.9 * 0.8:.0%}/10/{0.9 * 0.2:.0%}".replace("%", "") in multiplied["b"]
    assert math.isclose(0.9 * (0.8 / 0.9), 0.8)
    assert f"{0.9 * 0.9:.0%}" in multiplied["c"]
    assert f"{math.log(29):.2f}" in words("training", 1)["a"]
    assert f"{math.log(29):.2f}" in words("training", 2)["a"]
    assert f"{0.40 / 0.15:.1f} times" in words("training", 4)["c"]
    assert (
        f"{round(64 * 0.4)} answers per window instead of {round(64 * 0.15)}"
        in (words("training", 4)["c"])
    )


def test_an_unknown_lesson_is_named() -> None:
    with pytest.raises(ValueError, match="no lesson '77'"):
        Quiz("77")


def test_questions_are_found_by_their_first_words() -> None:
    first, second, *_ = QUESTIONS["the_loss"]
    beginnings = second.text[:12], first.text[:12]
    assert questions_of("the_loss", *beginnings) == (second, first)


def test_code_and_emphasis_are_the_only_markup() -> None:
    assert inline("a `b*c*` *d e* 3 * 4") == "a <code>b*c*</code> <em>d e</em> 3 * 4"
    assert inline("*<b>*`&`") == "<em>&lt;b&gt;</em><code>&amp;</code>"


@given(st.text(alphabet="ab<>&\"'`* "))
def test_no_text_becomes_other_markup(text: str) -> None:
    page = read(inline(text))
    assert {tag.name for tag in page.select("*")} <= {"code", "em"}
    assert re.sub(r"[`*\s]", "", page.get_text()) == re.sub(r"[`*\s]", "", text)


# The sheet


@each_notebook
def test_the_sheet_has_every_answer(notebook: str) -> None:
    sheet = AnswerSheet(notebook)
    plain, page = repr(sheet), read(sheet._repr_html_())
    [sheet_itself] = page.find_all(recursive=False)
    assert sheet_itself.name == "details"
    folded = [details.get_text() for details in sheet_itself.select("details")]
    assert len(folded) == len(QUESTIONS[notebook])
    for number, question in enumerate(QUESTIONS[notebook], start=1):
        assert f"{number}. {question.text}\n" in plain
        assert f"{number}. {inline(question.text).striptags()}" in page.get_text()
        for letter, option in question.by_letter.items():
            answer = f"{option.verdict} {inline(option.explanation).striptags()}"
            assert f"({letter}) {answer}" in folded[number - 1]
            assert f"({letter}) {inline(option.text).striptags()}" in page.get_text()
            told = f"{option.verdict} {option.explanation}\n"
            assert f"   ({letter}) {option.text}\n       {told}" in f"{plain}\n"
