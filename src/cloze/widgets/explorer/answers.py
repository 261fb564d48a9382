"""What predictors answer to a state of the explorer: plain numbers, and no word of markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from cloze.predictor import Answer, Baseline, Predictor
from cloze.widgets.explorer.state import State

PAIRS_SHOWN = 5

Pairs = list[tuple[tuple[str, str], float]]
"""Two symbols and a probability, best first."""


@dataclass(frozen=True)
class Pair:
    """What is guessed at two gaps."""

    first: int
    second: int
    apart: Pairs
    """By the product of their two probabilities."""
    together: Pairs
    """By their joint probability."""


@dataclass(frozen=True)
class Answers:
    """What predictors answer to a state; the parts that its view does not show may be empty."""

    asked: State
    """What they answer."""
    by_name: Mapping[str, Answer]
    """The answers at the open positions, the one that the words speak of last."""
    baseline: Baseline | None
    pair: Pair | None = None
    attention: Sequence[float] = ()
    """Where the chosen head looks from the focus, by position."""
    n_layers: int = 0
    n_heads: int = 0
    surprise: Sequence[float] = ()
    """−log P of each symbol in nats when it alone is masked."""
    leaning: Sequence[float] = ()
    """What it costs the last answer at the focus to hide each symbol as well, in nats."""

    @property
    def last(self) -> tuple[str, Answer]:
        """The name and the answer that the words speak of."""
        *_, last = self.by_name.items()
        return last


def ask(
    state: State, predictors: Mapping[str, Predictor], before: Answers | None = None
) -> Answers:
    """Ask all predictors for the open positions, and the last one for what the view shows besides.

    Args:
        state: what is asked.
        predictors: by name.
        before: earlier answers of the same predictors; what is still true is kept.
    """
    *_, last = predictors.values()
    line, gaps = state.held, state.open
    by_name = {name: each.predict(line, gaps) for name, each in predictors.items()}
    surprise = before.surprise if before and before.asked.truth == state.truth else ()
    leaning = before.leaning if before and _question(before.asked) == _question(state) else ()
    if state.view == "surprise" and not state.gaps:
        surprise = surprise or last.surprise(state.truth)
    attention: Sequence[float] = ()
    if state.view == "attention" and last.n_heads:
        attention = last.attention(line, gaps, state.focus, state.layer, state.head)
    return Answers(
        state,
        by_name,
        last.baseline,
        _pair(state, last, by_name) if state.view == "pair" and len(gaps) > 1 else None,
        attention,
        last.n_layers,
        last.n_heads,
        surprise,
        leaning,
    )


def ask_leaning(answers: Answers, predictors: Mapping[str, Predictor]) -> Answers:
    """Ask the last predictor what its answer leans on, if the view shows it and nobody knows yet.

    One guess for each symbol of the line: about as long as all else together, so it comes after.
    """
    state = answers.asked
    wanted = state.view == "guesses" and not state.hidden and state.focus in state.open
    if answers.leaning or not wanted:
        return answers
    *_, last = predictors.values()
    return replace(answers, leaning=last.leaning(state.held, state.open, state.focus))


def _question(state: State) -> tuple[object, ...]:
    """Return all that the leaning depends on."""
    return state.held, state.open, state.focus


def _pair(state: State, last: Predictor, by_name: Mapping[str, Answer]) -> Pair:
    """Compare the guesses at the focus and at the gap nearest to it."""
    near = sorted(state.open, key=lambda at: (abs(at - state.focus), at))[:2]
    first, second = sorted(near)
    *_, answer = by_name.values()
    apart = [[p * q for q in answer[second]] for p in answer[first]]
    together = last.joint(state.held, state.open, first, second)
    known = state.symbols.known
    return Pair(first, second, _pairs(apart, known), _pairs(together, known))


def _pairs(table: Sequence[Sequence[float]], known: Sequence[str]) -> Pairs:
    flat = [p for row in table for p in row]
    places = ((divmod(i, len(known)), flat[i]) for i in largest(flat, PAIRS_SHOWN))
    return [((known[a], known[b]), p) for (a, b), p in places]


def largest(values: Sequence[float], k: int) -> list[int]:
    """Return the places of the ``k`` largest values, largest first."""
    return nlargest(k, range(len(values)), key=values.__getitem__)
