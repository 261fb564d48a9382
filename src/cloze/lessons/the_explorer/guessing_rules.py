"""The rules of the guessing game: what is hidden, and what a guess costs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict

import torch

from cloze.arguments import Whole, checked
from cloze.baselines import BASELINES, NeighbourBaseline, letter_frequencies
from cloze.corpus import Corpus, windows
from cloze.heads import symbol_log_probs
from cloze.loss import to_bits
from cloze.masking import seeded
from cloze.prediction.answers import Guess, mask_positions, predict, top_k
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY, visible

SIDES = ("left", "both")
"""What is in sight: first only what is left of the gap, then all of the line."""
LETTERS = "abcdefghijklmnopqrstuvwxyz "
"""What may be hidden; ends of lines never are."""
LONGEST = 60
"""The most characters of a line."""
RIVALS = {
    "you": {"left": "you", "both": "you"},
    "model": {"left": "left twin", "both": "encoder"},
    "neighbours": {"left": "left bigram", "both": "both neighbours"},
    "unigram": {"left": "unigram", "both": "unigram"},
}
"""The players, and their names on each side."""


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


# ── what a guess costs ───────────────────────────────────────────────────────────────────────────


class Bet(NamedTuple):
    """A letter and how sure the guesser is of it; no letter means no idea."""

    letter: str | None
    percent: int = 0


def spread(bet: Bet, frequencies: Mapping[str, float]) -> dict[str, float]:
    """Turn a bet into a probability for every character.

    The letter gets what the guesser is sure of. The rest is shared by all other characters in
    proportion to how frequent they are, so the truth always keeps a probability above 0 and the
    cost stays finite. "No idea" is the frequencies themselves.

    Args:
        bet: a letter and how sure.
        frequencies: P(character) without any context; they sum to 1.
    """
    if bet.letter is None:
        return dict(frequencies)
    sure = bet.percent / 100
    others = 1 - frequencies[bet.letter]
    shared = {c: (1 - sure) * p / others for c, p in frequencies.items()}
    return {**shared, bet.letter: sure}


def bits(bet: Bet, truth: str, frequencies: Mapping[str, float]) -> float:
    """Return −log2 P(truth): what a bet costs in bits."""
    return -math.log2(spread(bet, frequencies)[truth])


@lru_cache(maxsize=1)
def frequencies_of_letters() -> dict[str, float]:
    """Return the frequency of each character in the training text."""
    known = letter_frequencies().tolist()
    return dict(zip(VOCABULARY.ordinary, known, strict=True))


@lru_cache(maxsize=1)
def neighbour_baselines() -> dict[str, NeighbourBaseline]:
    """Return the baselines that count a gap's neighbours on each side, fitted once."""
    text = windows(Corpus.load().train_ids, 64)
    names = {side: RIVALS["neighbours"][side] for side in SIDES}
    return {
        side: NeighbourBaseline(BASELINES[name]).fit(text, epochs=2) for side, name in names.items()
    }


class Round(TypedDict):
    """One gap, guessed by everyone from the left and from both sides, as the widget stores it."""

    bets: Mapping[str, Sequence[Any]]
    """The guesser's, by side."""
    bits: Mapping[str, Mapping[str, float]]
    """What each rival paid, by side: ``bits["left"]["you"]``."""
    guesses: Mapping[str, Sequence[Sequence[Any]]]
    """The model's best guesses, by side."""


def judge(puzzle: Puzzle, bets: Mapping[str, Bet]) -> Round:
    """Let model and baselines guess the same gap, and work out what everybody pays.

    On the left side they all see what the guesser sees: the left twin cannot look to the right.
    """
    input_ids = VOCABULARY.encode(puzzle.line)
    masked = mask_positions(input_ids, [puzzle.at])
    paid: dict[str, dict[str, float]] = {}
    guesses: dict[str, list[Guess]] = {}
    frequencies = frequencies_of_letters()
    for side in SIDES:
        model = shipped_model("left" if side == "left" else "both")
        prediction = predict(model, input_ids, [puzzle.at])
        counted = neighbour_baselines()[side].log_probs(masked[None])[0, puzzle.at]
        counted = symbol_log_probs(counted, VOCABULARY)
        paid[side] = {
            "you": bits(bets[side], puzzle.truth, frequencies),
            "model": to_bits(float(prediction.costs[0])),
            "neighbours": to_bits(-float(counted[VOCABULARY.ids[puzzle.truth]])),
            "unigram": -math.log2(frequencies[puzzle.truth]),
        }
        guesses[side] = top_k(prediction[puzzle.at])
    return {"bets": bets, "bits": paid, "guesses": guesses}


# ── a whole game ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Score:
    """The gaps of a game, the rounds that have been played, and what they cost on average."""

    puzzles: Sequence[Puzzle]
    rounds: Sequence[Round]

    def mean(self, side: str, rival: str = "you") -> float:
        """Return the mean cost of a rival in bits per gap that has been played."""
        return sum(each["bits"][side][rival] for each in self.rounds) / len(self.rounds)

    def __repr__(self) -> str:
        if not self.rounds:
            return "No gap has been played yet."
        rows = []
        for n, (puzzle, each) in enumerate(zip(self.puzzles, self.rounds, strict=False), start=1):
            rows.append(f"{n:>2}  {puzzle.before}[{visible(puzzle.truth)}]{puzzle.after}")
            costs = []
            for side, sight in (("left", "from the left"), ("both", "from both sides")):
                letter, percent = each["bets"][side]
                bet = "no idea" if letter is None else f"{visible(letter)}, {percent}%"
                costs.append(f"{sight} {bet} costs {each['bits'][side]['you']:.2f}")
            rows.append(f"    {'; '.join(costs)}")
        rows.append(f"{'mean bits per gap':<34} {'left':>6} {'both':>6}")
        for rival, names in RIVALS.items():
            name = " / ".join(dict.fromkeys(names.values()))
            means = " ".join(f"{self.mean(side, rival):>6.2f}" for side in SIDES)
            rows.append(f"{name:<34} {means}")
        return "\n".join(rows)
