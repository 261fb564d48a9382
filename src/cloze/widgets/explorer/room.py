"""The room's bet: a show of hands as probabilities, what it costs, and how an hour of it went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

ROOM = "room"
"""The room's name among those who guess."""
SHARED = 1
"""Hands that all symbols share alike, besides those that were raised.

They keep every price finite, and few hands from being a sure bet: of one hand the named symbol has
about a half, of thirty nearly all. A fixed share, say 1 %, would sell a single hand as 99 % sure,
and one miss, 11.5 bits, would outweigh the hour. This is additive smoothing with α = 1 / |V|.
"""
MOST_HANDS = 10_000

Hands = Mapping[str, int]
"""How many hands were raised for each symbol, at one gap; a guess is a show of one hand."""


def bet(hands: Hands, known: Sequence[str]) -> list[float]:
    """Turn a show of hands into a probability for each symbol; they sum to 1 and none is 0.

    Args:
        hands: how many were raised, by symbol.
        known: what may stand in the gap.
    """
    total = sum(hands.values()) + SHARED
    return [(hands.get(symbol, 0) + SHARED / len(known)) / total for symbol in known]


def cost(hands: Hands, known: Sequence[str], truth: str | None) -> float | None:
    """Return −log P of the truth in nats; None where nobody knows it."""
    return None if truth is None else -math.log(bet(hands, known)[known.index(truth)])


def unnamed(hands: Hands, known: Sequence[str]) -> float:
    """Return the probability of each symbol that nobody named."""
    return SHARED / len(known) / (sum(hands.values()) + SHARED)


def who(n_hands: int) -> str:
    """Return what those are called who raised so many hands."""
    return "you" if n_hands == 1 else "the room"


class Paid(NamedTuple):
    """What was paid for one gap."""

    n_hands: int
    costs: Mapping[str, float]
    """−log P of the truth in nats by who guessed, ``ROOM`` first."""


class Standing(NamedTuple):
    """How somebody stands after some gaps."""

    mean: float
    """The mean cost in nats per gap."""
    n_gaps: int


def standings(paid: Sequence[Paid]) -> dict[str, Standing]:
    """Return how everybody stands, in the order in which they were first asked."""
    names = dict.fromkeys(name for each in paid for name in each.costs)
    found = {}
    for name in names:
        costs = [each.costs[name] for each in paid if name in each.costs]
        found[name] = Standing(sum(costs) / len(costs), len(costs))
    return found


def best(paid: Sequence[Paid]) -> list[str]:
    """Return who paid least, of those who were asked at every gap; several if they paid alike."""
    means = {name: each.mean for name, each in standings(paid).items() if each.n_gaps == len(paid)}
    return [name for name, mean in means.items() if mean == min(means.values())]
