"""The loss, against the formula by hand."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cloze.loss import cost, expected_cost, mlm_loss, perplexity, to_bits
from cloze.masking import IGNORE


def some_logits_and_labels(shape: list[int], n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(*shape, n_symbols, generator=generator)
    labels = torch.randint(n_symbols, shape, generator=generator)
    labels[torch.rand(shape, generator=generator) < 0.5] = IGNORE
    labels.view(-1)[0] = 0  # one is always selected
    return logits, labels


@settings(deadline=None, derandomize=True)
@given(
    shape=st.lists(st.integers(1, 6), max_size=3),
    n_symbols=st.integers(1, 30),
    seed=st.integers(0, 2**32),
)
def test_the_loss_is_the_sum_by_hand(shape: list[int], n_symbols: int, seed: int) -> None:
    logits, labels = some_logits_and_labels(shape, n_symbols, seed)
    rows, answers = logits.double().reshape(-1, n_symbols), labels.reshape(-1).tolist()
    by_hand = 0.0
    for row, answer in zip(rows.tolist(), answers, strict=True):
        if answer != IGNORE:
            by_hand -= math.log(math.exp(row[answer]) / sum(map(math.exp, row)))
    size = sum(answer != IGNORE for answer in answers)
    assert mlm_loss(logits, labels, "sum").item() == pytest.approx(by_hand, rel=1e-6, abs=1e-6)
    assert mlm_loss(logits, labels).item() == pytest.approx(by_hand / size, rel=1e-6, abs=1e-6)


def test_nothing_selected_is_an_error_and_never_nan() -> None:
    with pytest.raises(ValueError, match=r"^No position is selected: every label is -100"):
        mlm_loss(torch.zeros(2, 3, 29), torch.full((2, 3), IGNORE))


def test_a_bet_and_a_truth_are_distributions() -> None:
    coin = {"a": 0.5, "b": 0.5}
    assert expected_cost(coin, coin) == pytest.approx(math.log(2))
    assert expected_cost(coin, {"a": 1.0}) == math.inf
    with pytest.raises(ValueError, match="The truth is a distribution: its shares sum to 1, not"):
        expected_cost({"a": 0.5}, coin)
    with pytest.raises(ValueError, match="The bet is a distribution"):
        expected_cost(coin, {"a": 1.0, "b": 1.0})


def test_units() -> None:
    assert to_bits(math.log(8)) == pytest.approx(3)
    assert perplexity(math.log(29)) == pytest.approx(29)
    assert (cost(0), to_bits(math.inf), perplexity(1e6)) == (math.inf,) * 3
