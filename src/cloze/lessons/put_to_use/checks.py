"""The exercises of notebook 11."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, in_short, kind_of, number, numbers, tensor

# ── 11.1 ─────────────────────────────────────────────────────────────────────────────────────────


def my_mean_pool(states: Tensor, padding: Tensor) -> Tensor:
    """Average states ``(batch, length, d)`` over what is not padding: ``(batch, d)``."""
    real = ~padding[..., None]
    return (states * real).sum(1) / real.sum(1)


def states_and_padding(chance: random.Random) -> list[Probe]:
    """Make hidden states of some lines and where their padding is."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for lengths in ([3, 5, 2], [4, 1], [6, 6, 3, 2]):
        most = max(lengths) + (1 if len(lengths) == 2 else 0)
        padding = torch.arange(most)[None] >= torch.tensor(lengths)[:, None]
        probes.append((torch.randn(len(lengths), most, 4, generator=source), padding))
    return probes


check_my_mean_pool = Exercise(
    solution=my_mean_pool,
    wants=tensor(torch.float32),
    probes=states_and_padding,
    solved="What a line is filled up with no longer says anything about it.",
    direction="Multiply by ~padding[..., None], add up along dim 1, divide by how many are real.",
    mistakes=Mistakes(__name__, "my_mean_pool"),
)

# ── 11.2 ─────────────────────────────────────────────────────────────────────────────────────────

Names = Sequence[set[tuple[str, int, int]]]
"""By line, the names in it: kind, first and last position."""


def name_f1(true: Names, said: Names) -> float:
    """Return 2 · right / (there + found), over all lines together; 0 if there is nothing."""
    right = sum(len(a & b) for a, b in zip(true, said, strict=True))
    total = sum(map(len, true)) + sum(map(len, said))
    return 2 * right / total if total else 0.0


def names_in_lines(chance: random.Random) -> list[Probe]:
    """Make lines with names, and what a model might have found."""
    probes: list[Probe] = [
        (
            [{("PER", 0, 1), ("LOC", 4, 4)}, {("PER", 0, 1)}, set()],
            [{("PER", 0, 1), ("PER", 4, 4)}, {("PER", 0, 0)}, {("PER", 0, 1)}],
        ),
        ([{("LOC", 2, 3)}, set()], [set(), set()]),
        ([set()], [set()]),
    ]
    for _ in range(3):
        true: list[set[tuple[str, int, int]]] = []
        said: list[set[tuple[str, int, int]]] = []
        for _ in range(chance.randint(3, 5)):
            starts = chance.sample(range(0, 20, 3), 4)
            there = [(chance.choice(["PER", "LOC"]), s, s + chance.randint(0, 2)) for s in starts]
            true.append(set(there[: chance.randint(1, 3)]))
            wrong = {"PER": "LOC", "LOC": "PER"}[there[0][0]], *there[0][1:]
            said.append({*there[chance.randint(0, 1) : 4], chance.choice([wrong, there[0]])})
        said[0] = true[0] | {("LOC", 30, 30)}
        probes.append((true, said))
    return probes


check_name_f1 = Exercise(
    solution=name_f1,
    wants=number,
    probes=names_in_lines,
    solved="So counts seqeval, and so are named-entity systems compared.",
    direction="Add up right, there and found over all lines; F1 is 2 · right / (there + found).",
    mistakes=Mistakes(__name__, "name_f1"),
)

# ── 11.3 ─────────────────────────────────────────────────────────────────────────────────────────


