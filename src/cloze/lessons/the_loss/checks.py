"""The exercises of notebook 01."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, alike, kind_of, number, number_with_gradient
from cloze.teaching.symptoms import ask

# ── 1.1 ──────────────────────────────────────────────────────────────────────────────────────────

Table = Sequence[dict[str, float]]


def summed_loss(P: Table, x: str, M: Sequence[int]) -> float:
    """Add up −log P(x_i) over the positions i in M, in nats."""
    return -sum(math.log(P[i][x[i]]) for i in M)


def tables(chance: Chance) -> Probes:
    """Make probabilities for texts in which letters repeat, and selected positions in any order."""

    def row(letters: str) -> dict[str, float]:
        shares = [chance.uniform(0.05, 1) for _ in letters]
        return {c: round(share / sum(shares), 3) for c, share in zip(letters, shares, strict=True)}

    small = [{"c": 0.9, "b": 0.1}, {"a": 0.2, "o": 0.7, "u": 0.1}, {"t": 0.8, "d": 0.2}]
    yield [*small, {"s": 0.5, "e": 0.3, "d": 0.2}], "cats", [1, 3]
    for x, letters in (("banana", "abn"), ("deeded", "adeln"), ("letters", "elrstu")):
        selected = chance.sample(range(len(x)), 3)
        if selected == sorted(selected):
            selected.reverse()
        yield [row(letters) for _ in x], x, selected
    yield [{"a": 0.25, "n": 0.75}] * 4, "anna", [0, 2, 3]
    one = chance.randrange(1, 5)
    yield [row("abn") for _ in "banana"], "banana", [one]
    yield small, "cat", []


check_summed_loss = Exercise(
    solution=summed_loss,
    minutes=8,
    wants=number,
    probes=tables,
    solved="That is −Σ log P over M. Each selected position pays for itself, and the costs add up.",
    direction="For every position i in M look up P[i][x[i]], and add up −math.log of it.",
    limits={
        "With many selected positions it fails, though: the product of 500 probabilities of 0.2 "
        "underflows to 0, but the sum of their logarithms is −804.72. Add the "
        "logarithms instead of multiplying.": ([{"a": 0.2}] * 500, "a" * 500, range(500)),
    },
)
"""Mark ``summed_loss(P, x, M)``: −Σ_{i∈M} log P[i][x[i]] in nats, P a list of dicts."""


# ── 1.2 ───────────────────────────────────────────────────────────────────────────────────────────

GAPS, LETTERS = "ra", "abdelnr"
WANTED = {"right": (2, "2 bits", 2 * math.log(2)), "wrong": (3, "perplexity 3", math.log(3))}
"""What each table's mean loss must be: a number, its unit as well, and the same in nats."""

TABLES = (
    'Hand in {"right": […, …], "wrong": […, …]}, with a dictionary from letters to probabilities '
    "for each of the two gaps."
)


def _read_row(name: str, gap: str, row: Any) -> dict[str, float]:
    """Read the probabilities of one gap, with 0 for letters that are left out."""
    here = f"In `{name}`, the row for the gap {gap}"
    if not isinstance(row, dict):
        raise Symptom(f"{here} is {kind_of(row)}. {TABLES}")
    if strange := [letter for letter in row if letter not in [*LETTERS]]:
        raise Symptom(f"{here} has {strange[0]!r}, which is not one of the letters {LETTERS}.")
    p = {letter: number(row.get(letter, 0)) for letter in LETTERS}
    if not 0 <= min(p.values()) <= max(p.values()) <= 1:
        raise Symptom(f"{here} has a number below 0 or above 1, which is not a probability.")
    if not alike(total := sum(p.values()), 1.0):
        raise Symptom(
            f"{here} sums to {total:.4g}. Its probabilities must sum to 1. Hand out what is left, "
            "and write fractions such as 1/3 in full."
        )
    return p


def _look_at_favourite(name: str, gap: str, p: Mapping[str, float]) -> None:
    """Let the favourite be the truth in one table, and something else in the other."""
    best = max(p[letter] for letter in LETTERS if letter != gap)
    here = f"In `{name}`, at the gap {gap},"
    if alike(p[gap], best):
        raise Symptom(f"{here} two letters tie, so there is no favourite. Put one ahead.")
    if (p[gap] > best) != (name == "right"):
        raise Symptom(
            f"{here} the right letter is the favourite. In this table it must be another."
            if name == "wrong"
            else f"{here} another letter is ahead of the right one. Seven letters share, so even "
            "1/4 is enough to be the favourite: spread the rest evenly."
        )


def _mean_loss(truth: Sequence[float]) -> float:
    """Return the mean cost in nats of what the right letters get."""
    return 0.0 - math.log(math.prod(truth)) / len(truth) if all(truth) else math.inf  # never −0


