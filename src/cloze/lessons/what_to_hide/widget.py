"""A line, hidden as you choose, and what the shipped model pays for the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES
from cloze.lessons.what_to_hide.hiding import hide_line
from cloze.reading import read_line
from cloze.vocabulary import VOCABULARY, TextError, counted, visible
from cloze.widgets.markup import element, in_nats, still_lines
from cloze.widgets.widget import Widget, program

CHOICES: dict[str, list[Any]] = {
    "rate": [(rate, f"{rate:.0%}") for rate in RATES],
    "shape": [*SHAPES],
    "shares": [*SHARES],
}
"""What can be chosen, by the trait that holds it; rates with their names."""


class Hiding(Widget):
    """Choose how much of a line is hidden, in which shape and by what, and draw again.

    Args:
        line: the line, without gaps.
        rate: the rate of selection at first.
        shape: the shape at first, one of ``SHAPES``.
        shares: the shares at first, one of ``SHARES``.

    Raises:
        TextError: the line is empty, too long or has gaps.
        TraitError: something else cannot be chosen.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    line = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    """What reading changed in the line that was typed; "" if nothing."""
    rate = traitlets.Enum(RATES).tag(sync=True)
    shape = traitlets.Enum([*SHAPES]).tag(sync=True)
    shares = traitlets.Enum([*SHARES]).tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    """How often it was drawn again."""
    cells: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """For each position the symbol that is read and, if it is selected, its fate and its cost."""
    choices: traitlets.Dict[str, Any] = traitlets.Dict(default_value=CHOICES).tag(sync=True)

    def __init__(
        self, line: str, rate: float = 0.15, shape: str = "characters", shares: str = "80/10/10"
    ) -> None:
        super().__init__(**self._hide(line, 0, rate=rate, shape=shape, shares=shares))

    def __repr__(self) -> str:
        return (
            f"Hiding({self.rate:.0%} in {self.shape}, {self.shares}: {len(self.hidden.costs)} of "
            f"{len(self.line)} asked, {in_nats(self.hidden.mean)} nats each)"
        )

    def answer_hide(self, **chosen: Any) -> None:
        """Choose something else, and hide the line again."""
        names = ("line", "rate", "shape", "shares", "draws")
        self.change(**self._hide(**{name: getattr(self, name) for name in names} | chosen))

    def _hide(self, line: str, draws: int, **chosen: Any) -> dict[str, Any]:
        """Return the state in which a line is hidden."""
        ids, note = read_line(line, gaps=False)
        if (ids == VOCABULARY.mask_id).any():
            raise TextError(
                "The line already has a gap; type it without gaps, because they are drawn here."
            )
        self.hidden = now = hide_line(ids, seed=draws, **chosen)
        cells = [
            (visible(VOCABULARY.symbols[symbol]), now.fates.get(at, ""), now.costs.get(at))
            for at, symbol in enumerate(now.inputs.tolist())
        ]
        line = VOCABULARY.decode(ids)
        return {**chosen, "line": line, "draws": draws, "note": note, "cells": cells}

    def alone(self) -> None:
        """Return nothing: without Python no model answers."""

    def still(self) -> Markup:
        read = Markup("").join(
            element("b", symbol) if fate else symbol.replace("␣", " ")
            for symbol, fate, _ in self.cells
        )
        n, length = len(self.hidden.costs), counted(len(self.line), "character")
        return still_lines(
            f"The line: {self.line}",
            Markup("The model reads: {}").format(read),
            f"{n} of {length} are asked about. An answer costs {in_nats(self.hidden.mean)} nats on "
            "average.",
        )
