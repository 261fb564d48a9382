"""The exercises of notebook 01."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import (
    Probe,
    Symptom,
    alike,
    number,
    number_with_gradient,
    numbers,
)
from cloze.teaching.symptoms import ask

# ── 1.1 ──────────────────────────────────────────────────────────────────────────────────────────

Table = Sequence[dict[str, float]]


def summed_loss(P: Table, x: str, M: Sequence[int]) -> float:
    """Add up −log P(x_i) over the positions i in M, in nats."""
    return -sum(math.log(P[i][x[i]]) for i in M)


def tables(chance: random.Random) -> list[Probe]:
    """Make probabilities for texts in which letters repeat, and selected positions in any order."""

    def row(letters: str) -> dict[str, float]:
        shares = [chance.uniform(0.05, 1) for _ in letters]
        return {c: round(share / sum(shares), 3) for c, share in zip(letters, shares, strict=True)}

    small = [{"c": 0.9, "b": 0.1}, {"a": 0.2, "o": 0.7, "u": 0.1}, {"t": 0.8, "d": 0.2}]
    probes: list[Probe] = [([*small, {"s": 0.5, "e": 0.3, "d": 0.2}], "cats", [1, 3])]
    for x, letters in (("banana", "abn"), ("deeded", "adeln"), ("letters", "elrstu")):
        selected = chance.sample(range(len(x)), 3)
        if selected == sorted(selected):
            selected.reverse()
        probes.append(([row(letters) for _ in x], x, selected))
    alike = [{"a": 0.25, "n": 0.75}] * 4
    one = chance.randrange(1, 5)
    return [*probes, (alike, "anna", [0, 2, 3]), ([row("abn") for _ in "banana"], "banana", [one])]


check_summed_loss = Exercise(
    solution=summed_loss,
    wants=number,
    probes=tables,
    parts=lambda P, x, M: {f"{'one position' if len(M) == 1 else 'several positions'} in M": ...},
    solved="That is −Σ log P over M: each selected position pays for itself, and they add.",
    direction="For every position i in M look up P[i][x[i]], and add up −math.log of it.",
    limits={
        "With many selected positions it fails, though: the product of 500 probabilities of 0.2 "
        "underflows to 0, while the sum of their logarithms is −804.72. Add logarithms rather than "
        "multiply.": ([{"a": 0.2}] * 500, "a" * 500, range(500)),
    },
    mistakes=Mistakes(__name__, "summed_loss"),
)
"""Mark ``summed_loss(P, x, M)``: −Σ_{i∈M} log P[i][x[i]] in nats, P a list of dicts."""


# ── 1.2 ──────────────────────────────────────────────────────────────────────────────────────────


def units(costs: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of costs in nats, the same in bits, and the perplexity."""
    nats = sum(costs) / len(costs)
    return nats, nats / math.log(2), math.exp(nats)


def costs_in_nats(chance: random.Random) -> list[Probe]:
    """Make costs of several positions; the first list is 2 bits and perplexity 4."""
    lists = [[math.log(2), math.log(2), math.log(16)]]
    lists += [[chance.uniform(0.3, 2.5) for _ in range(n)] for n in (4, 5, 2, 7)]
    return [(costs,) for costs in lists]


check_units = Exercise(
    solution=units,
    wants=numbers("nats", "bits", "perplexity"),
    probes=costs_in_nats,
    parts=lambda costs: {"nats": 0, "bits": 1, "perplexity": 2},
    solved="For instance 1.386 nats = 2 bits = a choice among 4 equally likely characters: three "
    "names for one loss.",
    direction="nats is the mean of the costs, bits is nats / log 2, perplexity is e^nats.",
    mistakes=Mistakes(__name__, "units"),
)
"""Mark ``units(costs)``: (mean nats, bits, perplexity) from the costs in nats."""


# ── 1.3 ──────────────────────────────────────────────────────────────────────────────────────────


def my_mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Average −log P(label) over the labels that are not −100, shapes (b, n, |V|) and (b, n)."""
    selected = labels != -100
    log_probs = logits[selected].log_softmax(dim=-1)
    ids = labels[selected]
    return -log_probs[torch.arange(len(ids)), ids].mean()


def batches(chance: random.Random) -> list[Probe]:
    """Make logits and labels: rows of unequal counts, the label 0, and logits far apart."""
    generator = torch.Generator().manual_seed(chance.getrandbits(31))

    def batch(size: int, length: int, symbols: int, counts: Sequence[int]) -> Probe:
        logits = 2 * torch.randn(size, length, symbols, generator=generator)
        labels = torch.full((size, length), -100)
        for row, count in enumerate(counts):
            at = torch.randperm(length, generator=generator)[:count]
            labels[row, at] = torch.randint(symbols, (count,), generator=generator)
            labels[row, at[:1]] = 0  # a character like any other
        return logits.requires_grad_(), labels

    shapes = [(2, 6, 5, [3, 1]), (3, 4, 7, [1, 2, 3]), (1, 9, 4, [4]), (4, 8, 6, [2, 5, 1, 4])]
    return [batch(*shape) for shape in shapes]


OWN = (
    "The exercise asks for the loss without F.cross_entropy: pick the positions with labels != "
    "-100, take log_softmax of their logits, and pick the entry of each label yourself."
)

FAR_APART = (
    "With logits far apart it fails: for 0 and 200 the loss is 200, and yours is not. softmax (or "
    "exp) first and log afterwards leaves the range of floats; log_softmax does both in one."
)


def _judge_loss(loss: Callable[..., Any]) -> None:
    """Let the logits be far apart, as those of a model that is sure are."""
    logits = torch.tensor([[[0.0, 200.0]]], requires_grad=True)
    if not alike(number(ask(loss, logits, torch.tensor([[0]]))), 200.0):
        raise Symptom(FAR_APART)


check_my_mlm_loss = Exercise(
    solution=my_mlm_loss,
    wants=number_with_gradient,
    probes=batches,
    solved="It equals F.cross_entropy(…, ignore_index=-100).",
    judge=_judge_loss,
    direction="It is the mean of −log_softmax(logits) at the label, over the labels that are not "
    "-100; log_softmax needs no small number added and nothing clamped.",
    without={
        "cross_entropy": OWN,
        "CrossEntropyLoss": OWN,
        "mlm_loss": "mlm_loss calls F.cross_entropy. " + OWN,
    },
    mistakes=Mistakes(__name__, "my_mlm_loss"),
)
"""Mark ``my_mlm_loss(logits, labels)``: mean −log P over the labels that are not −100."""
