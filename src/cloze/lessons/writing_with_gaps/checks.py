"""The exercises of notebook 10."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import (
    Probe,
    Symptom,
    in_short,
    number,
    number_with_gradient,
    wrong_kind,
)


def positions(value: Any) -> list[int]:
    """Read a list of positions, in whatever order and kind of collection."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, list | tuple | set | range) or not all(
        isinstance(at, int) and not isinstance(at, bool) for at in value
    ):
        if isinstance(value, list | tuple) and value and isinstance(value[0], float | str | tuple):
            raise Symptom(
                f"Your list begins with {in_short(value[0])}, which is no position; list where "
                "things stand, as whole numbers."
            )
        raise wrong_kind(value, "a list of positions, which are whole numbers")
    if len(set(value)) < len(value):
        raise Symptom("A position stands in your list twice; each is hidden once.")
    return sorted(value)


# ── 10.1 ─────────────────────────────────────────────────────────────────────────────────────────


def hidden_with(text: str, i: int) -> list[int]:
    """List position i and what follows it in its word: what is hidden when i is scored."""
    end = i + 1
    while text[i] != " " and end < len(text) and text[end] != " ":
        end += 1
    return list(range(i, end))


def texts_and_positions(chance: random.Random) -> list[Probe]:
    """Make lines, and positions at the beginning, inside and at the end of words, and a space."""
    words = ["umbrella", "rain", "a", "kitchen", "old", "garden", "sea"]
    probes: list[Probe] = [("the umbrella", 6), ("the umbrella", 0), ("old sea rain", 5)]
    for _ in range(4):
        text = " ".join(chance.sample(words, 4))
        probes.append((text, chance.randrange(1, len(text) - 1)))
    text = "garden rain sea"
    return [*probes, (text, 6), (text, 10), (text, 14), (text, 2)]


check_hidden_with = Exercise(
    solution=hidden_with,
    wants=positions,
    probes=texts_and_positions,
    solved="A letter is guessed from what stands before it in its word, and from all other words.",
    direction="Begin at i and go on until a space or the end of the text.",
    mistakes=Mistakes(__name__, "hidden_with"),
)

# ── 10.2 ─────────────────────────────────────────────────────────────────────────────────────────


def taken_back(sure: Mapping[int, float], step: int, steps: int) -> list[int]:
    """List the n · (T − t) // T positions of the lowest probability."""
    return sorted(sure, key=sure.__getitem__)[: len(sure) * (steps - step) // steps]


def doubts(chance: random.Random) -> list[Probe]:
    """Make how sure a model was at some positions, and a step of several."""
    probes: list[Probe] = []
    for n, step, steps in ((12, 1, 4), (10, 2, 5), (9, 2, 3), (8, 4, 4), (15, 3, 5), (7, 1, 3)):
        places = chance.sample(range(40), n)
        probes.append(({at: round(chance.uniform(0.01, 0.99), 4) for at in places}, step, steps))
    return probes


check_taken_back = Exercise(
    solution=taken_back,
    wants=positions,
    probes=doubts,
    solved="After the last step nothing is taken back, and the line is done.",
    direction="Sort the positions by sure[at] and keep the first "
    "len(sure) * (steps - step) // steps.",
    mistakes=Mistakes(__name__, "taken_back"),
)

# ── 10.3 ─────────────────────────────────────────────────────────────────────────────────────────

Costs = Mapping[tuple[int, frozenset[int]], float]
"""By a position and all that is hidden when it is written, itself included: −log P in nats."""


def order_bound(C: Costs, n: int) -> float:
    """Average, over all orders of n positions, what it costs to write them in that order."""
    return fmean(_paths(C, n))


def _paths(C: Costs, n: int, hidden: Callable[..., Any] | None = None) -> list[float]:
    def still(order: Sequence[int], k: int) -> frozenset[int]:
        return frozenset(order[k:])

    what = hidden or still
    return [
        sum(C[at, what(order, k)] for k, at in enumerate(order)) for order in permutations(range(n))
    ]


def tables(chance: random.Random) -> list[Probe]:
    """Make what two to four positions cost under every set of hidden ones."""
    probes: list[Probe] = []
    for n in (2, 3, 4, 3, 2):
        sets = [frozenset(i for i in range(n) if code >> i & 1) for code in range(1, 2**n)]
        probes.append(({(i, s): chance.uniform(0.1, 4) for s in sets for i in s}, n))
    return probes


check_order_bound = Exercise(
    solution=order_bound,
    wants=number,
    probes=tables,
    solved=(
        "That is the bound. The mean over orders of −log P(along the order) is never below −log of "
        "the mean of P, which is what writing in random order really gives."
    ),
    direction="For each order add up C[at, what is still hidden], then take the mean over orders.",
    mistakes=Mistakes(__name__, "order_bound"),
)

# ── 10.4 ─────────────────────────────────────────────────────────────────────────────────────────


def diffusion_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over lines of the mean cost of their hidden symbols."""
    costs = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    hidden = labels != -100
    return (costs.sum(1) / hidden.sum(1)).mean()


def batches(chance: random.Random) -> list[Probe]:
    """Make answers and labels of lines with few and many hidden symbols."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for lines, length in ((3, 6), (2, 8), (4, 5), (5, 7)):
        labels = torch.randint(28, (lines, length), generator=source)
        for row in range(lines):
            k = (1, length, length // 2, 2, length - 1)[row]
            shown = torch.randperm(length, generator=source)[k:]
            labels[row, shown] = -100
        logits = 2 * torch.randn(lines, length, 29, generator=source)
        probes.append((logits.requires_grad_(), labels))
    return probes


check_diffusion_loss = Exercise(
    solution=diffusion_loss,
    wants=number_with_gradient,
    probes=batches,
    solved="Every line counts the same, whether one symbol of it is hidden or all.",
    direction="Divide the costs of each line by its number of hidden symbols, then average lines.",
    mistakes=Mistakes(__name__, "diffusion_loss"),
)
