"""Checks: what marks the exercises, by the symptom it sees.

Each check takes a learner's answer and returns a :class:`Verdict`, which a notebook shows as text.
A check knows the typical mistakes of its exercise and names what they look like from outside; it
never just says "wrong". Reference solutions and typical mistakes are tests (tests/test_checks.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer."""

    solved: bool
    message: str

    def __repr__(self) -> str:
        return self.message


def correct(message: str) -> Verdict:
    """Say that an answer is right, and what that shows."""
    return Verdict(solved=True, message=f"Correct. {message}")


def not_yet(message: str) -> Verdict:
    """Say that an answer is missing or wrong, and what was seen."""
    return Verdict(solved=False, message=f"Not yet. {message}")


class Unanswered(Exception):  # noqa: N818 - not an error: the cell simply was not filled in
    """The exercise has not been filled in, or the answer cannot be looked at; says how."""


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a learner's function.

    Raises:
        Unanswered: it returned nothing, or it raised; the message says which.
    """
    try:
        result = function(*arguments)
    except Exception as error:
        raise Unanswered(f"Your function raised {type(error).__name__}: {error}") from None
    if result is None or result is ...:
        raise Unanswered("Your function returns nothing so far: replace the ... by your answer.")
    return result


def marks(check: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Turn an :class:`Unanswered` inside a check into a verdict."""

    def marked(answer: Any) -> Verdict:
        if answer is None or answer is ...:
            return not_yet("Replace the ... by your answer and run the cell again.")
        try:
            return check(answer)
        except Unanswered as reason:
            return not_yet(str(reason))

    marked.__name__, marked.__doc__ = check.__name__, check.__doc__
    return marked
