"""A line, hidden as you choose, and what the shipped model pays for the answers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.arguments import Whole, checked
from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES, Shape, Shares
from cloze.lessons.what_to_hide.hiding import HiddenLine, hide_line
from cloze.reading import read_line
from cloze.vocabulary import VOCABULARY, TextError, counted, visible
from cloze.widgets.markup import element, in_nats
from cloze.widgets.widget import Widget, program

CHOICES: dict[str, list[Any]] = {"rate": list(RATES), "shape": list(SHAPES), "shares": list(SHARES)}
"""What can be chosen, by the trait that holds it."""


class Hiding(Widget):
    """Choose how much of a line is hidden, in which shape and by what, and draw again.

    Args:
        line: the line, without gaps.
        rate: the rate of selection at first.
        shape: the shape at first, one of ``SHAPES``.
        shares: the shares at first, one of ``SHARES``.
        seed: of the first draw.

    Raises:
        TextError: the line is empty, too long or has gaps.
        ValueError: something else cannot be chosen.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    line = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    """What reading changed in the line that was typed; "" if nothing."""
    rate = traitlets.Any().tag(sync=True)
    shape = traitlets.Any().tag(sync=True)
    shares = traitlets.Any().tag(sync=True)
    draws = traitlets.Int(0).tag(sync=True)
    """How often it was drawn again."""
    cells: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """For each position what is read, and if it is asked about, its fate and its cost in nats."""
    choices: traitlets.Dict[str, Any] = traitlets.Dict(default_value=CHOICES).tag(sync=True)

    @checked
    def __init__(
        self,
        line: str,
        rate: float = 0.15,
        shape: str = "characters",
        shares: str = "80/10/10",
        seed: Whole = 0,
    ) -> None:
        self.seed = seed
        super().__init__(line=line, rate=rate, shape=shape, shares=shares)

    def __repr__(self) -> str:
        now = self.hidden
        return (
            f"Hiding({self.rate:.0%} in {self.shape}, {self.shares}: {len(now.costs)} of "
            f"{len(self.line)} asked, {in_nats(now.mean)} nats each)"
        )

    @property
    def hidden(self) -> HiddenLine:
        """What the model reads and what its answers cost, as it is chosen now."""
        return _hidden_line(self.line, self.rate, self.shape, self.shares, self.seed + self.draws)

    def answer_hide(self, **chosen: Any) -> None:
        """Choose something else, and hide the line anew."""
        with self.hold_sync():
            for name, value in chosen.items():
                setattr(self, name, value)

    @traitlets.validate("line")
    def _read(self, proposal: Any) -> str:
        line, note = read_line(proposal.value, gaps=False)
        if (line == VOCABULARY.mask_id).any():
            raise TextError(
                "The line already has a gap; type it without gaps, because they are drawn here."
            )
        self.note = note
        return VOCABULARY.decode(line)

    @traitlets.validate("rate", "shape", "shares")
    def _choose(self, proposal: Any) -> Any:
        name, value = proposal.trait.name, proposal.value
        if value not in CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(map(str, CHOICES[name]))}, not {value}.")
        return value

    @traitlets.observe("line", "rate", "shape", "shares", "draws")
    def _hide(self, _: Any) -> None:
        now = self.hidden
        self.cells = [
            (visible(VOCABULARY.symbols[symbol]), now.fates.get(i, ""), now.costs.get(i))
            for i, symbol in enumerate(now.inputs.tolist())
        ]

    def alone(self) -> None:
        """Return nothing: without Python no model answers."""

    def still(self) -> Markup:
        """Write the line, what is read of it and what that costs, for where nothing runs."""
        now = self.hidden
        read = Markup("").join(
            element("b", symbol) if fate else symbol.replace("␣", " ")
            for symbol, fate, _ in self.cells
        )
        rows = (
            f"The line: {self.line}",
            Markup("The model reads: {}").format(read),
            f"{len(now.costs)} of {counted(len(self.line), 'character')} are asked about. An "
            f"answer costs {in_nats(now.mean)} nats on average.",
        )
        return element("div", *(element("p", row) for row in rows), class_="cloze still")


@lru_cache(maxsize=1)
def _hidden_line(line: str, rate: float, shape: Shape, shares: Shares, seed: int) -> HiddenLine:
    """Hide a line as it was hidden last, or anew."""
    return hide_line(VOCABULARY.encode(line), rate, shape, shares, seed)
