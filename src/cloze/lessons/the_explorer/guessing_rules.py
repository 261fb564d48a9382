"""The rules of the guessing game: what is hidden, and what a guess costs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cloze.arguments import Whole, checked
from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus
from cloze.masking import seeded
from cloze.vocabulary import VOCABULARY, visible

LETTERS = "abcdefghijklmnopqrstuvwxyz "
"""What may be hidden; ends of lines never are."""
LONGEST = 60
"""The most characters of a line."""


# ── what is hidden ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Puzzle:
    """A held-out line with one hidden character."""

    line: str
    at: int
    """The position of the hidden character."""

    @property
    def before(self) -> str:
        """What is left of the gap."""
        return self.line[: self.at]

    @property
    def truth(self) -> str:
        """What is hidden."""
        return self.line[self.at]

    @property
    def after(self) -> str:
        """What is right of the gap."""
        return self.line[self.at + 1 :]


@checked
def draw_puzzles(corpus: Corpus, n: Whole, seed: Whole = 0) -> list[Puzzle]:
    """Draw lines from the held-out pieces and hide one character of each.

    A line is whole words from within one paragraph. Every character of it that has at least a
    quarter of the line on either side is hidden with the same probability.

    Args:
        corpus: where the lines come from.
        n: how many.
        seed: the same seed gives the same lines and gaps.
    """
    generator = seeded(seed)
    drawn: list[Puzzle] = []
    while len(drawn) < n:
        # A round takes one line of each piece, so lines repeat as late as possible.
        for i in torch.randperm(len(corpus.held_out), generator=generator).tolist():
            line = _draw_line(corpus.held_out[i].text, generator)
            edge = len(line) // 4
            at = int(torch.randint(edge, len(line) - edge, (1,), generator=generator))
            drawn.append(Puzzle(line, at))
    return drawn[:n]


def _draw_line(text: str, generator: torch.Generator) -> str:
    paragraphs = [p for p in text.split("\n") if p.strip()]
    paragraphs = [p for p in paragraphs if len(p) > LONGEST] or paragraphs
    paragraph = paragraphs[int(torch.randint(len(paragraphs), (1,), generator=generator))]
    starts = [0, *(match.end() for match in re.finditer(" ", paragraph))]
    starts = [start for start in starts if start <= max(0, len(paragraph) - LONGEST)]
    start = starts[int(torch.randint(len(starts), (1,), generator=generator))]
    line = paragraph[start : start + LONGEST + 1]
    # A word may be longer than a line.
    return line.rpartition(" ")[0] or line[:LONGEST] if len(line) > LONGEST else line


# ── what a game costs ────────────────────────────────────────────────────────────────────────────


def frequencies_of_letters() -> dict[str, float]:
    """Return the frequency of each character in the training text."""
    return dict(zip(VOCABULARY.ordinary, letter_frequencies().tolist(), strict=True))


@dataclass(frozen=True)
class Score:
    """The gaps that have been played, and what they cost."""

    paid: Sequence[Mapping[str, Any]]
    """For each gap its ``line`` and position ``at``, the ``bet`` on it, a letter and how sure, and
    the ``costs``, −log P of the truth in nats, by whose bet it was."""

    def mean(self, name: str) -> float:
        """Return what somebody has paid on average, in nats per gap."""
        return sum(each["costs"][name] for each in self.paid) / len(self.paid)

    def __repr__(self) -> str:
        if not self.paid:
            return "No gap has been played yet."
        rows = []
        for n, each in enumerate(self.paid, start=1):
            puzzle, (letter, sure) = Puzzle(each["line"], each["at"]), each["bet"]
            rows.append(f"{n:>2}  {puzzle.before}[{visible(puzzle.truth)}]{puzzle.after}")
            cost = each["costs"]["you"]
            rows.append(f"    your bet: {visible(letter)}, {sure:.0%}; it costs {cost:.2f} nats")
        means = (f"{name} {self.mean(name):.2f}" for name in self.paid[0]["costs"])
        return "\n".join([*rows, f"mean nats per gap: {', '.join(means)}"])
