"""What predictors answer to a question of the explorer, as few numbers for the browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from cloze.prediction.predictors import Comparison, Predictor
from cloze.vocabulary import GAP

SHOWN = 5
"""How many symbols each reader contributes to the chart; the truth and the room's are added."""
BEST = 3
"""How many guesses of the last reader are listed for each gap."""
PAIRS_SHOWN = 5

Data = dict[str, Any]
"""What is sent as JSON; an infinite cost is written "Infinity", an unknown one null."""


@dataclass(frozen=True)
class Question:
    """A line, what of it is hidden, and which position is selected."""

    truth: tuple[str, ...]
    """The line, ``GAP`` where not even the line knows the truth."""
    masked: frozenset[int]
    filled: Mapping[int, str]
    """Masked positions that hold somebody's guess: it is read, and the others are predicted."""
    hands: Mapping[int, Mapping[str, int]]
    """How many hands were raised for which symbol, by position."""
    focus: int

    @classmethod
    def of(cls, sent: Data) -> Question:
        """Read a question of the browser."""
        return cls(
            tuple(sent["truth"]),
            frozenset(sent["masked"]),
            by_position(sent["filled"]),
            by_position(sent["hands"]),
            sent["focus"],
        )

    @property
    def open(self) -> tuple[int, ...]:
        """Masked positions still open, ascending: what is predicted."""
        return tuple(sorted(self.masked - self.filled.keys()))

    @property
    def held(self) -> tuple[str, ...]:
        """The line with what was filled in; no open position is hidden."""
        return tuple(self.filled.get(i, symbol) for i, symbol in enumerate(self.truth))

    def known_truth(self, position: int) -> str | None:
        """Return the true symbol; None where nobody knows it."""
        return None if self.truth[position] == GAP else self.truth[position]


def by_position(sent: Mapping[str, Any]) -> dict[int, Any]:
    """Read a mapping from positions, which JSON writes as text."""
    return {int(at): each for at, each in sent.items()}


def ask(question: Question, predictors: Mapping[str, Predictor]) -> Comparison:
    """Let several models answer at the open positions of a line."""
    *_, last = predictors.values()
    held, gaps = question.held, question.open
    answers = {name: each.predict(held, gaps) for name, each in predictors.items()}
    return Comparison(last.symbols, held, answers)


def guesses(question: Question, answers: Comparison, last: Predictor) -> Data:
    """Return what is guessed at the open positions.

    Args:
        question: what is asked.
        answers: what every reader answers, as :func:`ask` returns it.
        last: the reader that is spoken of.

    Returns:
        ``readers``, each with its ``name`` and the ``costs`` of the truth by open position; the
        ``baseline`` likewise, with its ``text``; ``best``, the likeliest symbols of the last reader
        with their probabilities, by open position; and ``candidates``, symbols for the chart of the
        selected position with their probabilities ``p`` by reader, in the vocabulary's order; None
        if that position is no open gap.
    """
    known, baseline = answers.symbols.known, last.baseline
    *_, answer = answers.values()
    p, order = answer.probabilities.sort(dim=1, descending=True, stable=True)
    best = zip(p[:, :BEST].tolist(), order[:, :BEST].tolist(), strict=True)
    costs = {}
    if baseline:
        truths = ((i, question.known_truth(i)) for i in question.open)
        costs = {i: written(baseline.cost(known.index(truth))) for i, truth in truths if truth}
    return {
        "readers": [
            {"name": name, "costs": {i: written(each.cost(i)) for i in question.open}}
            for name, each in answers.items()
        ],
        "baseline": baseline and {"text": baseline.text, "costs": costs},
        "best": {
            at: [(known[i], p) for i, p in zip(places, likely, strict=True)]
            for at, (likely, places) in zip(question.open, best, strict=True)
        },
        "candidates": candidates(question, answers) if question.focus in question.open else None,
    }


def candidates(question: Question, answers: Comparison) -> list[Data]:
    """Return what any reader finds likeliest, what hands were raised for, and the truth."""
    at, known = question.focus, answers.symbols.known
    columns = [answer[at] for answer in answers.values()]
    shown = {i for p in columns for i in p.topk(min(SHOWN, len(known))).indices.tolist()}
    named = [*question.hands.get(at, {}), question.known_truth(at)]
    shown |= {known.index(symbol) for symbol in named if symbol is not None}
    return [{"symbol": known[i], "p": [p[i].item() for p in columns]} for i in sorted(shown)]


def pair(question: Question, last: Predictor) -> Data:
    """Compare the guesses at the two open gaps nearest to the selected position."""
    near = sorted(question.open, key=lambda at: (abs(at - question.focus), at))[:2]
    first, second = sorted(near)
    apart, together = last.pairs(question.held, question.open, first, second, PAIRS_SHOWN)
    return {"first": first, "second": second, "apart": apart, "together": together}


def written(cost: float | None) -> float | str | None:
    """Write a cost for JSON, which knows no infinity."""
    return "Infinity" if cost == inf else cost
