"""The quiz by hand: a choice is explained, counted and spoken, and text stays text."""

from cloze.teaching.quiz import Option, QuizQuestion
from cloze.widgets import Quiz
from tests.browser.conftest import Take
from tests.markup import assert_usable, assert_works, read


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Quiz("the_mask")))


def test_a_choice_is_explained_counted_and_spoken(hand: Take) -> None:
    quiz = Quiz("the_loss")
    assert repr(quiz) == "Quiz(5 questions, 0 answered, 0 right)"
    driven = hand(quiz)
    assert "✓" not in driven.html
    assert "✗" not in driven.html
    driven.act("choose", question="1", value="b")
    page = assert_usable(driven.html)
    [told] = page.select("p.explanation.wrong")
    assert told.get_text().startswith("✗ No. That is −log 0.1")
    [spoken] = page.select("[role=status]")
    assert spoken.get_text().startswith("Question 1, (b): No. That is −log 0.1")
    assert spoken.get_text().endswith("5 questions: 1 answered, 0 right.")
    driven.act("choose", question="1", value="c")
    assert "✗" not in driven.html
    driven.act("choose", question="4", value="a")
    assert quiz.answers == {1: "c", 4: "a"}
    assert quiz.score == 1
    assert repr(quiz) == "Quiz(5 questions, 2 answered, 1 right)"
    assert len(read(driven.html).select("[checked]")) == 2
    driven.act("restart")
    assert (quiz.answers, quiz.score) == ({}, 0)
    assert not read(driven.html).select("[checked]")
    assert "All answers are cleared." in driven.html


def test_questions_of_your_own_are_never_markup(hand: Take) -> None:
    text = '<img src=x onerror="alert(1)"> & `<b>` *<i>*'
    quiz = Quiz([QuizQuestion(text, (Option(text, True, text), Option("b", False, text)))])
    driven = hand(quiz)
    driven.act("choose", question=1, value="a")
    page = assert_usable(driven.html)
    assert not page.select("img, i, code > b")
    plain = text.replace("`", "").replace("*", "")
    assert page.select("legend")[0].get_text() == f"1. {plain}"
    assert page.select("p.explanation")[0].get_text() == f"✓ Yes. {plain}"
    assert not read(str(quiz.still())).select("img, i")
