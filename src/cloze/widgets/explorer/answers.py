"""What predictors answer to a question of the explorer: few numbers, however many symbols."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from cloze.prediction import Comparison, Predictor
from cloze.vocabulary import GAP

LIKELIEST = 8
"""How many symbols of each predictor an answer has."""
PAIRS_SHOWN = 5
FEW = 500
"""So many symbols are listed to choose from; of more, one is typed."""

Data = dict[str, Any]
"""What is sent as JSON; an infinite cost is written "Infinity", an unknown one null."""


@dataclass(frozen=True)
class Question:
    """A line, what of it is hidden, and what is looked at."""

    truth: tuple[str, ...]
    """The line, ``GAP`` where not even the line knows the truth."""
    masked: frozenset[int]
    filled: Mapping[int, str]
    """Masked positions that hold somebody's guess: it is read, and the others are predicted."""
    hands: Mapping[int, Mapping[str, int]]
    """How many hands were raised for which symbol, by position."""
    focus: int
    view: str

    @classmethod
    def sent(cls, said: Mapping[str, Any]) -> Question:
        """Read what the browser asks."""
        return cls(
            tuple(said["truth"]),
            frozenset(said["masked"]),
            by_position(said["filled"]),
            by_position(said["hands"]),
            said["focus"],
            said["view"],
        )

    @property
    def open(self) -> tuple[int, ...]:
        """Masked positions that nothing fills: what is predicted, ascending."""
        return tuple(sorted(self.masked - self.filled.keys()))

    @property
    def held(self) -> tuple[str, ...]:
        """The line with what was filled in; no open position is hidden."""
        return tuple(self.filled.get(i, symbol) for i, symbol in enumerate(self.truth))

    def known_truth(self, position: int) -> str | None:
        """Return the true symbol; None where nobody knows it."""
        return None if self.truth[position] == GAP else self.truth[position]


def by_position(said: Mapping[str, Any]) -> dict[int, Any]:
    """Read a mapping from positions, which JSON writes as text."""
    return {int(at): each for at, each in said.items()}


def written(number: float | None) -> float | str | None:
    """Write a cost for JSON, which knows no infinity."""
    return "Infinity" if number == math.inf else number


def read(number: float | str | None) -> float | None:
    """Read a cost again."""
    return None if number is None else float(number)


def guesses(question: Question, said: Comparison, last: Predictor) -> Data:
    """Return what is guessed, where it is open, and what the view shows besides.

    Args:
        question: what is asked.
        said: what every predictor answers at the open positions.
        last: the predictor that the words speak of.

    Returns:
        ``symbols``, those that anybody finds likeliest at the focus, with the truth and what hands
        were raised for; ``readers``, each with its ``name``, ``p`` of these symbols and the
        ``costs`` of the truth by open position; the ``baseline`` likewise, with its ``text``;
        ``pair``; ``attention``, where each head of each layer looks from the focus; ``n_layers``
        and ``n_heads``.
    """
    at, known = question.focus, said.symbols.known
    truths = {i: known.index(truth) for i in question.open if (truth := question.known_truth(i))}
    shown: set[int] = set()
    if at in question.open:
        shown.update(known.index(symbol) for symbol in question.hands.get(at, ()))
        shown.update(i for i in (truths.get(at),) if i is not None)
        for answer in said.values():
            order = answer[at].sort(descending=True, stable=True).indices
            shown.update(order[:LIKELIEST].tolist())
    places = sorted(shown)
    readers = [
        {
            "name": name,
            "p": answer[at][places].tolist() if places else [],
            "costs": {i: written(answer.cost(i)) for i in question.open},
        }
        for name, answer in said.items()
    ]
    baseline = last.baseline and {
        "text": last.baseline.text,
        "p": [last.baseline.probabilities[i] for i in places],
        "costs": {i: written(last.baseline.cost(truth)) for i, truth in truths.items()},
    }
    looks = question.view == "attention" and last.n_heads
    return {
        "symbols": [known[i] for i in places],
        "readers": readers,
        "baseline": baseline,
        "pair": _pair(question, last) if question.view == "pair" else None,
        "attention": last.attention(question.held, question.open, at).tolist() if looks else [],
        "n_layers": last.n_layers,
        "n_heads": last.n_heads,
    }


def _pair(question: Question, last: Predictor) -> Data | None:
    """Compare the guesses at the focus and at the gap nearest to it, if there are two."""
    near = sorted(question.open, key=lambda at: (abs(at - question.focus), at))[:2]
    if len(near) < 2:
        return None
    first, second = sorted(near)
    apart, together = last.pairs(question.held, question.open, first, second, PAIRS_SHOWN)
    return {"first": first, "second": second, "apart": apart, "together": together}


def numbers(values: Iterable[float]) -> list[float | str | None]:
    """Write costs for JSON."""
    return [written(value) for value in values]


def largest(values: Sequence[float], k: int) -> list[int]:
    """Return the places of the ``k`` largest values, largest first."""
    return nlargest(k, range(len(values)), key=values.__getitem__)
