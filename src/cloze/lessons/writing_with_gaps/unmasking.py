"""A line full of gaps that is written step by step, in an order that the learner chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import torch

from cloze.arguments import Temperature, Whole, among, checked
from cloze.heads import MaskedLM, Model
from cloze.masking import seeded
from cloze.prediction.generation import POLICIES, Step
from cloze.prediction.symbols import Symbols, symbols_of
from cloze.vocabulary import GAP, TextError

GIVEN, OPEN, WRITTEN, NEW, REMASKED = "given", "open", "written", "new", "remasked"
"""What has become of a position: it was given, is a gap, or was written in an earlier step; in this
step it was written, or has become a gap again."""


@dataclass(frozen=True)
class Frame:
    """A line after one step."""

    line: tuple[str, ...]
    """Its symbols, ``_`` for a gap."""
    fates: tuple[str, ...]
    """What has become of each symbol."""
    probabilities: tuple[float, ...]
    """The probability that the model gave to each new symbol; 0 elsewhere."""

    def new(self) -> list[int]:
        """Return the positions that were written in this step."""
        return [i for i, fate in enumerate(self.fates) if fate == NEW]


@checked
def frames(
    model: MaskedLM,
    line: str,
    policy: Annotated[str, among(POLICIES)],
    temperature: Temperature = 1.0,
    seed: Whole = 0,
) -> Iterator[Frame]:
    """Yield a line as it was typed, and then after each step in which its gaps are filled.

    Args:
        model: any model.
        line: with ``_`` for every gap; characters or words, whichever the model reads.
        policy: one of ``POLICIES``.
        temperature: 0 always takes the likeliest.
        seed: of the source of chance; the same seed writes the same.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: no such policy, temperature or seed.
    """
    symbols = symbols_of(model.vocabulary)
    shown, _ = read(model, line)
    if GAP not in shown:
        raise TextError("The line has no gap; put a _ wherever something is missing.")
    steps = POLICIES[policy](
        model,
        symbols.input_ids(shown)[None],
        temperature=temperature,
        generator=seeded(seed),
    )
    return _frames(model, symbols, shown, steps)


def read(model: MaskedLM, line: str) -> tuple[Sequence[str], str]:
    """Return the symbols of a line, and what reading it has changed."""
    symbols = symbols_of(model.vocabulary)
    return symbols.read(line, model.config.max_len - 2 * symbols.framed)


def _frames(
    model: Model, symbols: Symbols, shown: Sequence[str], steps: Iterator[Step]
) -> Iterator[Frame]:
    gaps = [symbol == GAP for symbol in shown]
    yield Frame(
        tuple(shown), tuple(OPEN if gap else GIVEN for gap in gaps), tuple(0.0 for _ in shown)
    )
    part = slice(symbols.framed, symbols.framed + len(shown))
    n, names = model.vocabulary.n_ordinary, symbols.known
    for step in steps:
        ids, filled, again = (each[0, part] for each in (step.lines, step.filled, step.remasked))
        kept = step.lines[step.filled]
        chances = torch.zeros(len(shown))
        own = step.probabilities.gather(1, kept.clamp(max=n - 1)[:, None]).squeeze(1)
        chances[filled] = own.where(kept < n, 0.0).float()
        fates = []
        for i, gap in enumerate(gaps):
            if again[i]:
                fates.append(REMASKED)
            elif filled[i]:
                fates.append(NEW)
            else:
                fates.append(GIVEN if not gap else OPEN if ids[i] >= n else WRITTEN)
        line = tuple(GAP if i >= n else names[i] for i in ids.tolist())
        yield Frame(line, tuple(fates), tuple(chances.tolist()))
