"""Find the seeds from which checks draw their probes: ``seeds.json`` beside those of each lesson.

A check that draws its probes may by chance draw some for which a wrong answer is right, or for
which two mistakes look alike. So each exercise has a list of seeds that do not: with each of them
the solution and every mistake give results of their own. After a change to a mistake, to probes or
to a solution, run::

    python -m cloze.teaching.seeds                # for all lessons
    python -m cloze.teaching.seeds the_loss       # for one
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from importlib.resources import files
from itertools import filterfalse, islice
from pathlib import Path

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import parse_mistakes

HOW_MANY = 8
"""Seeds of each exercise: its check has so many different sets of probes."""

AT_MOST = 40
"""Seeds that are tried; if more are needed, better probes are."""


def exercises_of(lesson: str) -> dict[str, Exercise]:
    """Return the exercises of a lesson by the names that their checks have without ``check_``."""
    checks = import_module(f"cloze.lessons.{lesson}.checks")
    return {
        name.removeprefix("check_"): value
        for name, value in vars(checks).items()
        if isinstance(value, Exercise)
    }


def find_seeds(exercise: Exercise) -> list[int]:
    """Find the first seeds whose probes tell the solution and all mistakes apart.

    Raises:
        ValueError: too few do, so the probes or the mistakes are at fault.
    """
    seeds = list(islice(filterfalse(exercise.look_alike, range(AT_MOST)), HOW_MANY))
    if len(seeds) < HOW_MANY:
        raise ValueError(
            f"Only {len(seeds)} of {AT_MOST} seeds tell the solution and all mistakes apart; keep "
            f"one of those that do the same; with seed 0: {' | '.join(exercise.look_alike(0))}"
        )
    return seeds


def hear(exercise: Exercise) -> None:
    """Hand every mistake in as a learner would, and listen to what is said of it.

    Raises:
        ValueError: a mistake is not told its own sentence, or uses a name that does not exist.
    """
    for sentence, wrong in exercise.mistakes.items():
        verdict = exercise(wrong)
        if verdict.solved or sentence not in verdict.message:
            raise ValueError(f"Of the mistake {sentence!r} something else is said: {verdict}")
        probes = exercise.probes(random.Random(0)) if exercise.probes else []  # noqa: S311
        for outcome in exercise.outcomes(wrong, probes):
            if isinstance(outcome.error, NameError):
                raise ValueError(f"The code under {sentence!r} does not run: {outcome.error}.")


def write_seeds(folder: Path) -> None:
    """Try all mistakes of a lesson, and write the seeds of its exercises.

    Raises:
        ValueError: a mistake or its place is at fault, or no seeds tell it apart.
    """
    exercises, kept = exercises_of(folder.name), {}
    headings = parse_mistakes((folder / "mistakes.md").read_text("utf-8"))
    if strange := headings.keys() - exercises.keys():
        raise ValueError(f"'# {strange.pop()}' in mistakes.md names no exercise of this lesson.")
    for name, exercise in exercises.items():
        if exercise.probes:
            kept[name] = find_seeds(exercise)
        hear(exercise)
        print(f"{folder.name}: {len(exercise.mistakes)} mistakes of {name} are told apart")
    lines = ",\n".join(f'  "{name}": {json.dumps(seeds)}' for name, seeds in kept.items())
    (folder / "seeds.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")


def folders_of_lessons() -> dict[str, Path]:
    """Return the folders of the lessons that have exercises, by name."""
    checks = sorted(Path(str(files("cloze"))).glob("lessons/*/checks.py"))
    return {path.parent.name: path.parent for path in checks}


def main(lessons: list[str]) -> None:
    """Write the seeds of some lessons, or of all."""
    folders = folders_of_lessons()
    for lesson in lessons or folders:
        if lesson not in folders:
            raise SystemExit(f"There is no lesson {lesson!r}; there are {', '.join(folders)}.")
        try:
            write_seeds(folders[lesson])
        except ValueError as error:
            raise SystemExit(f"{lesson}: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
