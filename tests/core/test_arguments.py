"""Arguments: they fit their annotations, or one sentence names the one that does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
import torch

from cloze.arguments import (
    Count,
    Lines,
    Probability,
    Selected,
    checked,
    known_symbols,
    positions,
    shown,
)


@checked
def ask(
    lines: Lines | None = None,
    selected: Selected | None = None,
    rate: Probability = 0.5,
    k: Count = 1,
    within: Literal["alone", "words"] = "alone",
    *,
    at_once: bool = False,
    shares: Mapping[str, float] | None = None,
) -> tuple[Any, ...]:
    """Return what arrived."""
    return lines, selected, rate, k, within, at_once, shares


IDS = torch.zeros(2, 3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rate": 2}, "rate is a number from 0 to 1, not 2."),
        ({"k": 1.5}, "k is a whole number of at least 1, not 1.5."),
        ({"within": "both"}, "within is of type Literal['alone', 'words'], not 'both'."),
        ({"shares": [1]}, "shares is of type Mapping[str, float] or None, not [1]."),
        (
            {"lines": IDS, "selected": torch.ones(2, 4, dtype=torch.bool)},
            "selected is of type Bool[Tensor, 'batch length'] or None, not a tensor of bool and "
            "shape (2, 4); a dimension has the same size in all arguments.",
        ),
    ],
)
def test_a_bad_argument_is_refused_in_one_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the whole sentence is compared
        ask(**given)
    assert str(refusal.value) == sentence


@checked
@dataclass(frozen=True)
class Range:
    """Its field is checked when it is made."""

    low: Probability = 0.0


def test_the_fields_of_a_dataclass_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^low is a number from 0 to 1, not 2\.$"):
        Range(low=2)


def test_numbers_of_numpy_and_torch_become_pythons() -> None:
    numbers: Any = np.float32(0.25), torch.tensor(3)
    assert [*map(type, ask(IDS, IDS > 0, *numbers)[2:4])] == [float, int]


@pytest.mark.parametrize("bad", ["4", None, [4.5], [-1], [9], [math.inf], [[1]]])
def test_positions_outside_a_line_are_refused(bad: Any) -> None:
    assert positions((np.int64(3), torch.tensor(5)), 9) == [3, 5]
    with pytest.raises(ValueError, match="whole number"):
        positions(bad, 9)


def test_ids_that_no_vocabulary_knows() -> None:
    with pytest.raises(ValueError, match="0 to 27, not to 28"):
        known_symbols(torch.tensor([0, 28]), 28)


def test_what_is_shown_is_one_short_line() -> None:
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 1000)) < 70
