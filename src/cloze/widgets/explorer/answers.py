"""What predictors answer to a state of the explorer, and no word of markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

import torch
from torch import Tensor

from cloze.prediction import Answer, Baseline, Comparison, Predictor
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
    by_name: Comparison
    """The answers at the open positions, the one that the words speak of last."""
    baseline: Baseline | None
    pair: Pair | None = None
    attention: Sequence[float] = ()
    """Where the chosen head looks from the focus, by position."""
    n_layers: int = 0
    n_heads: int = 0
    surprise: Sequence[float] = ()
    """−log P of each symbol in nats when it alone is masked."""
    occlusion: Sequence[float] = ()
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
    answers = {name: each.predict(line, gaps) for name, each in predictors.items()}
    by_name = Comparison(state.symbols, line, answers)
    surprise = before.surprise if before and before.asked.truth == state.truth else ()
    same = before and _question(before.asked) == _question(state)
    occlusion = before.occlusion if before and same else ()
    if state.view == "surprise" and not state.gaps:
        surprise = surprise or last.surprise(state.truth).tolist()
    attention: Sequence[float] = ()
    if state.view == "attention" and last.n_heads:
        attention = last.attention(line, gaps, state.focus, state.layer, state.head).tolist()
    return Answers(
        state,
        by_name,
        last.baseline,
        _pair(state, last, by_name) if state.view == "pair" and len(gaps) > 1 else None,
        attention,
        last.n_layers,
        last.n_heads,
        surprise,
        occlusion,
    )


def ask_occlusion(answers: Answers, predictors: Mapping[str, Predictor]) -> Answers:
    """Ask the last predictor what its answer depends on, if the view shows it and nobody knows yet.

    One guess for each symbol of the line: about as long as all else together, so it comes after.
    """
    state = answers.asked
    wanted = state.view == "guesses" and not state.hidden and state.focus in state.open
    if answers.occlusion or not wanted:
        return answers
    *_, last = predictors.values()
    changes = last.occlusion(state.held, state.open, state.focus)
    return replace(answers, occlusion=changes.tolist())


def _question(state: State) -> tuple[object, ...]:
    """Return all that the occlusion depends on."""
    return state.held, state.open, state.focus


def _pair(state: State, last: Predictor, by_name: Comparison) -> Pair:
    """Compare the guesses at the focus and at the gap nearest to it."""
    near = sorted(state.open, key=lambda at: (abs(at - state.focus), at))[:2]
    first, second = sorted(near)
    *_, answer = by_name.values()
    apart = torch.outer(answer[first].double(), answer[second].double())
    together = last.joint(state.held, state.open, first, second)
    known = state.symbols.known
    return Pair(first, second, _pairs(apart, known), _pairs(together, known))


def _pairs(table: Tensor, known: Sequence[str]) -> Pairs:
    flat = table.flatten().tolist()
    places = ((divmod(i, len(known)), flat[i]) for i in largest(flat, PAIRS_SHOWN))
    return [((known[a], known[b]), p) for (a, b), p in places]


def largest(values: Sequence[float], k: int) -> list[int]:
    """Return the places of the ``k`` largest values, largest first."""
    return nlargest(k, range(len(values)), key=values.__getitem__)