def my_best_span(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    """Return first and last position, in this order, with the greatest start + end."""
    n = len(start)
    spans = [(i, j) for i in range(n) for j in range(i, n)]
    return max(spans, key=lambda span: start[span[0]] + end[span[1]])


def starts_and_ends(chance: random.Random) -> list[Probe]:
    """Make logits of starts and ends, some with the greatest end before the greatest start."""
    probes: list[Probe] = [
        ([0.5, 1.0, 4.0, 0.0], [0.3, 5.0, 1.0, 0.2]),
        ([3.0, 0.1, 0.2], [2.0, 0.4, 1.0]),
        ([0.0, -1.0, 6.0, 5.5, -2.0], [-3.0, 8.5, 1.0, 2.0, -4.0]),
        ([-1.0, 2.0, 0.0, 1.9], [-1.0, -1.0, -1.5, 4.0]),
        ([-3.0, -2.0, -1.0, -4.0], [-2.5, -1.5, -3.5, -0.5]),  # logits may all be negative
        ([-4.0, -2.0, -3.0], [-5.0, -1.0, -6.0]),
    ]
    for length in (5, 7, 9, 6):
        start, end = ([round(chance.gauss(0, 3), 3) for _ in range(length)] for _ in range(2))
        probes.append((start, end))
    for _ in range(3):  # here the two are best apart
        length = chance.randint(5, 8)
        start, end = ([round(chance.uniform(0, 2), 3) for _ in range(length)] for _ in range(2))
        start[length - 2] += 3
        end[1] += 3
        probes.append((start, end))
    return probes


def _of_two(value: Any) -> list[float]:
    """Read two numbers, as a list: they are right together or not at all."""
    return list(numbers("start", "end")(value))


check_my_best_span = Exercise(
    solution=my_best_span,
    wants=_of_two,
    probes=starts_and_ends,
    solved="No answer ends before it begins.",
    direction="Go through all pairs i ≤ j and keep the one with the greatest start[i] + end[j].",
    mistakes=Mistakes(__name__, "my_best_span"),
)

# ── 11.4 ─────────────────────────────────────────────────────────────────────────────────────────

Pair = tuple[list[str], list[int]]


def pair_up(a: list[str], b: list[str]) -> Pair:
    """Return the symbols of a pair, and for each the number of its segment."""
    return (
        ["[BEGIN]", *a, "[SEP]", *b, "[END]"],
        [0] * (len(a) + 2) + [1] * (len(b) + 1),
    )


def pairs_of_sentences(chance: random.Random) -> list[Probe]:
    """Make two sentences of different lengths."""
    words = ["anna", "took", "the", "umbrella", "it", "was", "raining", "tom"]
    return [
        ([chance.choice(words) for _ in range(m)], [chance.choice(words) for _ in range(n)])
        for m, n in ((1, 1), (5, 3), (2, 4), (chance.randint(6, 8), chance.randint(1, 5)))
    ]


def symbols_and_segments(value: Any) -> tuple[list[str], list[int]]:
    """Read symbols and segments."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Symptom(
            f"Your answer is {kind_of(value)}; what is asked for are two lists, symbols and "
            "segments, with a comma between them."
        )
    symbols, segments = value
    if isinstance(segments, Tensor):
        segments = segments.tolist()
    for name, part, kind in (("symbols", symbols, str), ("segments", segments, int)):
        what = "texts" if kind is str else "whole numbers"
        if not isinstance(part, list | tuple):
            raise Symptom(f"Your {name} are {kind_of(part)}; they must be a list of {what}.")
        for entry in part:
            if isinstance(entry, list) and kind is str:
                raise Symptom(
                    f"Among your symbols is {kind_of(entry)}; * in front of a list writes its "
                    "words into the other one: [*a]."
                )
            if not isinstance(entry, kind):
                raise Symptom(
                    f"Among your {name} is {in_short(entry)}, {kind_of(entry)}; they must be a "
                    f"list of {what}, and the symbols come first."
                )
    if len(symbols) != len(segments):
        raise Symptom(
            f"There are {len(symbols)} symbols and {len(segments)} segments; every symbol has one, "
            "[BEGIN], [SEP] and [END] included."
        )
    return list(symbols), [int(segment) for segment in segments]


check_pair_up = Exercise(
    solution=pair_up,
    wants=symbols_and_segments,
    probes=pairs_of_sentences,
    solved="This is the input of every model that compares two texts in one reading.",
    direction="[BEGIN], a, [SEP] are segment 0; b and [END] are segment 1.",
    mistakes=Mistakes(__name__, "pair_up"),
)