def _judge_tables(tables: Any) -> str:
    if not isinstance(tables, dict) or {*tables} != {*WANTED}:
        raise Symptom(f"You hand in {kind_of(tables)}. {TABLES}")
    costs = []
    for name, (amount, wanted, nats) in WANTED.items():
        rows = tables[name]
        if not isinstance(rows, list | tuple) or len(rows) != len(GAPS):
            raise Symptom(f"`{name}` is {kind_of(rows)}; there are two gaps, r and a. {TABLES}")
        read = [_read_row(name, gap, row) for gap, row in zip(GAPS, rows, strict=True)]
        truth, exchanged = (
            [p[gap] for gap, p in zip(GAPS, order, strict=True)] for order in (read, read[::-1])
        )
        loss = _mean_loss(truth)
        if not alike(loss, nats) and alike(_mean_loss(exchanged), nats):
            raise Symptom(
                f"In `{name}` the two rows are exchanged: give the row for r first and then the "
                "row for a, as in the line."
            )
        if alike(loss, amount):
            raise Symptom(
                f"`{name}` pays {amount} nats on average, not {wanted}. A bit is 0.693 nats, and "
                "the perplexity is e to the power of the loss in nats."
            )
        for gap, p in zip(GAPS, read, strict=True):
            _look_at_favourite(name, gap, p)
        pays = f"{loss / math.log(2):.3f} bits, perplexity {math.exp(loss):.3f}"
        if not alike(loss, nats):
            why = f"Give both right letters the same probability: which one gives {wanted}?"
            if math.isinf(loss):
                why = "A right letter that gets 0 has an infinite cost."
            elif alike(2 * loss, nats):
                why = "That is what both gaps pay together. We ask for the mean."
            elif alike(sum(truth) / 2, math.exp(-nats)):
                why = (
                    "The mean of your two probabilities would be right, but the loss averages "
                    "logarithms."
                )
            elif abs(loss - nats) < 0.02:
                why = "That is close, but not exact. Write fractions, not rounded decimals."
            raise Symptom(f"`{name}` pays {pays} on average. We ask for {wanted}. {why}")
        costs.append(f"`{name}` pays {pays}")
    return f"{'; '.join(costs)}."


check_tables = Exercise(
    minutes=12,
    solution={
        "right": [{gap: 1 / 4} | {x: 1 / 8 for x in LETTERS if x != gap} for gap in GAPS],
        "wrong": [{"r": 1 / 3, "l": 2 / 3}, {"a": 1 / 3, "e": 2 / 3}],
    },
    judge=_judge_tables,
    solved="The table that is always wrong has the lower loss, because the loss does not ask for "
    "the favourite.",
)
"""Mark two tables for the gaps of b▒e▒d: right everywhere at 2 bits, wrong at perplexity 3."""


# ── 1.3 ──────────────────────────────────────────────────────────────────────────────────────────


def my_mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Average −log P(label) over the labels that are not −100, shapes (b, n, |V|) and (b, n)."""
    selected = labels != -100
    log_probs = logits[selected].log_softmax(dim=-1)
    ids = labels[selected]
    return -log_probs[torch.arange(len(ids)), ids].mean()


def batches(chance: Chance) -> Probes:
    """Make logits and labels: rows of unequal counts, one without any, and the label 0."""
    shapes = [(6, 5, [3, 1]), (4, 7, [1, 2, 3]), (9, 4, [4]), (8, 6, [2, 5, 1, 4]), (5, 6, [2, 0])]
    for length, symbols, counts in shapes:
        logits = 2 * torch.randn(len(counts), length, symbols, generator=chance.torch)
        labels = torch.full((len(counts), length), -100)
        for row, count in enumerate(counts):
            at = torch.randperm(length, generator=chance.torch)[:count]
            labels[row, at] = torch.randint(symbols, (count,), generator=chance.torch)
            labels[row, at[:1]] = 0  # a character like any other
        yield logits.requires_grad_(), labels


OWN = (
    "The exercise asks for the loss without F.cross_entropy. Pick the positions with labels != "
    "-100, take log_softmax of their logits, and pick the entry of each label yourself."
)


def _judge_loss(loss: Callable[..., Any]) -> None:
    """Let the logits be far apart, as those of a model that is sure are."""
    logits = torch.tensor([[[0.0, 200.0]]], requires_grad=True)
    if not alike(number(ask(loss, logits, torch.tensor([[0]]))), 200.0):
        raise Symptom(
            "It fails when logits are far apart: if the right character has 0 and another has 200, "
            "the loss is 200, and yours is not. softmax (or exp) gives numbers too small or too "
            "large for a float. log_softmax avoids that."
        )


check_my_mlm_loss = Exercise(
    solution=my_mlm_loss,
    minutes=15,
    wants=number_with_gradient,
    probes=batches,
    solved="It equals F.cross_entropy(…, ignore_index=-100).",
    judge=_judge_loss,
    direction="It is the mean of −log_softmax(logits) at the label, over the labels that are not "
    "-100. With log_softmax you need not add a small number or clamp anything.",
    without={
        "cross_entropy": OWN,
        "CrossEntropyLoss": OWN,
        "mlm_loss": "mlm_loss calls F.cross_entropy. " + OWN,
    },
)
"""Mark ``my_mlm_loss(logits, labels)``: mean −log P over the labels that are not −100."""
