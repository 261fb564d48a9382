"""Beat the encoder: a letter of a held-out line, and how sure one is of it, paid for in nats."""

from __future__ import annotations

import math

import traitlets

from cloze.arguments import Count, Whole, checked
from cloze.corpus import Corpus
from cloze.explorer.gap import Gap
from cloze.lessons.the_explorer.checks import bet_price
from cloze.lessons.the_explorer.guessing_rules import Score, draw_puzzles, frequencies_of_letters
from cloze.prediction.predictors import compare


class GuessingGame(Gap):
    """Letters of held-out lines are hidden; the learner bets on each, and so do the models.

    A bet is a letter and how sure one is of it. What is left is shared by all other characters in
    proportion to how frequent they are. A bet costs −log of the probability that it gave the truth.

    Args:
        seed: the same seed hides the same letters.
        gaps: how many.
        present: large type, for a lecture hall.
    """

    stakes = traitlets.Bool(True).tag(sync=True)

    @checked
    def __init__(self, seed: Whole = 0, gaps: Count = 5, *, present: bool = False) -> None:
        super().__init__(present=present)
        puzzles = draw_puzzles(Corpus.load(), gaps, seed)
        self.examples = [
            {"name": puzzle.line, **self._with_line(puzzle.line), "masked": [puzzle.at]}
            for puzzle in puzzles
        ]
        self.line, self.masked = puzzles[0].line, {puzzles[0].at}

    def answer_pay(self, at: int, typed: str, sure: float) -> dict[str, float]:
        """Enter what everybody pays for the gap of a line, given its number, and return it."""
        line, [gap] = self.examples[at]["truth"], self.examples[at]["masked"]
        frequencies = frequencies_of_letters()
        costs = {"you": bet_price(typed, sure, line[gap], frequencies)}
        answers = compare("".join(line), [gap])
        costs |= {name: float(each.costs[0]) for name, each in answers.items()}
        costs["unigram"] = -math.log(frequencies[line[gap]])
        played = {"line": "".join(line), "at": gap, "bet": (typed, sure), "costs": costs}
        self.paid = [*(self.paid if at else []), played]
        return costs

    def __repr__(self) -> str:
        n, score = len(self.paid), self.score
        means = ""
        if n:
            you, encoder = (score.mean(name) for name in ("you", "both"))
            means = f", you {you:.2f} nats, encoder {encoder:.2f} nats"
        return f"GuessingGame({n} of {len(self.examples)} gaps{means})"

    @property
    def score(self) -> Score:
        """The gaps that have been played, and what they cost."""
        return Score(self.paid)

    def alone(self) -> None:
        """Return nothing: the site makes no games."""
