"""Inside: one gap of a line, and how the model gets to its answer there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cloze.arguments import checked
from cloze.explorer.answers import Data
from cloze.explorer.inside import UNTOUCHED
from cloze.explorer.widget import MaskExplorer
from cloze.heads import MaskedLM
from cloze.prediction.predictors import Predictor
from cloze.vocabulary import visible
from cloze.widgets.markup import in_nats
from cloze.widgets.widget import program

LINE, OTHER, GAP_AT = "she asked what it was", "she asked when it was", 12
"""The letter after the gap decides; the second line differs in it."""


class Inside(MaskExplorer):
    """See what each part of a model adds on its way to an answer, and the answer without it.

    It plays upwards from the line: after each attention and feed-forward part it shows what the
    model's head would answer there, or a translator of that rung. A dot is a head: pointed at, it
    shows where it reads, and a click switches it off or takes its output from a second line. A
    model of ours is also shown as it was before training.

    Args:
        line: the line; by default one whose answer hangs on the letter after the gap.
        gap: the position to look into.
        model: as for :class:`MaskExplorer`.
        present: large type and nothing that only one reader needs, for a lecture hall.

    Raises:
        TextError: the line is empty or too long.
        ValueError: the gap is not in the line, or ``model`` is nothing that predicts.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    @checked
    def __init__(
        self,
        line: str = LINE,
        gap: int = GAP_AT,
        model: MaskedLM | Predictor | Mapping[str, MaskedLM | Predictor] | None = None,
        *,
        present: bool = False,
    ) -> None:
        super().__init__(model, line, [gap], present=present)
        second = {"other": list(OTHER), "doing": "swap", "bet": True} if line == LINE else {}
        self.view, self.inside = "inside", UNTOUCHED | second

    def way(self) -> Data:
        """Return what the picture shows, as :func:`cloze.explorer.inside.inside` does."""
        with self.lock:
            return self._look_inside(self._question, self.inside)

    def __repr__(self) -> str:
        rungs = self.way()["rungs"]
        answer = "nothing to see"
        if rungs:
            own = rungs[-1]["own"]
            symbol, p = own["guesses"][0]
            cost = "" if own["cost"] is None else f", the truth costs {in_nats(float(own['cost']))}"
            answer = f"{visible(symbol)} {p:.2f}{cost}"
        changed = f", {len(self.inside['parts'])} changed" if self.inside["parts"] else ""
        return f"Inside({self._gapped()!r}: {answer}{changed})"
