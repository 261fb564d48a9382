"""Beat the encoder: guess hidden letters from the left, then from both sides, and pay in bits."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import traitlets

from cloze.arguments import Whole, between, checked
from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_rules import (
    Bet,
    Puzzle,
    Round,
    Score,
    draw_puzzles,
    judge,
)
from cloze.prediction.answers import Guess
from cloze.widgets.widget import Widget, program

MOST_GAPS = 100


class GuessingGame(Widget):
    """The machine hides letters of held-out lines; the learner guesses, and so does the machine.

    Each gap is guessed twice: first with only the text to its left in sight, then with all of the
    line. A guess is a letter and how sure one is of it; what it costs is −log2 of the probability
    that the truth was given. Then truth and costs are shown, beside what the models and the
    baselines paid.

    Args:
        seed: the same seed hides the same letters.
        gaps: how many.

    Raises:
        ValueError: no such seed or number of gaps.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    seed = traitlets.Int().tag(sync=True)
    puzzles = traitlets.List(traitlets.Dict()).tag(sync=True)
    """The lines, each with the place of its gap: ``{"line": …, "at": …}``."""
    rounds = traitlets.List(traitlets.Dict()).tag(sync=True)
    """For each gap that has been played bets, bits and guesses, as in ``Round``."""
    bets = traitlets.Dict().tag(sync=True)
    """The bets on the gap in play, by side; both are made when the truth is shown."""
    letter = traitlets.Unicode().tag(sync=True)
    """The letter that is chosen and not yet betted on."""

    @checked
    def __init__(self, seed: Whole = 0, gaps: Annotated[int, between(1, MOST_GAPS)] = 10) -> None:
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
        played = (
            Round(
                Puzzle(**puzzle),
                {side: Bet(*bet) for side, bet in each["bets"].items()},
                each["bits"],
                {
                    side: [Guess(*best) for best in guesses]
                    for side, guesses in each["guesses"].items()
                },
            )
            for puzzle, each in zip(self.puzzles, self.rounds, strict=False)
        )
        return Score([*played])

    def alone(self) -> None:
        """Return nothing: Python has the lines and the counts."""

    def answer_puzzles(self, seed: int, gaps: int) -> dict[str, Any]:
        """Return the gaps of a game."""
        puzzles = draw_puzzles(Corpus.load(), gaps, seed)
        return {"seed": seed, "puzzles": [asdict(puzzle) for puzzle in puzzles]}

    def answer_judge(self, line: str, at: int, bets: dict[str, Any]) -> dict[str, Any]:
        """Return what everybody pays for a gap, and the model's best guesses."""
        played = judge(Puzzle(line, at), {side: Bet(*bet) for side, bet in bets.items()})
        return {"bits": played.bits, "guesses": played.guesses}
