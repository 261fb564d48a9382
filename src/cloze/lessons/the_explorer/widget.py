"""Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets

from cloze.arguments import Count, Whole, checked
from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_rules import Bet, Puzzle, Round, Score, draw_puzzles, judge
from cloze.widgets.widget import Widget, program


class GuessingGame(Widget):
    """The machine hides letters of held-out lines; the learner guesses, and so does the machine.

    Each gap is guessed twice: first with only the text to its left in sight, then with all of the
    line. A guess is a letter and how sure the learner is of it; it costs −log2 of the probability
    that the true letter was given. Then truth and costs are shown, beside what the models and the
    baselines paid.

    Args:
        seed: the same seed hides the same letters.
        gaps: how many.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    seed = traitlets.Int().tag(sync=True)
    puzzles = traitlets.List(traitlets.Dict()).tag(sync=True)
    """The lines, each with the place of its gap: ``{"line": …, "at": …}``."""
    rounds: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """For each gap that has been played bets, bits and guesses: a ``Round``."""
    bets = traitlets.Dict().tag(sync=True)
    """The bets on the gap in play, by side; both are made when the truth is shown."""
    letter = traitlets.Unicode().tag(sync=True)
    """The letter that is chosen and not yet bet on."""

    @checked
    def __init__(self, seed: Whole = 0, gaps: Count = 10) -> None:
        super().__init__(**self.answer_puzzles(seed, gaps))

    def __repr__(self) -> str:
        n, score = len(self.rounds), self.score
        means = ""
        if n:
            you, model = (score.mean("both", rival) for rival in ("you", "model"))
            means = f", you {you:.2f} bits, encoder {model:.2f} bits"
        return f"GuessingGame({n} of {len(self.puzzles)} gaps{means})"

    @property
    def score(self) -> Score:
        """The gaps that have been played, and what they cost."""
        return Score([Puzzle(**puzzle) for puzzle in self.puzzles], self.rounds)

    def alone(self) -> None:
        """Return nothing: Python has the lines and the counts."""

    def answer_puzzles(self, seed: int, gaps: int) -> dict[str, Any]:
        """Return the gaps of a game."""
        puzzles = draw_puzzles(Corpus.load(), gaps, seed)
        return {"seed": seed, "puzzles": [asdict(puzzle) for puzzle in puzzles]}

    def answer_judge(self, line: str, at: int, bets: dict[str, Any]) -> Round:
        """Return what everybody pays for a gap, and the model's best guesses."""
        return judge(Puzzle(line, at), {side: Bet(*bet) for side, bet in bets.items()})
