"""The exercise of notebook 00."""

from __future__ import annotations

import random

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, number


def count_gaps(line: str) -> int:
    """Count the gaps of a line: its characters ``_``."""
    return line.count("_")


def lines(chance: random.Random) -> list[Probe]:
    """Make lines with gaps apart, gaps that touch, at the ends, and without any."""
    drawn = ["".join(chance.choices("abcde __", k=chance.randint(12, 30))) for _ in range(4)]
    fixed = [
        "the very qu_ck br_wn f_x",
        "tw__ w_rd",
        "_t the end_",
        "st_p_",
        "_nd then",
        "no gap here",
        "_",
        "",
    ]
    return [(line,) for line in fixed + drawn]


check_count_gaps = Exercise(
    solution=count_gaps,
    wants=number,
    probes=lines,
    solved="The number of gaps is |M|, the size of the set M that you meet in notebook 01.",
    direction="Count the characters of `line` that are equal to '_'.",
    mistakes=Mistakes(__name__, "count_gaps"),
)
"""Mark ``count_gaps(line)``: how many characters of a line are gaps."""
