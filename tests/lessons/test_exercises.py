"""Every exercise of every lesson accepts its solution and tells every mistake its symptom."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import pytest

from cloze.teaching.exercise import Exercise, Outcomes
from cloze.teaching.results import Probe
from tests.lessons.answers import Answer, answers, exercises

EXERCISES = exercises()
MISTAKES = [
    pytest.param(name, symptom, wrong, id=f"{name}: {symptom[:60]}")
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


@dataclass(frozen=True)
class Remembering(Exercise):
    """An exercise that runs its mistakes once for the same probes, not once for every answer."""

    remembered: dict[tuple[int, ...], dict[str, Outcomes]] = field(default_factory=dict)

    def _known(self, probes: Sequence[Probe]) -> dict[str, Outcomes]:
        key = tuple(map(id, probes))
        if key not in self.remembered:
            self.remembered[key] = super()._known(probes)
        return self.remembered[key]


@cache
def with_probes_drawn(name: str) -> Exercise:
    """Draw the probes of an exercise, for all answers to it."""
    exercise = EXERCISES[name]
    parts = {part.name: getattr(exercise, part.name) for part in fields(exercise)}
    if exercise.probes:
        probes = exercise.probes(random.Random())
        parts["probes"] = lambda _: probes
    return Remembering(**parts)


@pytest.mark.parametrize(("name", "symptom", "wrong"), MISTAKES)
def test_a_mistake_is_told_its_own_symptom(name: str, symptom: str, wrong: Any) -> None:
    verdict = with_probes_drawn(name)(wrong)
    assert not verdict.solved
    assert symptom in verdict.message


@pytest.mark.parametrize("answer", answers(), ids=str)
def test_learners_answers_are_told_apart(answer: Answer) -> None:
    assert with_probes_drawn(answer.exercise)(answer.value()).solved == answer.right
