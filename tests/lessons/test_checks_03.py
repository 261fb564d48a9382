"""The checks of notebook 03: the reference solution, an empty cell, and every mistake."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze.checks import Verdict, check_layer_parameters, check_my_attention, check_my_may_look
from cloze.encoder import parameter_ledger

Check = Callable[[Any], Verdict]
CHECKS: list[Check] = [check_my_attention, check_my_may_look, check_layer_parameters]
NO = float("-inf")


@pytest.mark.parametrize("check", CHECKS)
def test_an_answer_of_another_kind_is_told_its_type(check: Check) -> None:
    verdict = check(lambda *_: "a word")
    assert not verdict.solved
    assert "returns a str" in verdict.message or "return a str" in verdict.message


def told(check: Check, answer: Any, words: str) -> None:
    verdict = check(answer)
    assert not verdict.solved
    assert words in verdict.message


# ── my_attention ──


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.T / math.sqrt(query.shape[-1])


def my_attention(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, NO).softmax(-1) @ value


def wrong_axis(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, NO).softmax(0) @ value


def wrong_axis_masked_after(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (scores_of(query, key).softmax(0) * look) @ value


def unscaled(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (query @ key.T).masked_fill(~look, NO).softmax(-1) @ value


def multiplied(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    scores = query @ key.T * math.sqrt(query.shape[-1])
    return scores.masked_fill(~look, NO).softmax(-1) @ value


def divided_by_width(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (query @ key.T / query.shape[-1]).masked_fill(~look, NO).softmax(-1) @ value


def divided_by_length(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    scores = query @ key.T / math.sqrt(len(query))
    return scores.masked_fill(~look, NO).softmax(-1) @ value


def masked_with_zero(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, 0).softmax(-1) @ value


def masked_by_product(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (scores_of(query, key) * look).softmax(-1) @ value


def masked_after_softmax(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (scores_of(query, key).softmax(-1) * look) @ value


def unmasked(query: Tensor, key: Tensor, value: Tensor, _look: Tensor) -> Tensor:
    return scores_of(query, key).softmax(-1) @ value


def masked_where_allowed(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(look, NO).softmax(-1) @ value


def masked_by_adding(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (scores_of(query, key) + ~look * NO).softmax(-1) @ value


def mask_turned(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look.T, NO).softmax(-1) @ value


def weights_turned(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, NO).softmax(-1).T @ value


def without_softmax(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, 0) @ value


def weights_only(query: Tensor, key: Tensor, _value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, NO).softmax(-1)


def gathers_keys(query: Tensor, key: Tensor, _value: Tensor, look: Tensor) -> Tensor:
    return scores_of(query, key).masked_fill(~look, NO).softmax(-1) @ key


def not_transposed(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return (query @ key).masked_fill(~look, NO).softmax(-1) @ value


def writes_into_value(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    value += 1
    return my_attention(query, key, value, look)


def writes_into_query(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    query /= math.sqrt(query.shape[-1])
    return (query @ key.T).masked_fill(~look, NO).softmax(-1) @ value


def one_row(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return my_attention(query, key, value, look)[0]


def something_else(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
    return my_attention(query, key, value, look) + 0.5


def test_my_attention_solved() -> None:
    assert check_my_attention(my_attention).solved


def test_my_attention_by_torch_is_solved_too() -> None:
    def torchs(query: Tensor, key: Tensor, value: Tensor, look: Tensor) -> Tensor:
        return torch.nn.functional.scaled_dot_product_attention(
            query[None], key[None], value[None], attn_mask=look
        )[0]

    assert check_my_attention(torchs).solved


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (wrong_axis, "columns of your weights sum to 1"),
        (wrong_axis_masked_after, "columns of your weights sum to 1"),
        (unscaled, "did you forget to divide"),
        (multiplied, "you multiplied by the square root"),
        (divided_by_width, "divide by its square root"),
        (divided_by_length, "square root of the length"),
        (masked_with_zero, "masked their scores with 0"),
        (masked_by_product, "masked their scores with 0"),
        (masked_after_softmax, "masked after the softmax"),
        (unmasked, "does not depend on `look`"),
        (masked_where_allowed, "−inf where `look` is True"),
        (masked_by_adding, "0 times −inf is NaN"),
        (mask_turned, "`look` turned round"),
        (weights_turned, "right but turned round"),
        (without_softmax, "a softmax turns each row into shares"),
        (weights_only, "multiply them by V"),
        (gathers_keys, "you gather the keys"),
        (not_transposed, "raised RuntimeError"),
        (writes_into_value, "changes what it is given"),
        (writes_into_query, "changes what it is given"),
        (one_row, "has the shape (3,)"),
        (something_else, "off by up to 0.50"),
    ],
)
def test_my_attention_mistakes(mistake: Callable[..., Any], words: str) -> None:
    told(check_my_attention, mistake, words)


# ── my_may_look ──


def my_may_look(length: int, direction: str) -> Tensor:
    query, key = torch.arange(length)[:, None], torch.arange(length)
    if direction == "both":
        return torch.ones(length, length, dtype=torch.bool)
    return key <= query if direction == "left" else key >= query


def shifted(length: int, direction: str) -> Tensor:
    query, key = torch.arange(length)[:, None], torch.arange(length)
    if direction == "both":
        return torch.ones(length, length, dtype=torch.bool)
    return key < query if direction == "left" else key > query


def only_left(length: int, direction: str) -> Tensor:
    return my_may_look(length, "both" if direction == "both" else "left")


def test_my_may_look_solved() -> None:
    assert check_my_may_look(my_may_look).solved
    assert check_my_may_look(lambda n, d: my_may_look(n, d).tolist()).solved
    assert check_my_may_look(lambda n, d: my_may_look(n, d).int()).solved


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda n, d: my_may_look(n, d).T, "left and right are swapped"),
        (shifted, "do not see themselves"),
        (lambda n, _: my_may_look(n, "left"), "the same for every direction"),
        (lambda n, _: my_may_look(n, "both"), "the same for every direction"),
        (lambda n, d: ~shifted(n, d), "position"),
        (lambda n, d: ~my_may_look(n, d), "do not see themselves"),
        (only_left, "For 'right' you say that position 0 may not look at position 1"),
        (lambda n, d: my_may_look(n + 1, d), "has the shape (5, 5)"),
        (lambda n, d: torch.zeros(n, n).masked_fill(~my_may_look(n, d), NO), "True or False"),
        (lambda n, d: my_may_look(n, d) if d != "both" else None, "returns nothing"),
    ],
)
def test_my_may_look_mistakes(mistake: Callable[..., Any], words: str) -> None:
    told(check_my_may_look, mistake, words)


# ── layer_parameters ──


def layer_parameters(d: int, f: int) -> int:
    return 4 * (d * d + d) + (d * f + f) + (f * d + d) + 4 * d


def test_layer_parameters_solved() -> None:
    assert check_layer_parameters(layer_parameters).solved


def test_layer_parameters_agree_with_the_ledger() -> None:
    ledger = parameter_ledger(29, 128, 1, 256)
    layer = sum(count for part, count in ledger.items() if part.startswith("layer 1"))
    assert layer == layer_parameters(128, 256)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda d, f: 4 * d * d + 2 * d * f + 4 * d, "the biases are missing"),
        (lambda d, f: 4 * d * d + 2 * d * f, "there are two norms"),
        (lambda d, f: layer_parameters(d, f) - 4 * d, "either the two norms"),
        (lambda d, f: layer_parameters(d, f) - 2 * d, "half of the norms"),
        (lambda d, f: layer_parameters(d, f) - d * d - d, "values (V!)"),
        (lambda d, f: layer_parameters(d, f) - 2 * (d * d + d), "two matrices of attention"),
        (lambda d, f: layer_parameters(d, f) - (f * d + d), "the way down is missing"),
        (lambda d, f: layer_parameters(d, f) - (d * f + f), "the way up is missing"),
        (lambda d, f: layer_parameters(d, f) - f + d, "biases of the way up are d_ff many"),
        (lambda d, f: layer_parameters(d, f) - d + f, "biases of the way down are d_model many"),
        (lambda d, f: layer_parameters(d, f) - f - d, "biases of the feed-forward network"),
        (lambda d, f: 2 * layer_parameters(d, f), "this is two layers"),
        (lambda d, f: layer_parameters(d, f) + 7, "instead of 1,057"),
        (lambda d, _: layer_parameters(d, 3 * d), "does not change with d_ff"),
        (lambda _, f: 1057 + 21 * (f - 27), "not for 128"),
    ],
)
def test_layer_parameters_mistakes(mistake: Callable[..., Any], words: str) -> None:
    told(check_layer_parameters, mistake, words)
