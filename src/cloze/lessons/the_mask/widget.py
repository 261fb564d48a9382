"""Masks drawn again and again: a line changes each time, and the shares close in on 80/10/10."""

from __future__ import annotations

from pathlib import Path

import traitlets
from markupsafe import Markup

from cloze.arguments import Whole, checked
from cloze.reading import read_line
from cloze.vocabulary import VOCABULARY, counted
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program

NAMES = {"M": "masked", "R": "random", "K": "kept"}
"""What becomes of a selected position: ``[MASK]``, a random character, itself."""


class MaskDraws(Widget):
    """Draw masks for one line, once, ten or a thousand times.

    The browser draws, by the rule of ``mask_tokens`` and with a generator of its own.

    Args:
        line: the line to mask.
        seed: of the source of chance; the same seed gives the same draws.

    Raises:
        TextError: the line is empty or too long.
        ValueError: no such seed.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    symbols: traitlets.List[str] = traitlets.List().tag(sync=True)
    """The line, symbol by symbol."""
    seed = traitlets.Int().tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    """How often the line was masked."""
    counts = traitlets.Dict().tag(sync=True)
    """How many positions met each fate so far."""

    @checked
    def __init__(self, line: str, seed: Whole = 0) -> None:
        input_ids, _ = read_line(line)
        super().__init__(
            symbols=[VOCABULARY.symbols[i] for i in input_ids.tolist()],
            seed=seed,
            counts=dict.fromkeys(NAMES, 0),
        )

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {NAMES[fate]}" for fate, n in self.counts.items())
        return f"MaskDraws({counted(self.draws, 'draw')}: {counts})"

    def still(self) -> Markup:
        """Write the line and what is drawn, for where nothing runs."""
        line = element("code", "".join(self.symbols))
        rule = (
            " In each draw, 15% of the characters are selected. Of these, 80% become [MASK], 10% a "
            "random character, and 10% stay as they are."
        )
        return element("p", line, element("br"), rule)
