"""Who may look where: one position of a line, in readers of both sides, one side, or a prefix."""

from __future__ import annotations

from collections.abc import Mapping

import traitlets
from markupsafe import Markup

from cloze.arguments import checked, whole_number
from cloze.encoder import Direction, attention_mask
from cloze.reading import read_line
from cloze.vocabulary import VOCABULARY, visible
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program

Look = Direction | int
"""Where a reader may look; a number is a prefix of so many positions that everybody sees, after
which it sees itself and what is left of it."""

READERS: Mapping[str, Look] = {"causal twin": "left", "right twin": "right", "encoder": "both"}
"""The three models by name: the encoder, and what it would be with one side only."""


def _rows(length: int, look: Look) -> list[str]:
    """Return for each position of a line what it may look at: "1" where it may, "0" where not."""
    if isinstance(look, str):
        mask = attention_mask(length, look)
    else:
        mask = attention_mask(length, "left", whole_number(look, 0, length, "A prefix"))
    if mask is None:
        return ["1" * length] * length
    return ["".join("01"[sees] for sees in row) for row in mask.tolist()]


class Sight(Widget):
    """Pick a position of a line and see what it may look at.

    Args:
        line: the line.
        position: the one picked at first.
        readers: by model, where it may look; by default the encoder and its one-sided twins.

    Raises:
        TextError: the line is empty or too long.
        ValueError: the position is not in the line, or a prefix is longer than it.
    """

    _esm = program("sight.js")

    symbols: traitlets.List[str] = traitlets.List().tag(sync=True)
    """The line, as it is seen."""
    masks = traitlets.Dict().tag(sync=True)
    """By model, for each position what it may look at: "1" where it may, "0" where not."""
    kinds = traitlets.Dict().tag(sync=True)
    """By model, "both", "left", "right" or "prefix"."""
    position = traitlets.Int().tag(sync=True)

    @checked
    def __init__(self, line: str, position: int = 0, readers: Mapping[str, Look] = READERS) -> None:
        input_ids, _ = read_line(line)
        super().__init__(
            symbols=[visible(VOCABULARY.symbols[i]) for i in input_ids.tolist()],
            masks={name: _rows(len(input_ids), look) for name, look in readers.items()},
            kinds={
                name: look if isinstance(look, str) else "prefix" for name, look in readers.items()
            },
            position=whole_number(position, 0, len(input_ids) - 1, "The position"),
        )

    def still(self) -> Markup:
        """Write what the position may look at, for where nothing runs."""
        position = f"position {self.position}, {self.symbols[self.position]}"
        words = f"Looking from {position}; × marks what it cannot see."
        rows = []
        for name, masks in self.masks.items():
            seen = zip(self.symbols, masks[self.position], strict=True)
            cells = (element("td", symbol if sees == "1" else "×") for symbol, sees in seen)
            rows.append(element("tr", element("th", name, scope="row"), *cells))
        return element("p", words) + element("table", *rows)

    def __repr__(self) -> str:
        counts = " | ".join(str(masks[self.position].count("1")) for masks in self.masks.values())
        symbol = self.symbols[self.position]
        return f"Sight(position {self.position}, {symbol}: sees {counts} of {len(self.symbols)})"
