"""What the command ``measured.what_to_hide.comparison`` measured, as notebook 08 shows it."""

from __future__ import annotations

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results

RATE = 0.3
"""The rate of everything that is not about rates: the recipe's."""


def by_seed(part: str, name: str, question: str) -> list[float]:
    """Return what the models that were trained in one way pay for a kind of question.

    Args:
        part: what varies: "world" and "rates", "shares", "shapes" or "copies"; or "closer", for
            what only some models were asked.
        name: the rate, the shares, the shape or the number of copies.
        question: what is measured.
    """
    if (part, name) in (("shares", "80/10/10"), ("shapes", "characters")):
        part, name = "rates", f"{RATE:.0%}"  # the same models
    runs = load_results("what_to_hide", "comparison")["runs"][part][name].values()
    return [run[question] for run in runs]


def paid(part: str, name: str, question: str) -> Repeated:
    """Return the mean of what :func:`by_seed` returns, and its spread."""
    return Repeated.of(by_seed(part, name, question))


def steps(text: str) -> int:
    """Return for how many steps the models of a text were trained."""
    return int(load_results("what_to_hide", "comparison")["steps"][text])
