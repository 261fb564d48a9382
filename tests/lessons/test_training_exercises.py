"""A training step can be written in many ways; the laboratory of exercise 4.1 accepts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.lessons.training.checks import check_train_step
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, mask_tokens

Optimizer = torch.optim.Optimizer


def improve(optimizer: Optimizer, loss: Tensor) -> float:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def at_selected(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    asked = labels != IGNORE
    return improve(optimizer, mlm_loss(model.logits_at(inputs, asked), labels[asked]))


def zeroed_at_the_end(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = mlm_loss(model(inputs), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    model.zero_grad()
    return float(loss.detach())


def looks_again(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    loss = improve(optimizer, mlm_loss(model(inputs), labels))
    print(mlm_loss(model(inputs), labels).item())
    return loss


def with_a_closure(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)

    def closure() -> float:
        optimizer.zero_grad()
        loss = mlm_loss(model(inputs), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.item()

    loss = optimizer.step(closure)
    assert loss is not None
    return loss


def masked_row_by_row(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    """Draw in another order, so that nothing equals the solution's numbers."""
    batches = [mask_tokens(window, 0.3) for window in windows]
    inputs, labels = (torch.stack(part) for part in zip(*batches, strict=True))
    return improve(optimizer, mlm_loss(model(inputs), labels))


def in_parts(model: MaskedLM, optimizer: Optimizer, windows: Tensor) -> float:
    inputs, labels = mask_tokens(windows, 0.3)
    count, total = (labels != IGNORE).sum(), 0.0
    optimizer.zero_grad()
    for part in zip(torch.split(inputs, 7), torch.split(labels, 7), strict=True):
        loss = mlm_loss(model(part[0]), part[1], "sum") / count
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    optimizer.step()
    return total


RIGHT = [
    at_selected,
    zeroed_at_the_end,
    looks_again,
    with_a_closure,
    masked_row_by_row,
    in_parts,
]


@pytest.mark.parametrize("step", RIGHT)
def test_every_right_step_is_accepted(step: Callable[..., Any]) -> None:
    verdict = check_train_step(step)
    assert verdict.solved, verdict.message


def test_a_check_leaves_the_notebooks_chance_alone() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    check_train_step(at_selected)
    assert torch.equal(torch.get_rng_state(), before)
