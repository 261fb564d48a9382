"""Every exercise of every lesson accepts its solution and tells every mistake its symptom."""

from __future__ import annotations

from typing import Any

import pytest

from cloze.teaching.exercise import Exercise
from tests.lessons.answers import Answer, answers, exercises

EXERCISES = exercises()
MISTAKES = [
    pytest.param(exercise, symptom, wrong, id=f"{name}: {symptom[:60]}")
    for name, exercise in EXERCISES.items()
    for symptom, wrong in exercise.mistakes.items()
]


@pytest.mark.parametrize("name", EXERCISES)
def test_a_solution_is_accepted_and_an_empty_cell_is_not(name: str) -> None:
    exercise = EXERCISES[name]
    for _ in range(3):  # the probes are new each time
        assert exercise(exercise.solution) == exercise(exercise.solution)
        assert exercise(exercise.solution).message.startswith("Correct. ")
        assert exercise(exercise.solution).message.endswith(exercise.solved)
    assert exercise(...).message.startswith("Not yet. Replace the ...")
    if callable(exercise.solution):
        assert exercise(lambda *_: None).message.startswith("Not yet. Your function returns")


@pytest.mark.parametrize(("exercise", "symptom", "wrong"), MISTAKES)
def test_a_mistake_is_told_its_own_symptom(exercise: Exercise, symptom: str, wrong: Any) -> None:
    verdict = exercise(wrong)
    assert not verdict.solved
    assert symptom in verdict.message


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_learners_answers_are_told_apart(answer: Answer) -> None:
    assert EXERCISES[answer.exercise](answer.value()).solved == answer.right
