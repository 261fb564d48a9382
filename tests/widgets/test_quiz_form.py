"""The form of a quiz as a widget: every control works, and what is no quiz is named."""

import pytest

from cloze.widgets import Quiz
from tests.markup import assert_works


def test_the_form_works() -> None:
    assert_works(lambda: Quiz("the_mask"))


@pytest.mark.parametrize("questions", [None, 5, [], ["the_loss"], {"the_loss": 1}, "x" * 100_000])
def test_what_is_no_quiz_is_named(questions: object) -> None:
    with pytest.raises(ValueError, match=r"A quiz is the name of a lesson|questions for the") as no:
        Quiz(questions)  # type: ignore[arg-type]
    assert len(str(no.value)) < 300


def test_an_answer_of_a_hundred_thousand_letters_is_not_repeated() -> None:
    quiz = Quiz("the_mask")
    quiz.act("choose", question=1, value="x" * 100_000)
    assert quiz.problem.startswith("The options of question 1 are")
    assert len(quiz.problem) < 200
