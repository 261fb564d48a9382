"""The one change that makes a wrong function right: its place, by chance never, and soon enough."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from cloze.teaching.one_change import SECONDS, one_change
from cloze.teaching.results import Function


def right_on(*triples: tuple[float, float, float]) -> Callable[[Function], bool]:
    return lambda f: all(f(a, b) == c for a, b, c in triples)


SHARES = right_on((1, 4, 0.25), (3, 4, 0.75), (6, 3, 2.0))


def minus(part: float, whole: float) -> float:
    shrunk = part - 1
    return shrunk / whole


def two_places(part: float, whole: float) -> float:
    shrunk = part - 1
    return shrunk / (whole + 2)


def without_end(part: float, whole: float) -> float:
    while part < whole * 1e9 + 1e9:
        part += 0.001 * whole * 0.001
    return part / whole


def test_the_place_is_named_and_the_code_is_not() -> None:
    line = minus.__code__.co_firstlineno + 1
    assert one_change(minus, SHARES) == (
        f"One change in line {line} makes it right: look at `shrunk = part - 1`."
    )


@pytest.mark.parametrize("wrong", [two_places, without_end, len])
def test_where_no_single_change_helps_the_search_is_short(wrong: Function) -> None:
    start = time.process_time()
    assert one_change(wrong, SHARES) == ""
    assert time.process_time() - start < 2 * SECONDS
