"""The exercise of notebook 00."""

from __future__ import annotations

import random

from cloze.teaching.exercise import Exercise
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


def _runs(line: str) -> int:
    return sum(a == "_" != b for a, b in zip(line, line[1:] + " ", strict=False))


check_count_gaps = Exercise(
    solution=count_gaps,
    wants=number,
    probes=lines,
    solved="The number of gaps is |M|, the size of the set M that notebook 01 begins with.",
    direction="Count the characters of `line` that are equal to '_'.",
    mistakes={
        "You say whether there is a gap; the question is how many there are.": (
            lambda line: "_" in line
        ),
        "You say 1 or 0, whether there is a gap; the question is how many there are (to count in a "
        "loop takes += 1, and not = 1 or = +1).": (lambda line: int("_" in line)),
        "You counted every character of the line; count only those equal to '_'.": len,
        "You counted the characters that are there; count the missing ones.": (
            lambda line: len(line) - line.count("_")
        ),
        "You counted the letters, which are there; count the missing ones, the '_'.": (
            lambda line: sum(c.isalpha() for c in line)
        ),
        "You counted the letters and the gaps; count only the characters equal to '_'.": (
            lambda line: len(line.replace(" ", ""))
        ),
        "You counted the spaces between the words; a gap is the character '_'.": (
            lambda line: line.count(" ")
        ),
        "You counted the spaces as well; a gap is the character '_' alone.": (
            lambda line: line.count("_") + line.count(" ")
        ),
        "You counted the words; count the gaps, the characters equal to '_'.": (
            lambda line: len(line.split())
        ),
        "You counted the words that have a gap; a word may have two, so count the characters.": (
            lambda line: sum("_" in word for word in line.split())
        ),
        "You counted the words without a gap; count the gaps themselves.": (
            lambda line: sum("_" not in word for word in line.split())
        ),
        "Gaps that touch are counted as one; every '_' is a gap of its own.": _runs,
        "You counted only gaps that touch, '__'; every single '_' is a gap.": (
            lambda line: line.count("__")
        ),
        "You count one too many: does your count start at 1 rather than 0, or do you count the "
        "parts that split('_') makes?": lambda line: len(line.split("_")),
        "You return where the first gap is; the question is how many there are.": (
            lambda line: line.find("_")
        ),
        "You return where the first gap is, and index raises an error where there is none; the "
        "question is how many gaps there are.": lambda line: line.index("_"),
        "You return where the last gap is; the question is how many there are.": (
            lambda line: line.rfind("_")
        ),
        "You return the list of the positions; its len is the number of gaps.": (
            lambda line: [i for i, c in enumerate(line) if c == "_"]
        ),
        "You return the list of the gaps; its len is their number.": (
            lambda line: [c for c in line if c == "_"]
        ),
        "You return the gaps themselves; their len is the number.": (
            lambda line: "".join(c for c in line if c == "_")
        ),
        "You return a list of True and False, one for each character; sum counts the True.": (
            lambda line: [c == "_" for c in line]
        ),
        "You return the line without its gaps; how much shorter is it?": (
            lambda line: line.replace("_", "")
        ),
        "You return the share of gaps in the line; do not divide by its length.": (
            lambda line: line.count("_") / len(line)
        ),
        "You counted how many different characters there are; count the '_'.": (
            lambda line: len(set(line))
        ),
        "Your count ends after the first character: is the `return` inside the loop?": (
            lambda line: int(line[:1] == "_")
        ),
        "Your count ends after the first character: is the `return` inside the loop? A line "
        "without characters then returns nothing.": lambda line: int(line[0] == "_"),
        "Only the last character counts: does the count begin anew, `= 0`, inside the loop, or is "
        "= where += should be?": (lambda line: int(line[-1:] == "_")),
        "Only the last character counts: does the count begin anew, `= 0`, inside the loop? A line "
        "without characters then has no count at all.": lambda line: int(line[-1] == "_"),
        "The first character is left out: positions count from 0.": (
            lambda line: line[1:].count("_")
        ),
        "The last character is left out: line[:-1] and range(len(line) - 1) end before it.": (
            lambda line: line[:-1].count("_")
        ),
        "Gaps at the ends of the line are left out: did you use strip?": (
            lambda line: line.strip("_").count("_")
        ),
        "You add up the positions of the gaps; add 1 for each.": (
            lambda line: sum(i for i, c in enumerate(line) if c == "_")
        ),
    },
)
"""Mark ``count_gaps(line)``: how many characters of a line are gaps."""
