"""Inside: one gap of a line, and how the model gets to its answer there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from cloze.arguments import checked
from cloze.explorer.answers import Data
from cloze.explorer.inside import UNTOUCHED
from cloze.explorer.widget import MaskExplorer
from cloze.heads import MaskedLM
from cloze.prediction.predictors import Predictor
from cloze.vocabulary import TextError, visible
from cloze.widgets.markup import element, in_nats
from cloze.widgets.widget import program

LINE, OTHER, GAP_AT = "she asked what it was", "she asked when it was", 12
"""The letter after the gap decides; the second line differs in it."""


class Inside(MaskExplorer):
    """See what each part of a model adds on its way to an answer, and the answer without it.

    The ladder is read from the bottom up: after each attention and feed-forward part it shows what
    the model's head would answer there, and what a translator of that rung would. A click on a head
    or a feed-forward part switches it off or takes its output from a second line. A model of ours
    is also shown as it was before training.

    Args:
        line: the line; by default one whose answer hangs on the letter after the gap.
        gap: the position to look into.
        other: a second line, as long as the first, to swap parts in from.
        model: as for :class:`MaskExplorer`.
        present: large type and nothing that only one reader needs, for a lecture hall.

    Raises:
        TextError: a line is empty or too long, or the second is not as long as the first.
        ValueError: the gap is not in the line, or ``model`` is nothing that predicts.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    @checked
    def __init__(
        self,
        line: str = LINE,
        gap: int = GAP_AT,
        other: str | None = None,
        model: MaskedLM | Predictor | Mapping[str, MaskedLM | Predictor] | None = None,
        *,
        present: bool = False,
    ) -> None:
        super().__init__(model, line, [gap], present=present)
        second: list[str] = [] if line != LINE else list(OTHER)
        if other is not None:
            second = self._with_line(other)["truth"]
            if len(second) != len(self.truth):
                raise TextError(
                    f"The second line has {len(second)} {self.symbols['unit']}s and the first "
                    f"{len(self.truth)}; make them equally long."
                )
        self.view, self.inside = "inside", UNTOUCHED | {"other": second}

    def way(self) -> Data:
        """Return what the ladder shows, as :func:`cloze.explorer.inside.inside` does."""
        with self.lock:
            return self._look_inside(self._question, self.inside)

    def still(self) -> Markup:
        """Write the ladder as a table, the answer on top, for where nothing runs."""
        rungs = self.way()["rungs"]
        if not rungs:
            return super().still()
        heads = ["part", "guess, if it ended here", "cost of the truth", "a translator's guess"]
        rows = []
        for rung in reversed(rungs):
            own, translated = rung["own"], rung["translated"]
            cost = "" if own["cost"] is None else in_nats(float(own["cost"]))
            cells = (_listed(own), cost, _listed(translated) if translated else "")
            name = element("th", _name(rung), scope="row")
            rows.append(element("tr", name, *(element("td", cell) for cell in cells)))
        line = element("p", f"The gap in {self._gapped()}, from the bottom up:")
        head = element("tr", *(element("th", each, scope="col") for each in heads))
        table = element("table", element("thead", head), element("tbody", *rows))
        return element("div", line, table, class_="cloze still")

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


def _name(rung: Data) -> str:
    part = str(rung["part"])
    return part if part == "embedding" else f"{part} {rung['layer'] + 1}"


def _listed(reading: Data) -> str:
    return ", ".join(f"{visible(symbol)} {p:.2f}" for symbol, p in reading["guesses"])
