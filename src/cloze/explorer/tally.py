"""The room's bet, and the tally over the hour: what the room and the readers have paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import traitlets

from cloze.vocabulary import counted
from cloze.widgets.markup import in_bits
from cloze.widgets.widget import Widget, program

ROOM = "room"
"""The room's name among those who guess."""


def bet(hands: Mapping[str, int], symbol: str, n_symbols: int) -> float:
    """Return the probability that a show of hands gives a symbol.

    All symbols share one hand alike besides those that were raised. It keeps every cost finite,
    and few hands from being a sure bet: of one hand the named symbol has about a half, of thirty
    nearly all. A fixed share, say 1%, would sell a single hand as 99% sure, and one miss, 11.5
    bits, would outweigh the hour. This is additive smoothing with α = 1 / |V|.

    Args:
        hands: how many were raised, by symbol.
        symbol: any symbol.
        n_symbols: how many symbols may stand in the gap.
    """
    return (hands.get(symbol, 0) + 1 / n_symbols) / (sum(hands.values()) + 1)


def cost(hands: Mapping[str, int], truth: str, n_symbols: int) -> float:
    """Return −log P of the truth in nats."""
    return -math.log(bet(hands, truth, n_symbols))


def who(n_hands: int) -> str:
    """Return what those are called who raised so many hands."""
    return "you" if n_hands == 1 else "the room"


def written(cost: float | None) -> float | str | None:
    """Write a cost for JSON, which knows no infinity."""
    return "Infinity" if cost == math.inf else cost


def read(cost: float | str | None) -> float | None:
    """Read a cost again."""
    return None if cost is None else float(cost)


def _paid_to_json(paid: list[dict[str, Any]], _: object) -> list[dict[str, Any]]:
    return [
        each | {"costs": {name: written(cost) for name, cost in each["costs"].items()}}
        for each in paid
    ]


def _paid_from_json(paid: list[dict[str, Any]], _: object) -> list[dict[str, Any]]:
    return [
        each | {"costs": {name: read(cost) for name, cost in each["costs"].items()}}
        for each in paid
    ]


PAID: dict[str, Any] = {"sync": True, "to_json": _paid_to_json, "from_json": _paid_from_json}
"""How what was paid is synchronised."""


class Tally(Widget):
    """Who has paid how much for the gaps that a room has guessed, in bits per gap.

    Hand one to several explorers, ``MaskExplorer(tally=tally)``, and they count together. A hidden
    symbol of a line counts once, when it is revealed and if hands were raised for it: afterwards
    everybody knows it. Displayed, it follows what the explorers enter.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    paid: traitlets.List[Any] = traitlets.List().tag(**PAID)
    """What was paid, gap by gap: its ``line`` and position ``at``, ``n_hands``, and ``costs``,
    −log P of the truth in nats by who guessed, ``ROOM`` first."""

    def __repr__(self) -> str:
        names = dict.fromkeys(name for each in self.paid for name in each["costs"])
        costs = {
            name: [e["costs"][name] for e in self.paid if name in e["costs"]] for name in names
        }
        means = (f"{name} {in_bits(sum(each) / len(each))}" for name, each in costs.items())
        said = f": {', '.join(means)} bits" if self.paid else ""
        return f"Tally({counted(len(self.paid), 'gap')}{said})"

    def note(self, line: str, at: int, n_hands: int, costs: Mapping[str, float]) -> None:
        """Enter what was paid for a symbol of a line, unless that has been entered before."""
        with self.lock:
            if not any((each["line"], each["at"]) == (line, at) for each in self.paid):
                entry = {"line": line, "at": at, "n_hands": n_hands, "costs": dict(costs)}
                self.paid = [*self.paid, entry]

    def alone(self) -> None:
        """Without an explorer beside it nothing is entered."""
