"""How long a notebook takes: ``python -m notebooks.minutes`` counts it and writes it down.

It is stated in three files: the notebook itself, the README and INSTRUCTORS.md.

Prose and printed output are read at 200 words a minute and code at 8 lines a minute. The minutes of
an exercise stand beside its reference solution; they are a reader's estimate of what a beginner
takes. What is folded away is for the curious: its words are shown apart and are not in the minutes,
and neither is code that JupyterLab folds, such as imports.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import nbformat

from cloze.teaching.exercise import Exercise

NOTEBOOKS = Path(__file__).resolve().parent
ROOT = NOTEBOOKS.parent
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 8
STATED = {
    "README.md": r"(\(notebooks/NAME\.ipynb\) \| .+ \| )\d+( \| )\d+( \|)",
    "INSTRUCTORS.md": (
        r"(\(notebooks/NAME\.ipynb\)\n\n\*\*Teaching\*\* )\d+( min · \*\*Exercises\*\* )\d+( min)"
    ),
    "notebooks/NAME.ipynb": (
        r"(\*\*Time\*\* about )\d+( minutes to read and run, )\d+( more for the exercises\.)"
    ),
}
"""By file, where the minutes of the notebook NAME are."""

FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """What there is to read and to do in one notebook."""

    words: int
    folded: int
    printed: int
    lines: int
    cells: int
    exercises: int
    working: int

    @property
    def minutes(self) -> float:
        """Count the minutes that reading the main path takes, without the exercises."""
        return (self.words + self.printed) / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE

    @property
    def stated(self) -> tuple[int, int]:
        """Round to five minutes, as the notebook states them: for reading, for the exercises."""
        reading, working = (5 * max(1, round(n / 5)) for n in (self.minutes, self.working))
        return reading, working


def exercises_of(lesson: str) -> dict[str, Exercise]:
    """Return the exercises of a lesson by the names that their checks have without ``check_``."""
    if not (files("cloze.lessons") / lesson / "checks.py").is_file():
        return {}
    checks = import_module(f"cloze.lessons.{lesson}.checks")
    return {
        name.removeprefix("check_"): value
        for name, value in vars(checks).items()
        if isinstance(value, Exercise)
    }


def reading(path: Path) -> Reading:
    """Count a committed notebook: its Markdown, its code, and what its cells print."""
    cells = nbformat.read(path, as_version=4).cells
    code = [
        cell
        for cell in cells
        if cell.cell_type == "code" and not cell.metadata.get("jupyter", {}).get("source_hidden")
    ]
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    exercises = exercises_of(path.stem[3:]).values()
    seen, all_words = len(FOLDED.sub("", prose).split()), len(prose.split())
    return Reading(
        words=seen,
        folded=all_words - seen,
        printed=sum(
            len(output.get("text", "").split()) for cell in code for output in cell.outputs
        ),
        lines=sum(
            bool(line.strip()) and not line.lstrip().startswith("#")
            for cell in code
            for line in cell.source.splitlines()
        ),
        cells=len(cells),
        exercises=len(exercises),
        working=sum(exercise.minutes for exercise in exercises),
    )


def restated(path: Path, stated: tuple[int, int]) -> dict[Path, str]:
    """Return the files that state the minutes of a notebook, with these minutes.

    Raises:
        ValueError: a file does not state them in just one place.
    """
    texts = {}
    for file, place in STATED.items():
        where = ROOT / file.replace("NAME", path.stem)
        new = rf"\g<1>{stated[0]}\g<2>{stated[1]}\g<3>"
        pattern = place.replace("NAME", path.stem)
        texts[where], times = re.subn(pattern, new, where.read_text(encoding="utf-8"))
        if times != 1:
            raise ValueError(f"{where.name} states the minutes of {path.stem} {times} times.")
    return texts


def main(paths: list[Path]) -> None:
    """Write the minutes of some notebooks; print a row for each of these, and their sum."""
    titles = ("words", "folded", "printed", "lines", "cells", "exercises", "minutes", "working")
    print(f"  {'notebook':<24}", *titles, " stated")
    sums = dict.fromkeys(titles, 0.0)
    for path in paths:
        one = reading(path)
        row = {title: getattr(one, title) for title in titles}
        sums = {title: sums[title] + row[title] for title in titles}
        print(f"  {path.stem:<24}", *cells(row), "  {} + {}".format(*one.stated))
        for file, text in restated(path, one.stated).items():
            file.write_text(text, encoding="utf-8")
    print(f"  {'all':<24}", *cells(sums))


def cells(row: dict[str, float]) -> list[str]:
    """Write the numbers of a row under their titles."""
    return [f"{value:{len(title)}.0f}" for title, value in row.items()]


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")))
