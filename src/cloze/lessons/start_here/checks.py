"""The exercises of notebook 00."""

from __future__ import annotations

import re
from typing import Any

from cloze.prediction.lines import fill
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number
from cloze.vocabulary import GAP, counted, normalise

# ── 0.1 ──────────────────────────────────────────────────────────────────────────────────────────


def count_gaps(line: str) -> int:
    """Count the gaps of a line: its characters ``_``."""
    return line.count("_")


def lines(chance: Chance) -> Probes:
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
    minutes=4,
    wants=number,
    probes=lines,
    solved="The number of gaps is |M|, the size of the set M that you meet in notebook 01.",
    direction="Count the characters of `line` that are equal to '_'.",
)
"""Mark ``count_gaps(line)``: how many characters of a line are gaps."""

# ── 0.2 ──────────────────────────────────────────────────────────────────────────────────────────

SHOWN = "what has lost all its vowels"
"""The notebook's line; a message should be the learner's own."""

WORDS, VOWELS = 5, 7
"""How many different words and how many vowels a message has at least."""


def _judge_message(answer: Any) -> str:
    """Take the vowels out of a line, and let the model put them back."""
    if not isinstance(answer, str):
        raise Symptom(f"You hand in {kind_of(answer)}. Write one line of text, in quotes.")
    line = " ".join(normalise(answer, keep=GAP).text.split())
    if GAP in line:
        raise Symptom("Write the line in full. The check takes out its vowels.")
    if line == SHOWN:
        raise Symptom("That is the notebook's line. Write one of your own.")
    words, vowels = {*line.split()}, len(re.findall("[aeiou]", line))
    if len(words) < WORDS or vowels < VOWELS:
        raise Symptom(
            f"Your line has {counted(len(words), 'different word')} and {counted(vowels, 'vowel')}."
            f" Write at least {WORDS} and {VOWELS}."
        )
    message = re.sub("[aeiou]", GAP, line)
    restored = fill(message).text
    for word in re.finditer(r"\S+", line):
        if (instead := restored[slice(*word.span())]) != word[0]:
            raise Symptom(
                f"{message} becomes: {restored}. For {message[slice(*word.span())]} the model "
                f"chooses {instead!r}, and you meant {word[0]!r}. Does the rest of the line tell "
                "them apart? Change the words around it, or take a word with more consonants."
            )
    return f"{message} becomes: {restored}."


check_message = Exercise(
    solution="look behind the door and say nothing",
    minutes=6,
    solved="All vowels are back. Now send the line without them to a friend.",
    judge=_judge_message,
)
"""Mark a line that the model can read without its vowels."""
