"""A line full of gaps that is written step by step, in an order that the learner chooses."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.arguments import whole_number
from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps.unmasking import NEW, REMASKED, Frame, frames, read
from cloze.prediction.generation import POLICIES
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.vocabulary import GAP, visible
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program

APART = "display: inline-block"
"""Lets a line break between symbols even without a style sheet."""
CHOSEN = ("line", "policy", "temperature", "seed")
"""What decides what is written."""


class Unmasking(Widget):
    """Watch a line being written: step by step, or played.

    Args:
        line: with ``_`` for every gap.
        model: by default the encoder that ships with the series.
        policy: in which order gaps are filled: one of ``POLICIES``.
        temperature: how freely is drawn; 0 always takes the likeliest.
        seed: of the source of chance.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: no such model, policy, temperature or seed.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    line = traitlets.Unicode().tag(sync=True)
    """The line as it was typed."""
    policy = traitlets.Unicode().tag(sync=True)
    temperature = traitlets.Float().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    """How many steps have been taken."""

    shown = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """The symbols of the line as it was read."""
    note = traitlets.Unicode().tag(sync=True)
    """What reading it has changed."""
    policies = traitlets.List(traitlets.Unicode(), [*POLICIES]).tag(sync=True)
    unit = traitlets.Unicode().tag(sync=True)
    separator = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        line: str,
        model: MaskedLM | None = None,
        policy: str = "easiest first",
        temperature: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.model = shipped_model() if model is None else model
        self._begun: dict[str, object] = {}
        frames(self.model, line, policy, temperature, seed)  # says what is wrong with them
        super().__init__(
            line=line,
            policy=policy,
            temperature=float(temperature),
            seed=int(seed),
            unit=symbols_of(self.model.vocabulary).unit,
            separator=self.model.vocabulary.separator,
        )

    def __repr__(self) -> str:
        line = self.text if len(self.text) <= 40 else f"{self.text[:39]}…"
        return f"Unmasking({line!r}, {self.policy}, T = {self.temperature:g}, step {self.at})"

    @property
    def frame(self) -> Frame:
        """The line as it is now."""
        return self._frames(self.at + 1, **self._chosen)[self.at]

    @property
    def text(self) -> str:
        """The line as text, ``_`` for a gap that is still open."""
        return symbols_of(self.model.vocabulary).write(self.frame.line)

    @property
    def _chosen(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in CHOSEN}

    def _frames(self, n: int, **chosen: Any) -> list[Frame]:
        """Return the first frames, or all if there are fewer; none is computed twice in a row."""
        with self.lock:
            if chosen != self._begun:
                self._coming = frames(self.model, **chosen)
                self._seen: list[Frame] = []
                self._begun = chosen
            try:
                self._seen += islice(self._coming, max(0, n - len(self._seen)))
            except Exception:  # a learner's model, say: it is asked again next time
                self._begun = {}
                raise
            return self._seen[:n]

    @traitlets.validate(*CHOSEN)
    def _can_be_begun(self, proposed: Any) -> Any:
        frames(self.model, **self._chosen | {proposed.trait.name: proposed.value})
        return proposed.value

    @traitlets.observe(*CHOSEN)
    def _begin(self, _: Any) -> None:
        self.at = 0
        shown, self.note = read(self.model, self.line)
        self.shown = [*shown]

    @traitlets.validate("at")
    def _can_be_shown(self, proposed: Any) -> int:
        last = len(self._frames(proposed.value + 1, **self._chosen)) - 1
        return whole_number(proposed.value, 0, last, "A step of this text")

    def answer_read(self, line: str) -> dict[str, object]:
        """Say how a line is read, if it can be begun."""
        frames(self.model, **self._chosen | {"line": line})
        shown, note = read(self.model, line)
        return {"shown": shown, "note": note}

    def answer_frames(self, start: int, count: int, **chosen: Any) -> list[dict[str, object]]:
        """Return some frames from one on; fewer than were asked for are the last."""
        return [asdict(frame) for frame in self._frames(start + count, **chosen)[start:]]

    def alone(self) -> dict[str, object] | None:
        """Return what decides what is written, where the model is the one that ships."""
        return self._chosen if self.model is shipped_model() else None

    def still(self) -> Markup:
        """Write the line as it is, for pages without a kernel."""
        cells = []
        for symbol, fate, p in zip(self.frame.line, self.frame.fates, self.frame.said, strict=True):
            sign = {NEW: f"{p:.0%}", REMASKED: "↺"}.get(fate, "\N{NO-BREAK SPACE}")
            shown = "▒" if symbol == GAP else visible(symbol)
            cells.append(
                element("span", shown, element("small", sign), class_=f"cell {fate}", style=APART)
            )
        look = "unmasking words" if self.separator else "unmasking"
        label = f"The line: {self.text.replace(GAP, '▒')}"
        strip = element("div", *cells, role="img", aria_label=label, class_=look)
        return element("div", strip, class_="cloze still")
