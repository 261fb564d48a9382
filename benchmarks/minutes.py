"""How long a notebook takes: ``python -m benchmarks.minutes`` counts it for all of them.

Prose and printed output are read at 200 words a minute, code at 20 lines a minute, and an exercise
takes three minutes with its hint and its solution. What is folded away is for the curious: its
words are shown apart and are not in the minutes.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 20
MINUTES_AN_EXERCISE = 3
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
EXERCISE = re.compile(r"^#+ Exercise \d", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """What there is to read and to do in one notebook."""

    words: int
    folded: int
    printed: int
    lines: int
    cells: int
    exercises: int

    @property
    def minutes(self) -> float:
        """Count the minutes of the main path."""
        words = self.words + self.printed
        working = MINUTES_AN_EXERCISE * self.exercises
        return words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE + working

    @property
    def stated(self) -> int:
        """Round up to the next five minutes, as the notebook states them."""
        return 5 * math.ceil(self.minutes / 5)


def reading(path: Path) -> Reading:
    """Count a committed notebook: its Markdown, its code, and what its cells print."""
    cells = nbformat.read(path, as_version=4).cells
    code = [
        cell
        for cell in cells
        if cell.cell_type == "code" and "colab" not in cell.metadata.get("tags", [])
    ]
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
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
        exercises=len(EXERCISE.findall(prose)),
    )


def main(paths: list[Path]) -> None:
    """Print a row for each notebook, and their sum."""
    print("  notebook                 words folded printed lines cells exercises minutes stated")
    found = [reading(path) for path in paths]
    for path, one in zip(paths, found, strict=True):
        print(
            f"  {path.stem:<24} {one.words:5} {one.folded:6} {one.printed:7} {one.lines:5} "
            f"{one.cells:5} {one.exercises:9} {one.minutes:7.1f} {one.stated:6}"
        )
    print(
        f"  {'all':<24} {sum(o.words for o in found):5} {sum(o.folded for o in found):6} "
        f"{sum(o.printed for o in found):7} {sum(o.lines for o in found):5} "
        f"{sum(o.cells for o in found):5} {sum(o.exercises for o in found):9} "
        f"{sum(o.minutes for o in found):7.1f} {sum(o.stated for o in found):6}"
    )


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")))
