"""The checks of notebook 02: reference solutions, unfilled answers, and every typical mistake."""
# ruff: noqa: ARG005 - a mistake often is to forget an argument

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze.checks import Verdict, check_coverage, check_culprit, check_restore, check_second_rate


def restore(inputs: Tensor, labels: Tensor) -> Tensor:
    return torch.where(labels == -100, inputs, labels)


def second_rate(mask_share: float, random_share: float) -> float:
    return random_share / (1 - mask_share)


def coverage(epochs: int, mask_prob: float, copies: int) -> float:
    return 1 - (1 - mask_prob) ** min(epochs, copies)


def restore_in_place(inputs: Tensor, labels: Tensor) -> Tensor:
    inputs[labels != -100] = labels[labels != -100]
    return inputs


def restore_wrongly(inputs: Tensor, labels: Tensor) -> Tensor:
    return torch.where(labels == -100, inputs, labels).flip(0)


FUNCTION_CHECKS: list[Callable[[Any], Verdict]] = [
    check_restore,
    check_second_rate,
    check_coverage,
]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_restore, restore),
        (check_culprit, "C"),
        (check_culprit, " c "),
        (check_culprit, "suspect_c"),
        (check_second_rate, second_rate),
        (check_second_rate, lambda m, r: torch.tensor(r / (1 - m), dtype=torch.float64)),
        (check_coverage, coverage),
    ],
)
def test_reference_solutions(check: Callable[[Any], Verdict], answer: Any) -> None:
    verdict = check(answer)
    assert verdict.solved, verdict.message
    assert verdict.message.startswith("Correct. ")


@pytest.mark.parametrize(
    ("check", "answer", "symptom"),
    [
        (check_restore, lambda inputs, labels: labels, "-100"),
        (check_restore, lambda inputs, labels: inputs, "as they are"),
        (check_restore, restore_in_place, "changes the batch"),
        (check_restore, restore_wrongly, "At row 0, position 0, input 18 and label 18 give 2"),
        (
            check_restore,
            lambda inputs, labels: torch.where(inputs == 28, labels, inputs),
            "a swapped character stays",
        ),
        (
            check_restore,
            lambda inputs, labels: torch.where(labels == -100, labels, inputs),
            "-100",
        ),
        (check_restore, lambda inputs, labels: labels[labels != -100], "shape of inputs"),
        (check_restore, lambda inputs, labels: "text", "tensor of ids"),
        (check_culprit, "A", "one in 28"),
        (check_culprit, "B", "half of the 20 %"),
        (check_culprit, "D", "80/2/18"),
        (check_culprit, "E", "letter of one suspect"),
        (check_culprit, 3, "letter of one suspect"),
        (check_second_rate, lambda m, r: r, "suspect D"),
        (check_second_rate, lambda m, r: r * (1 - m), "divide by it"),
        (check_second_rate, lambda m, r: r / m, "divide by what is left over"),
        (check_second_rate, lambda m, r: 1 - m - r, "share that is kept"),
        (check_second_rate, lambda m, r: 1 - m, "everything that is left over"),
        (check_second_rate, lambda m, r: 0.5, "fits 80/10/10 only"),
        (check_second_rate, lambda m, r: 0.9, "instead of 0.2"),
        (check_second_rate, lambda m, r: "half", "return one number"),
        (check_coverage, lambda e, p, c: (1 - p) ** min(e, c), "never selected"),
        (check_coverage, lambda e, p, c: 1 - (1 - p) ** e, "masks repeat"),
        (check_coverage, lambda e, p, c: 1 - (1 - p) ** c, "as many copies"),
        (check_coverage, lambda e, p, c: p * min(e, c), "added the rates"),
        (check_coverage, lambda e, p, c: p * e, "added the rates"),
        (check_coverage, lambda e, p, c: p ** min(e, c), "every single time"),
        (check_coverage, lambda e, p, c: 0.15, "instead of"),
        (check_coverage, lambda e, p, c: [p], "return one number"),
    ],
)
def test_mistakes_are_told_by_their_symptom(
    check: Callable[[Any], Verdict], answer: Any, symptom: str
) -> None:
    verdict = check(answer)
    assert not verdict.solved
    assert verdict.message.startswith("Not yet. ")
    assert symptom in verdict.message
