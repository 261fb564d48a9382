"""The exercises of notebook 03."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, as_plain, kind_of, tensor
from cloze.vocabulary import counted

# ── 3.1 ──────────────────────────────────────────────────────────────────────────────────────────


def my_attention(Q: Tensor, K: Tensor, V: Tensor, look: Tensor) -> Tensor:
    """Gather the values by softmax(QKᵀ/√width) over the keys that each query may look at."""
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    return scores.masked_fill(~look, float("-inf")).softmax(-1) @ V


def queries_keys_values(chance: Chance) -> Probes:
    """Make Q, K and V, and who may look at whom.

    Every query may look at itself, so no softmax runs over nothing, and all but one have a key that
    they may not look at. ``look`` is never symmetric. The first shapes are large enough to be told
    instead of the numbers. In the third, a product of wrong axes raises nothing. In the last two,
    every query sees everything, V has a width of its own, and one of them is a single position.
    The values of a line have one sign, so sums in single precision do not cancel.
    """
    for length, width in ((6, 10), (3, 2), (5, 5)):
        query, key = 1.5 * torch.randn(2, length, width, generator=chance.torch)
        value = 0.5 + 3 * torch.rand(length, width, generator=chance.torch)
        look = torch.rand(length, length, generator=chance.torch) < 0.5
        i = torch.arange(length)
        look[i, (i + 1 + i % 2) % length], look[i, i] = False, True
        look[length - 1, 0], look[0, length - 1] = True, False
        look[1] |= length == width
        yield query, key, value, look
    for length, least in ((4, 0.5), (1, -3.5)):
        query, key = torch.randn(2, length, 3, generator=chance.torch)
        value = least + 3 * torch.rand(length, 7, generator=chance.torch)
        yield query, key, value, torch.ones(length, length, dtype=torch.bool)


check_my_attention = Exercise(
    solution=my_attention,
    minutes=12,
    wants=tensor(torch.float32),
    probes=queries_keys_values,
    solved="This is scaled dot-product attention. Only `look` decides whether a model is two-sided "
    "or causal.",
    direction="In order: Q @ K.T, divide by √width, −inf where `look` is False, softmax over the "
    "last dimension, times V.",
    without={
        "scaled_dot_product_attention": "That is torch's own function. Write what it "
        "computes: scores, mask, softmax, times V."
    },
    limits={
        "With scores above 88 it fails, though, because exp then exceeds single precision: first "
        "subtract the largest score of each row, as softmax does.": (
            torch.tensor([[20.0, 10.0], [5.0, 10.0]]),
            torch.tensor([[20.0, 10.0], [19.0, 11.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 5.0]]),
            torch.tensor([[True, True], [True, True]]),
        ),
    },
)
"""Mark ``my_attention(Q, K, V, look)``: softmax(QKᵀ/√width where look, −∞ elsewhere) V."""


# ── 3.2 ──────────────────────────────────────────────────────────────────────────────────────────


def my_may_look(length: int, direction: str) -> Tensor:
    """Say which query (row) may look at which key (column): boolean, ``(length, length)``."""
    everywhere = torch.ones(length, length, dtype=torch.bool)
    return {"left": everywhere.tril(), "right": everywhere.triu(), "both": everywhere}[direction]


def lengths_and_directions(chance: Chance) -> Probes:
    """Make every direction with a length whose matrix is small enough to be shown, and others."""
    lengths = 3, 1, *chance.sample(range(4, 10), 2)
    return [(length, direction) for length in lengths for direction in ("left", "right", "both")]


check_my_may_look = Exercise(
    solution=my_may_look,
    minutes=8,
    wants=tensor(torch.bool),
    probes=lengths_and_directions,
    solved="This matrix is all that separates an encoder from its one-sided twins.",
    direction='The row is the query, the column the key: for "left" True where key ≤ query, for '
    '"right" where key ≥ query, for "both" everywhere.',
)
"""Mark ``my_may_look(length, direction)``: which query (row) may look at which key (column)."""


# ── 3.3 ───────────────────────────────────────────────────────────────────────────────────────────

RING, BACK, SHARE = 8, 2, 0.9
"""How many positions stand in the ring, how far back each looks, and with what share at least."""


def rows_of_two(name: str, value: Any) -> Tensor:
    """Read the queries or the keys: two numbers for each position of the ring."""
    try:
        rows = torch.as_tensor(np.array(as_plain(value), dtype=float))
    except (TypeError, ValueError):  # no numbers, or rows of unequal lengths
        rows = torch.empty(0)
    if rows.shape != (RING, 2):
        raise Symptom(
            f"Your {name} is {kind_of(value)}; hand in a tensor of shape ({RING}, 2), two numbers "
            "for each position."
        )
    if not rows.isfinite().all():
        raise Symptom(f"Your {name} contains inf or NaN, and a softmax turns them into NaN.")
    return rows


def _turns_by(rows: Tensor, angle: float) -> bool:
    """Whether every arrow is the one before it, turned by an angle in radians, either way."""
    steps = torch.atan2(rows[:, 1], rows[:, 0]).diff()
    return bool(((steps.cos() - math.cos(angle)).abs() < 1e-3).all())


def in_words(away: int) -> str:
    """Say how far away a place is, and on which side."""
    return f"{counted(abs(away), 'place')} to the {'left' if away < 0 else 'right'}"


def _same_rows(rows: Tensor) -> tuple[int, int] | None:
    """Return the first two positions with the same arrow."""
    pairs = combinations(range(RING), 2)
    return next((pair for pair in pairs if rows[pair[0]].allclose(rows[pair[1]], atol=1e-4)), None)


def _judge_two_back(answer: Any) -> str:
    if not isinstance(answer, tuple | list | Tensor | np.ndarray) or len(answer) != 2:
        raise Symptom(f"You hand in {kind_of(answer)}; hand in (Q, K), the queries first.")
    queries, keys = (rows_of_two(name, value) for name, value in zip("QK", answer, strict=True))
    places = torch.arange(RING)
    weights = (queries @ keys.T / math.sqrt(2)).softmax(dim=-1)
    on_it = weights[places, (places - BACK) % RING]
    lowest = int(on_it.argmin())
    if on_it.min() >= SHARE:
        return f"Each position gives at least {on_it.min():.3f} to the place two to its left."
    off = {int(d) for d in (weights.argmax(dim=-1) - places + RING // 2) % RING - RING // 2}
    if weights.max() - weights.min() < 1e-3:
        why = "All scores are equal: turn each query and each key by an angle of its own."
    elif _turns_by(keys, 360 / RING):
        why = (
            f"From key to key you turn by {360 // RING} radians: cos and sin take radians, and "
            f"{360 // RING} degrees are 2π / {RING}."
        )
    elif pair := _same_rows(keys):
        why = (
            f"Positions {pair[0]} and {pair[1]} have the same key, so they get the same weight, "
            f"however long the arrows are: {RING} steps should make one full turn. (linspace(0, "
            f"2π, {RING}) includes both ends, which are the same angle.)"
        )
    elif pair := _same_rows(queries):
        why = (
            f"Positions {pair[0]} and {pair[1]} have the same query, so they look at the same "
            f"place. Count backwards round the ring: {BACK} before i is (i - {BACK}) % {RING}."
        )
    elif off == {-BACK}:
        why = (
            "All look the right way, but not firmly enough: longer queries and keys give larger "
            "scores, and a sharper softmax."
        )
    elif off == {BACK}:
        why = "All look two to the right: turn the query, or the key, the other way."
    elif len(off) == 1:
        why = f"All look {in_words(off.pop())}. They should look {in_words(-BACK)}."
    elif len(off) == 2 and all(_turns_by(rows, 2 * math.pi / RING) for rows in (queries, keys)):
        why = "Your queries point between two keys: turn them all until each meets one key."
    elif (weights[2:].argmax(dim=-1) == places[2:] - BACK).all():
        why = (
            "Only positions 0 and 1 look elsewhere: the ring closes if eight steps make one full "
            "turn, 2π."
        )
    else:
        why = (
            "They look different distances away: turn by the same angle from each key to the next, "
            "and from each query to the next."
        )
    meant, most = (lowest - BACK) % RING, int(weights[lowest].argmax())
    rest = f", and most to position {most}" if most != meant else ""
    raise Symptom(
        f"Position {lowest} gives only {on_it[lowest]:.2f} to position {meant}{rest}. {why}"
    )


def _circle(shift: float, length: float = 6.0) -> Tensor:
    """Make eight arrows of a length that point round a circle, the first turned by some steps."""
    angles = (torch.arange(RING) + shift) * 2 * math.pi / RING
    return length * torch.stack([angles.cos(), angles.sin()], dim=1)


check_two_back = Exercise(
    solution=(_circle(-BACK), _circle(0)),
    minutes=15,
    judge=_judge_two_back,
    solved="Two numbers per position are enough for a whole ring. The angle between query and key "
    "alone says where to look.",
)
"""Mark queries and keys with which each of eight positions looks two back, round the corner."""
