"""Masks drawn again and again: a line changes each time, and the shares close in on 80/10/10."""

from __future__ import annotations

from pathlib import Path

import traitlets
from markupsafe import Markup

from cloze.arguments import checked
from cloze.reading import read_line
from cloze.vocabulary import VOCABULARY, counted
from cloze.widgets.markup import still_lines
from cloze.widgets.widget import Widget, program

NAMES = {"M": "masked", "R": "random", "K": "kept"}
"""What becomes of a selected position: ``[MASK]``, a random character, itself."""


class MaskDraws(Widget):
    """Draw masks for one line, once, ten or a thousand times.

    The browser draws, by the rule of ``mask_tokens`` and with a generator of its own, because it
    does so on pages without Python too.

    Args:
        line: the line to mask.

    Raises:
        TextError: the line is empty or too long.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    symbols: traitlets.List[str] = traitlets.List().tag(sync=True)
    """The line, symbol by symbol."""
    draws = traitlets.Int(0).tag(sync=True)
    """How often the line was masked."""
    counts = traitlets.Dict(default_value=dict.fromkeys(NAMES, 0)).tag(sync=True)
    """How many positions met each fate so far."""

    @checked
    def __init__(self, line: str) -> None:
        input_ids, _ = read_line(line)
        super().__init__(symbols=[VOCABULARY.symbols[i] for i in input_ids.tolist()])

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {NAMES[fate]}" for fate, n in self.counts.items())
        return f"MaskDraws({counted(self.draws, 'draw')}: {counts})"

    def still(self) -> Markup:
        return still_lines(
            "".join(self.symbols),
            "In each draw, 15% of the characters are selected. Of these, 80% become [MASK], 10% a "
            "random character, and 10% stay as they are.",
        )
