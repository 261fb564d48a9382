"""The checks of notebook 04: the reference solution, an empty cell, and every mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.checks import Verdict, check_beaten, check_diagnosis, check_train_step
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import mask_tokens

Check = Callable[[Any], Verdict]
FUNCTIONS: list[Check] = [check_train_step, check_beaten]
Optimizer = torch.optim.Optimizer


# ── train_step ──


def improve(optimizer: Optimizer, loss: Tensor) -> float:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def reference(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    return improve(optimizer, mlm_loss(model(inputs), labels))


def at_selected(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    selected = labels >= 0
    return improve(optimizer, mlm_loss(model.logits_at(inputs, selected), labels[selected]))


def zeroed_at_the_end(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> Tensor:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    model.zero_grad()
    return loss


@pytest.mark.parametrize("step", [reference, at_selected, zeroed_at_the_end])
def test_train_step_solved(step: Callable[..., Any]) -> None:
    verdict = check_train_step(step)
    assert verdict.solved, verdict.message
    assert repr(verdict).startswith("Correct. ")


def no_model(_: MaskedLM, __: Optimizer, windows: Tensor) -> float:
    inputs, _labels = mask_tokens(windows, 0.3)
    return inputs.float().mean().item()


def in_place(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    windows[:] = inputs
    return improve(optimizer, mlm_loss(model(windows), labels))


def shows_the_answers(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    _, labels = mask_tokens(windows, 0.3)
    return improve(optimizer, mlm_loss(model(windows), labels))


def masks_once(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    generator = torch.Generator().manual_seed(0)
    inputs, labels = mask_tokens(windows, 0.3, generator=generator)
    return improve(optimizer, mlm_loss(model(inputs), labels))


def at_15(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows)
    return improve(optimizer, mlm_loss(model(inputs), labels))


def no_backward(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def no_step(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


def no_zero_grad(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def zeroed_too_late(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def steps_first(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    optimizer.zero_grad()
    optimizer.step()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


def everywhere(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, _ = mask_tokens(windows, 0.3)
    return improve(optimizer, F.cross_entropy(model(inputs).flatten(0, 1), windows.flatten()))


def copies_the_inputs(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, _ = mask_tokens(windows, 0.3)
    return improve(optimizer, F.cross_entropy(model(inputs).flatten(0, 1), inputs.flatten()))


def summed(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    return improve(optimizer, mlm_loss(model(inputs), labels, reduction="sum"))


def no_number(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> str:
    reference(model, optimizer, windows)
    return "done"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (no_model, "never asks the model"),
        (in_place, "windows are changed"),
        (shows_the_answers, "read off the answers"),
        (masks_once, "generator with a fixed seed"),
        (at_15, "Did you pass the 0.3?"),
        (no_backward, "call loss.backward()"),
        (no_step, "optimizer.step()"),
        (no_zero_grad, "gradient of the first as well"),
        (zeroed_too_late, "not between backward() and step()"),
        (steps_first, "before backward()"),
        (everywhere, "mean over all positions"),
        (copies_the_inputs, "the answers are in the labels"),
        (summed, "about log 29"),
        (no_number, "returns a str"),
    ],
)
def test_train_step_mistakes(step: Callable[..., Any], words: str) -> None:
    verdict = check_train_step(step)
    assert not verdict.solved
    assert words in verdict.message


# ── diagnosis ──


def test_diagnosis_solved() -> None:
    assert check_diagnosis({"A": 2, "B": 3, "C": 1}).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"A": ..., "B": ..., "C": ...}, "Replace the ..."),
        ([2, 3, 1], "dict such as"),
        ({"A": 2}, "dict such as"),
        ({"A": 2, "B": 2, "C": 1}, "exactly one loop"),
        ({"A": [2], "B": 3, "C": 1}, "one whole number"),
        ({"A": 3, "B": 2, "C": 1}, "Loop A"),
        ({"A": 2, "B": 1, "C": 3}, "Loop B"),
        ({"A": 1, "B": 3, "C": 2}, "Loop A"),
    ],
)
def test_diagnosis_mistakes(answer: Any, words: str) -> None:
    verdict = check_diagnosis(answer)
    assert not verdict.solved
    assert words in verdict.message


# ── beaten ──

Prices = Mapping[str, float]


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_beaten_solved(kind: type) -> None:
    assert check_beaten(lambda loss, prices: kind(n for n, p in prices.items() if loss < p)).solved


@pytest.mark.parametrize(
    ("beaten", "words"),
    [
        (lambda loss, prices: [n for n, p in prices.items() if loss > p], "lower is better"),
        (lambda loss, prices: [n for n, p in prices.items() if loss <= p], "a tie"),
        (lambda loss, prices: [p for n, p in prices.items() if loss < p], "return the names"),
        (lambda loss, prices: sum(loss < p for p in prices.values()), "of type int"),
        (lambda _, prices: max(prices, key=prices.__getitem__), "of type str"),
        (lambda _, prices: [[n] for n in prices], "instead of"),
        (lambda _, prices: list(prices), "instead of"),
    ],
)
def test_beaten_mistakes(beaten: Callable[[float, Prices], Any], words: str) -> None:
    verdict = check_beaten(beaten)
    assert not verdict.solved
    assert words in verdict.message
