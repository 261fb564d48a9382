"""The checks of notebooks 00 and 01: the reference solution, an empty cell, and every mistake."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.checks import (
    Verdict,
    check_count_gaps,
    check_my_mlm_loss,
    check_summed_loss,
    check_units,
)

Check = Callable[[Any], Verdict]


def told(check: Check, answer: Any, words: str) -> None:
    verdict = check(answer)
    assert not verdict.solved
    assert words in verdict.message


# ── count_gaps ──


def test_count_gaps_solved() -> None:
    assert check_count_gaps(lambda line: line.count("_")).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda line: "_" in line, "whether there is a gap"),
        (lambda line: [i for i, c in enumerate(line) if c == "_"], "of type list"),
        (len, "every character"),
        (lambda line: len(line) - line.count("_"), "count the missing ones"),
        (lambda line: line.count(" "), "3 gaps and you count 4"),
        (lambda _: 3, "did you write the 3 down"),
        (lambda line: sum("_" in word for word in line.split()), "two gaps may share a word"),
        (lambda line: line.index("_"), "3 gaps and you count 11"),
    ],
)
def test_count_gaps_mistakes(answer: Callable[[str], Any], words: str) -> None:
    told(check_count_gaps, answer, words)


# ── summed_loss ──

Table = list[dict[str, float]]


def truths(table: Table, x: str, selected: list[int]) -> list[float]:
    return [table[i][x[i]] for i in selected]


def test_summed_loss_solved() -> None:
    assert check_summed_loss(lambda t, x, m: -sum(map(math.log, truths(t, x, m)))).solved
    assert check_summed_loss(lambda t, x, m: -np.log(truths(t, x, m)).sum()).solved
    assert check_summed_loss(lambda t, x, m: -torch.tensor(truths(t, x, m)).log().sum()).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda t, x, m: sum(map(math.log, truths(t, x, m))), "forget the minus"),
        (lambda t, x, m: -sum(map(math.log2, truths(t, x, m))), "right in bits"),
        (lambda t, x, m: -sum(map(math.log10, truths(t, x, m))), "base 10"),
        (lambda t, x, m: -np.log(truths(t, x, m)).mean(), "that is the mean"),
        (lambda t, x, _: -sum(map(math.log, truths(t, x, list(range(len(x)))))), "outside M"),
        (lambda t, _, m: -sum(math.log(max(t[i].values())) for i in m), "largest probability"),
        (lambda t, x, m: math.prod(truths(t, x, m)), "multiplied"),
        (lambda t, x, m: sum(truths(t, x, m)), "added the probabilities"),
        (lambda t, x, m: -sum(truths(t, x, m)), "added the probabilities"),
        (lambda t, x, m: -math.log(sum(truths(t, x, m))), "logarithm of the sum"),
        (lambda t, x, m: sum(1 - p for p in truths(t, x, m)), "summed 1 − P"),
        (lambda t, x, m: -math.log(t[m[0]][x[m[0]]]), "inside the loop"),
        (lambda t, x, m: -np.log(np.prod(truths(t, x, m))), "underflows"),
        (lambda t, x, m: -math.log(math.prod(truths(t, x, m))), "raised ValueError"),
        (lambda t, x, m: [-math.log(p) for p in truths(t, x, m)], "returns a list"),
        (lambda *_: 7.0, "instead of −log 0.2 − log 0.5"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_summed_loss_mistakes(answer: Callable[..., Any], words: str) -> None:
    told(check_summed_loss, answer, words)


# ── units ──


def mean(costs: list[float]) -> float:
    return sum(costs) / len(costs)


def test_units_solved() -> None:
    assert check_units(lambda c: (mean(c), mean(c) / math.log(2), math.exp(mean(c)))).solved
    assert check_units(lambda c: [np.mean(c), np.mean(c) / np.log(2), np.exp(np.mean(c))]).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda _: (..., ..., ...), "Replace the ..."),
        (lambda c: (mean(c), ..., ...), "Replace the ..."),
        (mean, "three numbers"),
        (lambda c: (mean(c), math.exp(mean(c))), "three numbers"),
        (lambda c: (sum(c), 2, 4), "it is the sum"),
        (lambda c: (max(c), 2, 4), "mean of the costs is 1.386"),
        (lambda c: (mean(c), mean(c) * math.log(2), 4), "multiplied by log 2"),
        (lambda c: (mean(c), math.log2(mean(c)), 4), "a logarithm already"),
        (lambda c: (mean(c), 7, 4), "2.000 bits"),
        (lambda c: (mean(c), 2, 2 ** mean(c)), "belong to e"),
        (lambda c: (mean(c), 2, math.exp(2)), "belongs to nats"),
        (lambda c: (mean(c), 2, math.exp(sum(c))), "the power of the sum"),
        (lambda c: (mean(c), 2, mean([math.exp(cost) for cost in c])), "averaged e^cost"),
        (lambda c: (mean(c), 2, math.exp(-mean(c))), "below 1"),
        (lambda c: (mean(c), 2, 5), "your perplexity is 5"),
    ],
)
def test_units_mistakes(answer: Callable[..., Any], words: str) -> None:
    told(check_units, answer, words)


# ── my_mlm_loss ──


def picked(log_probs: Tensor, labels: Tensor) -> Tensor:
    """Return the entries of the labels that are not -100, shape (|M|,)."""
    selected = labels != -100
    return log_probs[selected].gather(1, labels[selected][:, None])[:, 0]


def reference(logits: Tensor, labels: Tensor) -> Tensor:
    return -picked(logits.log_softmax(-1), labels).mean()


def torch_reference(logits: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())


def at_zero(logits: Tensor, labels: Tensor) -> Tensor:
    return logits.log_softmax(-1).gather(2, labels.clamp(min=0)[..., None])[..., 0]


def mean_of_rows(logits: Tensor, labels: Tensor) -> Tensor:
    rows = [reference(lo, la) for lo, la in zip(logits, labels, strict=True)]
    return torch.stack(rows).mean()


def in_place(logits: Tensor, labels: Tensor) -> Tensor:
    loss = reference(logits, labels)
    labels[labels == -100] = 0
    return loss


def test_my_mlm_loss_solved() -> None:
    assert check_my_mlm_loss(reference).solved
    assert check_my_mlm_loss(torch_reference).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda lo, la: -reference(lo, la), "forget the minus"),
        (lambda lo, la: -picked(lo.log_softmax(-1), la).sum(), "it is the sum"),
        (lambda lo, la: -picked(lo.log_softmax(-1), la).sum() / la.numel(), "by all positions"),
        (lambda lo, la: -picked(lo.log_softmax(-1), la).sum() / len(la), "number of rows"),
        (mean_of_rows, "averaged each row"),
        (lambda lo, la: -at_zero(lo, la).mean(), "count as character 0"),
        (
            lambda lo, la: -lo.log_softmax(-1).gather(2, la[..., None]).mean(),
            "-100 was used as an index",
        ),
        (lambda lo, la: reference(lo, la) / math.log(2), "right in bits"),
        (
            lambda lo, la: -lo.log_softmax(-1).max(-1).values[la != -100].mean(),
            "does not change when the labels do",
        ),
        (lambda lo, _: -lo.log_softmax(-1).max(-1).values.mean(), "where there is one"),
        (lambda lo, la: -picked(lo.log_softmax(0), la).mean(), "over axis 0"),
        (lambda lo, la: -picked(lo.log_softmax(1), la).mean(), "over axis 1"),
        (lambda lo, la: -picked(lo.log(), la).mean(), "is NaN"),
        (lambda lo, la: -picked(lo, la).mean(), "averaged −logits"),
        (lambda lo, la: picked(lo, la).mean(), "averaged the logits"),
        (lambda lo, la: -picked(lo.softmax(-1), la).mean(), "averaged −P"),
        (lambda lo, la: picked(lo.softmax(-1), la).mean(), "averaged P itself"),
        (lambda lo, la: -picked(lo.softmax(-1), la).mean().log(), "logarithm of the mean"),
        (lambda lo, la: -picked(lo.log_softmax(-1), la), "the shape (4,)"),
        (lambda lo, la: reference(lo, la).item(), "no longer a tensor"),
        (lambda lo, la: reference(lo, la).detach(), "no gradient"),
        (lambda lo, la: -picked(lo.softmax(-1).log(), la).mean(), "underflows"),
        (in_place, "changes its logits or labels"),
        (lambda *_: "loss", "returns a str"),
        (lambda lo, la: reference(lo, la) + 1, "4 labels that are not -100"),
    ],
)
def test_my_mlm_loss_mistakes(answer: Callable[..., Any], words: str) -> None:
    told(check_my_mlm_loss, answer, words)
