"""The exercises of notebook 08."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, is_number, number, unwrapped, wrong_kind

# ── 8.1 ──────────────────────────────────────────────────────────────────────────────────────────


def falling_rate(step: int, steps: int, first: float, last: float) -> float:
    """Return the rate of a step 0 … steps − 1 on a straight line from ``first`` to ``last``."""
    return first + (last - first) * step / (steps - 1)


def moments(chance: random.Random) -> list[Probe]:
    """Make steps at the beginning, in the middle and at the end, and rates that rise as well."""
    probes: list[Probe] = [(0, 11, 0.3, 0.15), (10, 11, 0.3, 0.15), (5, 11, 0.3, 0.15)]
    for _ in range(4):
        steps = chance.randint(20, 900)
        probes.append(
            (chance.randint(1, steps - 2), steps, chance.uniform(0.4, 0.9), chance.uniform(0, 0.3))
        )
    return probes


check_falling_rate = Exercise(
    solution=falling_rate,
    wants=number,
    probes=moments,
    solved="At first many questions per text, in the end much to be read.",
    direction="Begin at `first` and go the share step / (steps - 1) of the way to `last`.",
    mistakes=Mistakes(__name__, "falling_rate"),
)
"""Mark ``falling_rate(step, steps, first, last)``."""

# ── 8.2 ──────────────────────────────────────────────────────────────────────────────────────────

Scores = Sequence[float]


def area(typos: Scores, clean: Scores) -> float:
    """Return the share of pairs in which the typo has the higher score, ties counted half."""
    return sum((a > b) + 0.5 * (a == b) for a in typos for b in clean) / (len(typos) * len(clean))


def surprises(chance: random.Random) -> list[Probe]:
    """Make lists of scores of different lengths, with ties."""
    # The second, where the first typo wins one pair of five, tells it from the list as a whole.
    probes: list[Probe] = [
        ([5.0, 1.0], [0.5, 1.0, 3.0]),
        ([2.0, 3.5, 0.25], [1.0, 3.0, 2.5, 4.0, 3.75]),
    ]
    for typos, clean in ((4, 7), (3, 9), (6, 5), (5, 8)):
        one = [chance.choice([1.0, 2.0, 3.0, 4.0, chance.uniform(0, 6)]) for _ in range(typos)]
        other = [chance.choice([0.0, 1.0, 2.0, 3.0, chance.uniform(0, 4)]) for _ in range(clean)]
        probes.append(([*one, 2.0], [*other, 2.0]))
    return probes


check_area = Exercise(
    solution=area,
    wants=number,
    probes=surprises,
    solved="That is the area under the curve: 1 puts every typo before every clean character, and "
    "½ is what chance does. No threshold had to be chosen.",
    direction="Compare every typo with every clean character, and divide by the number of pairs.",
    mistakes=Mistakes(__name__, "area"),
)
"""Mark ``area(typos, clean)``."""

# ── 8.3 ──────────────────────────────────────────────────────────────────────────────────────────


def whole_words(text: str, chosen: set[int]) -> set[int]:
    """Return the positions of all characters of the words that have a chosen one, spaces apart."""
    grown: set[int] = set()
    for word in _words(text):
        if chosen & word:
            grown |= word
    return grown


def _words(text: str) -> list[set[int]]:
    runs = groupby(range(len(text)), key=lambda i: text[i] == " ")
    return [set(run) for space, run in runs if not space]


def places(value: Any) -> list[int]:
    """Read a collection of positions, in any order."""
    if not isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "tolist"):
        raise wrong_kind(value, "a set of positions")
    entries = [unwrapped(i) for i in (value.tolist() if hasattr(value, "tolist") else value)]
    for entry in entries:
        if isinstance(entry, str | set | list | tuple | range):
            raise Symptom(
                "Your collection holds words or groups; it should hold the positions themselves, "
                "whole numbers."
            )
        if not is_number(entry) or entry != int(entry):
            raise Symptom("Your collection holds something that is no position, a whole number.")
    if len(set(entries)) < len(entries):
        raise Symptom(
            "Some positions are in your list more than once; a set (add, |=) keeps each once."
        )
    return sorted(int(entry) for entry in entries)


def lines(chance: random.Random) -> list[Probe]:
    """Make lines in which words repeat and have many lengths, and choose some characters."""
    probes: list[Probe] = [
        ("rain fell on an umbrella", {20}),
        ("the cat and the hat", {13}),
        ("a cat", {0}),
        ("one two three", {3, 5}),
        ("there it is", {1, 7}),
        ("we were here", set()),
        ("he saw the sea", {7, 8, 13}),
    ]
    words = ["the", "umbrella", "a", "rain", "he", "there", "other"]
    for _ in range(4):
        text = " ".join(chance.choice(words) for _ in range(chance.randint(4, 7)))
        probes.append((text, set(chance.sample(range(len(text)), 4))))
    return probes


check_whole_words = Exercise(
    solution=whole_words,
    wants=places,
    probes=lines,
    solved="Wherever one letter is chosen its word is gone.",
    direction="Go through the words with their positions; if one of a word's positions is chosen, "
    "take all of them.",
    mistakes=Mistakes(__name__, "whole_words"),
)
"""Mark ``whole_words(text, chosen)``: positions, given those that were chosen."""

# ── 8.4 ──────────────────────────────────────────────────────────────────────────────────────────


def span_lengths(p: float, longest: int) -> list[float]:
    """Return the probabilities of 1, 2, … longest words: geometric, scaled to sum to 1."""
    shares = [p * (1 - p) ** (k - 1) for k in range(1, longest + 1)]
    return [share / sum(shares) for share in shares]


def probabilities(value: Any) -> list[float]:
    """Read a list of probabilities."""
    entries = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(entries, dict):
        raise wrong_kind(value, "a list of probabilities, those of 1, 2, … words")
    if not isinstance(entries, list | tuple):
        raise wrong_kind(value, "a list of probabilities, those of 1, 2, … words")
    return [number(entry) for entry in entries]


def habits(chance: random.Random) -> list[Probe]:
    """Make probabilities of stopping and longest lengths."""
    drawn = [(chance.uniform(0.15, 0.6), chance.randint(3, 12)) for _ in range(4)]
    return [(0.5, 3), (0.2, 10), *drawn]


check_span_lengths = Exercise(
    solution=span_lengths,
    wants=probabilities,
    probes=habits,
    solved="With p = 0.2 and at most 10 the mean is 3.8 words, SpanBERT's.",
    direction="Start with p · (1 − p) ** (k − 1) for k = 1 … longest, and divide by their sum.",
    mistakes=Mistakes(__name__, "span_lengths"),
)
"""Mark ``span_lengths(p, longest)``."""
