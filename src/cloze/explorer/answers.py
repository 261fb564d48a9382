"""What predictors answer to a question of the explorer: few numbers, however many symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, NamedTuple

from cloze.explorer.tally import ROOM, bet, cost, who, written
from cloze.prediction.predictors import Baseline, Comparison, Predictor
from cloze.vocabulary import GAP

SHOWN = 5
"""How many candidates a chart has; the truth is added, and what is left for all others."""
LEAST = 0.005
"""A probability below this is written 0.00."""
BEST = 3
"""How many guesses of the last predictor are told for each gap."""
PAIRS_SHOWN = 5
FEW = 500
"""So many symbols are listed to choose from; of more, one is typed."""
TITLES = {"left": "from the left", "right": "from the right", "both": "from both sides"}
WINGS = {"left": 0, "right": 2}
"""Whose bars grow to the left of the candidates, and whose to the right; all others beside them."""

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
        """Masked positions that nothing fills: what is predicted, ascending."""
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


def guesses(question: Question, answers: Comparison, baseline: Baseline | None) -> Data:
    """Return what is guessed at the open positions.

    Args:
        question: what is asked.
        answers: what every predictor answers at the open positions.
        baseline: what the last predictor is judged against.

    Returns:
        ``readers``, each with its ``name``, its ``title`` and the ``costs`` of the truth by open
        position; the ``baseline`` likewise, with its ``text``; ``best``, the likeliest symbols of
        the last reader with their probabilities, by open position; and the :func:`chart`.
    """
    known = answers.symbols.known
    *_, last = answers.values()
    p, order = last.probabilities.sort(dim=1, descending=True, stable=True)
    best = zip(p[:, :BEST].tolist(), order[:, :BEST].tolist(), strict=True)
    costs = {}
    if baseline:
        truths = ((i, question.known_truth(i)) for i in question.open)
        costs = {i: written(baseline.cost(known.index(truth))) for i, truth in truths if truth}
    return {
        "readers": [
            {
                "name": name,
                "title": TITLES.get(name, name),
                "costs": {i: written(answer.cost(i)) for i in question.open},
            }
            for name, answer in answers.items()
        ],
        "baseline": baseline and {"text": baseline.text, "costs": costs},
        "best": {
            at: [(known[i], p) for i, p in zip(places, likely, strict=True)]
            for at, (likely, places) in zip(question.open, best, strict=True)
        },
        "chart": chart(question, answers),
    }


class Column(NamedTuple):
    """Somebody who guesses at the selected position."""

    name: str
    title: str
    p: Sequence[float]
    """Of each symbol."""
    cost: float | None
    """−log P of the truth in nats, None where nobody knows it."""


def chart(question: Question, answers: Comparison) -> Data | None:
    """Return the guesses at the selected position as a table; None if that is no open gap.

    Returns:
        ``columns``, from left to right, with the ``name`` and ``title`` of who guesses and the
        ``cost`` of the truth; ``rows``, a candidate each, in the order of the last predictor, with
        its ``symbol``, whether it is the ``truth``, and its probabilities ``p`` by column;
        ``rest``, how many other symbols there are, ``n``, and what is left for them, ``p``.
        Candidates are what any reader finds likeliest, what most hands were raised for, and the
        truth.
    """
    at, known = question.focus, answers.symbols.known
    if at not in question.open:
        return None
    truth, hands = question.known_truth(at), question.hands.get(at)
    columns = [
        Column(name, TITLES.get(name, name), answer[at].tolist(), answer.cost(at))
        for name, answer in answers.items()
    ]
    last = columns[-1].p
    most = [max(each) for each in zip(*(column.p for column in columns), strict=True)]
    if hands:
        total = sum(hands.values())
        for symbol, n in hands.items():
            most[known.index(symbol)] = max(most[known.index(symbol)], n / total)
        p = [bet(hands, symbol, len(known)) for symbol in known]
        paid = None if truth is None else cost(hands, truth, len(known))
        columns.append(Column(ROOM, who(total), p, paid))
    columns.sort(key=lambda column: WINGS.get(column.name, 3))
    shown = {i for i in largest(most, SHOWN) if most[i] >= LEAST}
    if truth is not None:
        shown.add(known.index(truth))
    left_over = [max(0.0, 1 - sum(column.p[i] for i in shown)) for column in columns]
    return {
        "columns": [{"name": c.name, "title": c.title, "cost": written(c.cost)} for c in columns],
        "rows": [
            {"symbol": known[i], "truth": known[i] == truth, "p": [c.p[i] for c in columns]}
            for i in sorted(shown, key=lambda i: (-last[i], i))
        ],
        "rest": {"n": len(known) - len(shown), "p": left_over},
    }


def pair(question: Question, last: Predictor) -> Data:
    """Compare the guesses at the two open gaps nearest to the selected position."""
    near = sorted(question.open, key=lambda at: (abs(at - question.focus), at))[:2]
    first, second = sorted(near)
    apart, together = last.pairs(question.held, question.open, first, second, PAIRS_SHOWN)
    return {"first": first, "second": second, "apart": apart, "together": together}


def numbers(values: Iterable[float]) -> list[float | str | None]:
    """Write costs for JSON."""
    return [written(value) for value in values]


def largest(values: Sequence[float], k: int) -> list[int]:
    """Return the places of the ``k`` largest values, largest first."""
    return nlargest(k, range(len(values)), key=values.__getitem__)
