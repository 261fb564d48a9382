"""The exercises of notebook 03."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, number, tensor

# ── 3.1 ──────────────────────────────────────────────────────────────────────────────────────────

NO = float("-inf")
Function = Callable[..., Any]


def my_attention(Q: Tensor, K: Tensor, V: Tensor, look: Tensor) -> Tensor:
    """Gather the values by softmax(QKᵀ/√width) over the keys that each query may look at."""
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    return scores.masked_fill(~look, NO).softmax(-1) @ V


def queries_keys_values(chance: random.Random) -> list[Probe]:
    """Make Q, K, V of one shape, with sizes that are no squares, and who may look at whom.

    Every query may look at itself and somebody else is closed to it, so that no softmax has
    nothing to share out, apart from one query that sees all; ``look`` is never symmetric. In the
    third shape a product of wrong axes raises nothing; in the last one everybody sees everything,
    and V has a width of its own. Values are positive, so that sums in single precision do not
    cancel.
    """
    seed = torch.Generator().manual_seed(chance.getrandbits(32))
    probes: list[Probe] = []
    for length, width in ((3, 2), (6, 10), (5, 5)):
        query, key = 1.5 * torch.randn(2, length, width, generator=seed)
        value = 0.5 + 3 * torch.rand(length, width, generator=seed)
        look = torch.rand(length, length, generator=seed) < 0.5
        i = torch.arange(length)
        look[i, (i + 1 + i % 2) % length], look[i, i] = False, True
        look[length - 1, 0], look[0, length - 1] = True, False
        look[1] |= length == width
        probes.append((query, key, value, look))
    query, key = torch.randn(2, 4, 3, generator=seed)
    value = 0.5 + 3 * torch.rand(4, 7, generator=seed)
    return [*probes, (query, key, value, torch.ones(4, 4, dtype=torch.bool))]


check_my_attention = Exercise(
    solution=my_attention,
    wants=tensor(torch.float32),
    probes=queries_keys_values,
    parts=lambda Q, K, V, look: {
        "queries that may look everywhere": look.all(1),
        "queries to which a key is closed": ~look.all(1),
    },
    solved="This is scaled dot-product attention; what `look` allows is all that makes an encoder "
    "two-sided or causal.",
    direction="In order: Q @ K.T, divide by √width, −inf where `look` is False, softmax over the "
    "last dimension, times V.",
    limits={
        "With scores above 88 it fails, though, for exp then exceeds single precision: subtract "
        "the largest score of each row first, as softmax does.": (
            torch.tensor([[20.0, 10.0], [5.0, 10.0]]),
            torch.tensor([[20.0, 10.0], [19.0, 11.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 5.0]]),
            torch.tensor([[True, True], [True, True]]),
        ),
    },
    mistakes=Mistakes(__name__, "my_attention"),
)
"""Mark ``my_attention(Q, K, V, look)``: softmax(QKᵀ/√width where look, −∞ elsewhere) V."""


# ── 3.2 ──────────────────────────────────────────────────────────────────────────────────────────


def my_may_look(length: int, direction: str) -> Tensor:
    """Say which query (row) may look at which key (column): boolean, ``(length, length)``."""
    everywhere = torch.ones(length, length, dtype=torch.bool)
    return {"left": everywhere.tril(), "right": everywhere.triu(), "both": everywhere}[direction]


def lengths_and_directions(chance: random.Random) -> list[Probe]:
    """Make every direction with a length whose matrix is small enough to be shown, and others."""
    lengths = 3, *chance.sample(range(4, 10), 2)
    return [(length, direction) for length in lengths for direction in ("left", "right", "both")]


check_my_may_look = Exercise(
    solution=my_may_look,
    wants=tensor(torch.bool),
    probes=lengths_and_directions,
    parts=lambda length, direction: {
        f"'{direction}'": ...,
        f"'{direction}', a position and itself": torch.eye(length).bool(),
        f"'{direction}', what is left of it": torch.ones(length, length).tril(-1).bool(),
        f"'{direction}', what is right of it": torch.ones(length, length).triu(1).bool(),
    },
    solved="Nothing else separates an encoder from its one-sided twins.",
    direction='The row is the query, the column the key: for "left" True where key ≤ query, for '
    '"right" where key ≥ query, for "both" everywhere.',
    mistakes=Mistakes(__name__, "my_may_look"),
)
"""Mark ``my_may_look(length, direction)``: which query (row) may look at which key (column)."""


# ── 3.3 ──────────────────────────────────────────────────────────────────────────────────────────


def layer_parameters(d_model: int, d_ff: int) -> int:
    """Count the parameters of one encoder layer: attention, feed-forward network, two norms."""
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = (d_model * d_ff + d_ff) + (d_ff * d_model + d_model)
    norms = 2 * (d_model + d_model)
    return attention + feed_forward + norms


def sizes(chance: random.Random) -> list[Probe]:
    """Make widths of a layer and of its feed-forward network, the latter not a multiple."""
    widths = chance.sample(range(5, 40), 8)
    return [(10, 27), *((d, 2 * d + chance.randrange(1, d)) for d in widths)]


check_layer_parameters = Exercise(
    solution=layer_parameters,
    wants=number,
    probes=sizes,
    solved="The number of heads is not in it: heads share out d_model, and cost nothing extra.",
    direction="Compare: four matrices of attention and two of the feed-forward network have "
    "4 · d_model² + 2 · d_model · d_ff weights and 5 · d_model + d_ff biases; two norms have "
    "4 · d_model.",
    mistakes=Mistakes(__name__, "layer_parameters"),
)
"""Mark ``layer_parameters(d_model, d_ff)``: the number of parameters of one encoder layer."""
