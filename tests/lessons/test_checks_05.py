"""The checks of notebook 05: the reference solutions, empty cells, and every mistake."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze.checks import check_bet_price, check_hide_right
from cloze.lessons.the_explorer.guessing_rules import Bet, bits, frequencies_of_letters
from cloze.vocabulary import VOCABULARY

# ── bet_price ──

Frequencies = Mapping[str, float]


def bet_price(letter: str, sure: float, truth: str, frequencies: Frequencies) -> float:
    if letter == truth:
        return -math.log2(sure)
    return -math.log2((1 - sure) * frequencies[truth] / (1 - frequencies[letter]))


def test_bet_price_solved() -> None:
    verdict = check_bet_price(bet_price)
    assert verdict.solved, verdict.message


def test_the_game_asks_the_same_price() -> None:
    frequencies = frequencies_of_letters()
    for truth in "e q":
        assert bits(Bet("e", 80), truth, frequencies) == pytest.approx(
            bet_price("e", 0.8, truth, frequencies)
        )


def priced(right: float, wrong: float = 0.2 * 0.1 / 0.6) -> Callable[..., float]:
    """Return a mistake: one that gives the truth these probabilities."""
    return lambda letter, _, truth, __: -math.log2(right if letter == truth else wrong)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda *given: -bet_price(*given), "forget the minus"),
        (lambda *given: bet_price(*given) * math.log(2), "in nats"),
        (lambda *given: 2 ** -bet_price(*given), "that is the probability"),
        (lambda letter, _, truth, __: float(letter != truth), "100 % sure"),
        (priced(0.4), "the letter's frequency"),
        (priced(0.2), "what is left over"),
        (priced(0.88), "*other* characters"),
        (priced(0.5), "instead of −log2 0.8"),
        (lambda le, s, t, _: -math.log2(s) if le == t else math.inf, "left a share"),
        (priced(0.8, 0.8), "if e were the truth"),
        (priced(0.8, 0.2), "all of the rest"),
        (priced(0.8, 0.2 / 3), "evenly"),
        (priced(0.8, 0.02), "sum to less than 1"),
        (priced(0.8, 0.02 / 0.9), "the one left out"),
        (priced(0.8, 0.1), "q's frequency"),
        (lambda le, s, t, _: -math.log2(s) if le == t else -math.log(0.2 / 6), "in nats"),
        (priced(0.8, 0.3), "instead of −log2(0.2"),
        (lambda *_: "e", "returns a str"),
    ],
)
def test_bet_price_mistakes(mistake: Callable[..., Any], words: str) -> None:
    verdict = check_bet_price(mistake)
    assert not verdict.solved
    assert words in verdict.message


# ── hide_right ──

MASK = VOCABULARY.mask_id


def hide_right(input_ids: Tensor, position: int) -> Tensor:
    hidden = input_ids.clone()
    hidden[position + 1 :] = MASK
    return hidden


def test_hide_right_solved() -> None:
    assert check_hide_right(hide_right).solved


def hiding(choose: Callable[[Tensor, int], Tensor], value: int = MASK) -> Callable[..., Tensor]:
    """Return a mistake: one that hides other positions, or hides them otherwise."""
    return lambda ids, at: ids.masked_fill(choose(torch.arange(len(ids)), at), value)


def in_place(input_ids: Tensor, position: int) -> Tensor:
    input_ids[position + 1 :] = MASK
    return input_ids


def not_at_the_end(input_ids: Tensor, position: int) -> Tensor:
    return hide_right(input_ids, min(position, len(input_ids) - 2))


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (in_place, "work on a copy"),
        (not_at_the_end, "Right of the last position"),
        (lambda ids, _: ids.clone(), "as it was"),
        (lambda ids, at: ids[: at + 1], "do not cut it off"),
        (lambda ids, at: hide_right(ids, at).tolist(), "returns a list"),
        (hiding(lambda i, at: i > at, 0), "You hide with 0"),
        (hiding(lambda i, at: i >= at), "the position itself"),
        (hiding(lambda i, at: i > at + 1), "first neighbour"),
        (hiding(lambda i, at: i < at), "the left side"),
        (hiding(lambda i, at: i <= at), "the left side, and"),
        (hiding(lambda i, at: i != at), "both sides"),
        (hiding(lambda i, at: i == at + 1), "one neighbour"),
        (hiding(lambda i, at: i == at + 2), "instead of [3, 4, 5]"),
    ],
)
def test_hide_right_mistakes(mistake: Callable[..., Any], words: str) -> None:
    verdict = check_hide_right(mistake)
    assert not verdict.solved
    assert words in verdict.message
