"""The quiz as a form: every control works, and what is no quiz is named."""

from hypothesis import given
from hypothesis import strategies as st

from cloze.teaching.quiz import Option, Question
from cloze.widgets import Quiz
from tests.markup import accessible_name, assert_usable, assert_works, read


def test_the_form_works() -> None:
    assert_works(lambda: Quiz("the_mask"))


def test_a_choice_is_explained_counted_and_spoken() -> None:
    quiz = Quiz("the_loss")
    assert repr(quiz) == "Quiz(5 questions, 0 answered, 0 right)"
    assert "✓" not in quiz.html
    assert "✗" not in quiz.html
    quiz.act("choose", question="1", value="b")
    page = assert_usable(quiz.html)
    [told] = page.select("p.explanation.wrong")
    assert told.get_text().startswith("✗ No. That is −log 0.1")
    [spoken] = page.select("[role=status]")
    assert spoken.get_text().startswith("Question 1, (b): No. That is −log 0.1")
    assert spoken.get_text().endswith("5 questions: 1 answered, 0 right.")
    quiz.act("choose", question="1", value="c")
    assert "✗" not in quiz.html
    quiz.act("choose", question="4", value="a")
    assert quiz.answers == {1: "c", 4: "a"}
    assert quiz.score == 1
    assert repr(quiz) == "Quiz(5 questions, 2 answered, 1 right)"


def test_starting_over_clears_everything() -> None:
    quiz = Quiz("start_here")
    assert not read(quiz.html).select("[checked]")
    quiz.act("choose", question=2, value="c")
    assert len(read(quiz.html).select("[checked]")) == 1
    quiz.act("restart")
    assert (quiz.answers, quiz.score) == ({}, 0)
    assert not read(quiz.html).select("[checked]")
    assert "All answers are cleared." in quiz.html


def test_every_question_is_a_group_of_its_own() -> None:
    forms = assert_usable(Quiz("the_encoder").html).select("form")
    assert len(forms) == 5
    for number, form in enumerate(forms, start=1):
        [legend] = form.select("fieldset > legend")
        assert legend.get_text().startswith(f"{number}. ")
        radios = form.select('input[type="radio"][data-do="choose"]')
        assert {radio["name"] for radio in radios} == {f"question-{number}"}
        assert [radio["value"] for radio in radios] == list("abc")
        assert len({accessible_name(radio) for radio in radios}) == 3


@given(st.text(min_size=1), st.text(), st.text())
def test_questions_of_your_own_are_never_markup(text: str, one: str, other: str) -> None:
    options = Option(one, True, other), Option(other, False, one)
    quiz = Quiz([Question(text, options)])
    names = {tag.name for tag in assert_usable(quiz.html).select("*")}
    quiz.act("choose", question=1, value="a")
    now = {tag.name for tag in assert_usable(quiz.html).select("*")}
    assert now - names <= {"p", "b", "code", "em"}
