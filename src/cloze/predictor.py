"""What widgets ask: a line of symbols and its gaps in, plain numbers out.

Whatever guesses gaps can stand under the explorer: a masked model, counts, the exact truth of a
small world. It brings the symbols that its lines are made of: characters, words, word pieces.
Nothing here needs torch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Symbols(Protocol):
    """What lines are made of, how text becomes a line, and how a line is written again.

    Where not even the line knows the truth, ``GAP`` stands in it.
    """

    @property
    def known(self) -> Sequence[str]:
        """What may stand in a gap, in the order of the probabilities."""

    @property
    def size(self) -> int:
        """|V|: the number of symbols, special ones included."""

    @property
    def unit(self) -> str:
        """What one of them is called, such as "character"."""

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        """Read a line as a learner types it.

        Returns:
            The line, and a sentence on what reading changed ("" if nothing).

        Raises:
            ValueError: nothing usable is left, it is too long, or it has an unknown symbol.
        """

    def read_symbol(self, typed: object) -> str:
        """Read what somebody puts into a gap.

        Raises:
            ValueError: it is not one of ``known``.
        """

    def write(self, line: Sequence[str]) -> str:
        """Write a line as text."""

    def words(self, line: Sequence[str]) -> list[range]:
        """Return the positions of each word: what is masked as one, and not broken across rows."""


@dataclass(frozen=True)
class Answer:
    """What one predictor answers at the gaps of one line."""

    positions: tuple[int, ...]
    """The gaps, ascending."""
    probabilities: Sequence[Sequence[float]]
    """P(x_i | x̃), a row per gap in the order of ``Symbols.known``."""
    costs: Sequence[float | None]
    """−log P of the truth in nats per gap: infinite where it is ruled out, None where unknown."""

    def __getitem__(self, position: int) -> Sequence[float]:
        """Return the distribution at a gap."""
        return self.probabilities[self.positions.index(position)]

    def cost(self, position: int) -> float | None:
        """Return −log P of the truth at a gap in nats; None when it is not known."""
        return self.costs[self.positions.index(position)]

    @property
    def known_costs(self) -> list[float]:
        """−log P of the truth in nats, where it is known."""
        return [cost for cost in self.costs if cost is not None]

    @property
    def loss(self) -> float | None:
        """L / |M|: the mean cost of the known truths in nats; None when there is none."""
        costs = self.known_costs
        return sum(costs) / len(costs) if costs else None


@dataclass(frozen=True)
class Baseline:
    """What one knows without looking at the line: how frequent each symbol is in some text."""

    probabilities: Sequence[float]
    """In the order of ``Symbols.known``."""
    text: str
    """Which text, in words that follow "in"."""

    def cost(self, symbol: int) -> float:
        """Return −log P of a symbol, given by its place, in nats; infinite if it never occurred."""
        p = self.probabilities[symbol]
        return -math.log(p) if p > 0 else math.inf


class Predictor(ABC):
    """Whatever guesses what stands in the gaps of a line.

    Only ``predict`` has to be defined. Whoever can answer ``joint``, ``surprise`` or ``leaning``
    faster than by many predictions overrides them; attention is for those who have layers and
    heads.
    """

    name: str
    """Who guesses: "left", "right", "both" or another name."""
    symbols: Symbols
    max_len: int
    """The most symbols of a line."""
    baseline: Baseline | None = None
    """What it is judged against; None when nobody knows which text it has learned from."""
    n_layers: int = 0
    n_heads: int = 0

    @abstractmethod
    def predict(self, line: Sequence[str], gaps: Sequence[int]) -> Answer:
        """Guess all gaps from one look at the line, each without knowing what the others hold.

        Args:
            line: the line in truth; ``GAP`` where nobody knows it.
            gaps: the positions to hide, ascending; every ``GAP`` of the line is among them.
        """

    def joint(
        self, line: Sequence[str], gaps: Sequence[int], first: int, second: int
    ) -> Sequence[Sequence[float]]:
        """Guess two of the gaps together: P(a | x̃) · P(b | x̃ with a filled in), row a, column b."""
        others = [at for at in gaps if at != first]
        table = []
        for symbol, p in zip(self.symbols.known, self.predict(line, gaps)[first], strict=True):
            filled = [*line[:first], symbol, *line[first + 1 :]]
            table.append([p * q for q in self.predict(filled, others)[second]])
        return table

    def surprise(self, line: Sequence[str]) -> Sequence[float]:
        """Return −log P of each symbol of a line without gaps when it alone is hidden, in nats."""
        return [self.predict(line, [at]).known_costs[0] for at in range(len(line))]

    def leaning(self, line: Sequence[str], gaps: Sequence[int], position: int) -> Sequence[float]:
        """Return what it costs the answer at one of the gaps to hide each symbol as well, in nats.

        That is the rise of −log P of the truth, below 0 where the symbol misled; if the truth is
        unknown or ruled out, the divergence of the answer from the one without the symbol. Gaps
        cost nothing.
        """
        before, truth = self.predict(line, gaps)[position], line[position]
        known = self.symbols.known
        at = known.index(truth) if truth in known and before[known.index(truth)] else None
        costs = [0.0] * len(line)
        for other in set(range(len(line))) - set(gaps):
            after = self.predict(line, sorted([*gaps, other]))[position]
            asked = enumerate(before) if at is None else [(at, 1.0)]
            costs[other] = sum(p * _log_ratio(before[i], after[i]) for i, p in asked if p)
        return costs

    def attention(
        self, line: Sequence[str], gaps: Sequence[int], position: int, layer: int, head: int
    ) -> Sequence[float]:
        """Return where a head looks from a position, weights that sum to 1; both count from 0."""
        raise NotImplementedError


def _log_ratio(p: float, q: float) -> float:
    return math.log(p / q) if q else math.inf
