"""Who may look where: one position of a line, in readers of both sides, one side, or a prefix."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from cloze.border import whole_number
from cloze.encoder import Direction, attention_mask
from cloze.vocabulary import VOCABULARY, read_line, visible
from cloze.widgets.view import View, button, element, status, style

Look = Direction | int
"""Where a reader may look; a number is a prefix of so many positions that everybody sees, after
which it sees itself and what is left of it."""

READERS: Mapping[str, Look] = {
    "encoder": "both",
    "causal twin": "left",
    "right twin": "right",
}
"""The three models by name: the encoder, and what it would be with one side only."""


def sight(
    length: int, position: int, readers: Mapping[str, Look] = READERS
) -> dict[str, list[bool]]:
    """Return, by model, which positions of a line one position may look at.

    Args:
        length: the number of characters of the line.
        position: the one that looks.
        readers: by model, where it may look.

    Raises:
        ValueError: the position is not in the line, or a prefix is longer than it.
    """
    position = whole_number(position, 0, length - 1, "The position")
    seen = {}
    for name, look in readers.items():
        if isinstance(look, str):
            mask = attention_mask(length, look)
        else:
            mask = attention_mask(length, "left", whole_number(look, 0, length, "A prefix"))
        seen[name] = [True] * length if mask is None else mask[position].tolist()
    return seen


class Sight(View):
    """Pick a position of a line and see what it may look at.

    Args:
        line: the line.
        position: the one picked at first.
        readers: by model, where it may look; by default the encoder and its one-sided twins.

    Raises:
        TextError: the line is empty or too long.
        ValueError: the position is not in the line, or a prefix is longer than it.
    """

    _css = style(__file__)

    def __init__(self, line: str, position: int = 0, readers: Mapping[str, Look] = READERS) -> None:
        self.readers = dict(readers)
        input_ids, _ = read_line(line)
        self.symbols = [visible(VOCABULARY.symbols[i]) for i in input_ids.tolist()]
        self.do_look(position)
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        counts = " | ".join(str(sum(seen)) for seen in self.seen.values())
        symbol = self.symbols[self.position]
        return f"Sight(position {self.position}, {symbol}: sees {counts} of {len(self.symbols)})"

    @property
    def seen(self) -> dict[str, list[bool]]:
        """By model, which positions the picked one may look at."""
        return sight(len(self.symbols), self.position, self.readers)

    @property
    def in_words(self) -> str:
        """The counts, as the line below the picture says them."""
        n = len(self.symbols)
        counts = [f"{sum(seen)} of {n} in the {name}" for name, seen in self.seen.items()]
        return f"Position {self.position}, {self.symbols[self.position]}, sees {', '.join(counts)}."

    def do_look(self, at: object) -> None:
        """Pick a position."""
        self.position = whole_number(at, 0, len(self.symbols) - 1, "The position")

    def markup(self) -> Markup:
        """Write the line as buttons and, below it, a row per model."""
        buttons = [
            element(
                "td",
                button(
                    symbol,
                    "look",
                    data_with_at=i,
                    aria_label=f"position {i}, {symbol}",
                    aria_pressed=i == self.position,
                    tabindex=0 if i == self.position else -1,
                ),
            )
            for i, symbol in enumerate(self.symbols)
        ]
        first = element(
            "tr", element("th", "looking from", scope="row"), *buttons, data_arrows="look"
        )
        rows = [self._row(name, seen) for name, seen in self.seen.items()]
        table = element("table", element("tbody", first, *rows), class_="sight")
        hint = "Pick a position, or move with the arrow keys. × marks what it cannot see."
        return Markup("").join(
            [
                element("p", hint, class_="quiet"),
                element("div", table, class_="scroll"),
                status(self.in_words),
            ]
        )

    def _row(self, name: str, seen: list[bool]) -> Markup:
        cells = [
            element("td", symbol if sees else "×", class_="sees" if sees else "blind")
            for symbol, sees in zip(self.symbols, seen, strict=True)
        ]
        look = self.readers[name]
        kind = look if isinstance(look, str) else "prefix"
        return element("tr", element("th", name, scope="row"), *cells, class_=f"looks-{kind}")
