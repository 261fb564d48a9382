"""Every exercise accepts its solution, and gives every mistake its own sentence."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap
from itertools import combinations, groupby
from pathlib import Path

import pytest

import cloze.lessons
from cloze.teaching.exercise import SEEDS
from cloze.teaching.mistakes import as_function, mistakes_of, parse_mistakes, place_of
from tests.lessons.answers import answers, by_learner, exercises

EXERCISES = exercises()
ANSWERS = {
    name: list(given) for name, given in groupby(sorted(answers(), key=str), lambda a: a.exercise)
}
FILES = {path.parent.name: path for path in Path(cloze.lessons.__path__[0]).glob("*/mistakes.md")}

each_exercise = pytest.mark.parametrize("name", EXERCISES)


@each_exercise
def test_a_solution_is_accepted_and_an_empty_cell_is_not(name: str) -> None:
    exercise = EXERCISES[name]
    verdict = exercise(by_learner(exercise.solution))
    assert verdict.message.startswith("Correct. ")
    assert verdict.message.endswith(exercise.solved)
    assert exercise(...).message.startswith("Not yet. Replace the ...")
    if callable(exercise.solution):
        assert exercise(lambda *_: None).message.startswith("Not yet. Your function returns")


@each_exercise
def test_every_seed_tells_the_solution_and_all_mistakes_apart(name: str) -> None:
    exercise = EXERCISES[name]
    for seed in SEEDS if exercise.probes else ():
        probes = exercise.drawn(seed)
        results = {"the solution": exercise.outcomes(exercise.solution, probes)}
        results |= exercise.known(probes)
        alike = [f"{a} = {b}" for a, b in combinations(results, 2) if results[a] == results[b]]
        assert not alike, f"With seed {seed}; find better probes, or drop a mistake."


@each_exercise
def test_every_mistake_gets_its_own_sentence(name: str) -> None:
    for symptom, wrong in mistakes_of(EXERCISES[name]).items():
        verdict = EXERCISES[name](wrong)
        assert not verdict.solved
        assert symptom in verdict.message
        assert len(verdict.message.split()) <= 60, verdict
        assert "NameError" not in verdict.message


@each_exercise
def test_what_has_the_wrong_form_is_refused_in_a_sentence(name: str) -> None:
    for odd in (3, math.inf, "abc", "", [], ("a",), ("a", 1), [2, "b"], {"a": 1}, {"a": ["b"]}):
        verdict = EXERCISES[name](odd)
        assert not verdict.solved
        assert 3 <= len(verdict.message.split()) <= 60, verdict


@pytest.mark.parametrize("name", ANSWERS)
def test_learners_answers_are_told_apart(name: str) -> None:
    for answer in ANSWERS[name]:
        verdict = EXERCISES[name](answer.value())
        assert verdict.solved == answer.right, f"{answer}: {verdict}"
        assert verdict.solved or len(verdict.message.split()) <= 60, verdict


# ── mistakes.md ──


def test_code_of_mistakes_is_written_like_all_other_code(tmp_path: Path) -> None:
    for lesson, path in FILES.items():
        for exercise, known in parse_mistakes(path.read_text("utf-8")).items():
            solution = EXERCISES[exercise].solution
            written = [
                as_function(code, solution) if callable(solution) else textwrap.dedent(code)
                for code in known.values()
            ]
            (tmp_path / f"{lesson}_{exercise}.py").write_text("\n\n".join(written), "utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--line-length=100"]
    rules = ["--select=E,W,F,UP", "--ignore=E303,E305,E402,E741,F811,F821"]
    done = subprocess.run([*ruff, *rules, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_heading_names_an_exercise_of_its_lesson() -> None:
    for lesson, path in FILES.items():
        headings = list(parse_mistakes(path.read_text("utf-8")))
        places = map(place_of, EXERCISES.values())
        assert headings == [
            name
            for module, name in places
            if module == f"cloze.lessons.{lesson}.checks" and name in headings
        ]


def test_a_line_that_is_no_mistake_is_named() -> None:
    with pytest.raises(ValueError, match=r"Line 5, 'Because\.', belongs to no mistake"):
        parse_mistakes("# n\n\n## Too many.\n\nBecause.\n")


def test_a_mistake_must_run_and_name_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for code, words in (
        ("    return (\n", "does not run: SyntaxError"),
        ("`M` → `range(len(x))` in line 2\n", "`M` occurs 0 times in the solution"),
        ("`i` → `j`\n", r"`i` occurs \d times in the solution"),
    ):
        monkeypatch.setattr(
            "cloze.teaching.mistakes.parse_mistakes", lambda _, c=code: {"summed_loss": {"X.": c}}
        )
        with pytest.raises(ValueError, match=f"^mistakes.md of cloze.lessons.the_loss: .*{words}"):
            mistakes_of.__wrapped__(EXERCISES["summed_loss"])


def test_a_right_answer_reads_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = EXERCISES["summed_loss"]
    monkeypatch.setattr("cloze.teaching.exercise.mistakes_of", lambda _: 1 / 0)
    assert exercise(by_learner(exercise.solution)).solved
    with pytest.raises(ZeroDivisionError):
        exercise(lambda table, text, chosen: len(table) + len(text) + len(chosen))
