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
import sys
from importlib import import_module
from importlib.resources import files
from itertools import filterfalse, islice
from pathlib import Path

from cloze.teaching.exercise import Exercise

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
    found = list(islice(filterfalse(exercise.look_alike, range(AT_MOST)), HOW_MANY))
    if len(found) < HOW_MANY:
        raise ValueError(
            f"Only {len(found)} of {AT_MOST} seeds tell the solution and all mistakes apart; "
            f"with seed 0 these look alike: {' | '.join(exercise.look_alike(0))}"
        )
    return found


def main(lessons: list[str]) -> None:
    """Write the seeds of some lessons, or of all."""
    folders = sorted(path.parent for path in Path(str(files("cloze"))).glob("lessons/*/checks.py"))
    for folder in folders:
        if lessons and folder.name not in lessons:
            continue
        found = {}
        for name, exercise in exercises_of(folder.name).items():
            if exercise.probes:
                try:
                    found[name] = find_seeds(exercise)
                except ValueError as error:
                    raise SystemExit(f"{folder.name}, {name}: {error}") from None
        lines = ",\n".join(f'  "{name}": {json.dumps(seeds)}' for name, seeds in found.items())
        (folder / "seeds.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
