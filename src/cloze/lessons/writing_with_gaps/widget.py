"""A line full of gaps that is written step by step, in an order that the learner chooses."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps.unmasking import frames, read
from cloze.prediction.generation import POLICIES
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from cloze.vocabulary import GAP
from cloze.widgets.markup import still_lines
from cloze.widgets.widget import Widget, program


class Unmasking(Widget):
    """Watch a line being written: step by step, or played.

    Args:
        line: with ``_`` for every gap.
        model: by default the encoder that ships with the series.
        policy: in which order gaps are filled: one of ``POLICIES``.
        temperature: how freely symbols are drawn; 0 always takes the likeliest.
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
    frames: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """The line as it was read, and after each step: a ``Frame`` each."""
    at = traitlets.Int(0).tag(sync=True)
    """How many steps have been taken."""
    note = traitlets.Unicode().tag(sync=True)
    """What reading the line has changed."""
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
        super().__init__(
            unit=symbols_of(self.model.vocabulary).unit,
            separator=self.model.vocabulary.separator,
            **self._written(line=line, policy=policy, temperature=temperature, seed=seed),
        )

    def __repr__(self) -> str:
        line = self.text if len(self.text) <= 40 else f"{self.text[:39]}…"
        return f"Unmasking({line!r}, {self.policy}, T = {self.temperature:g}, step {self.at})"

    @property
    def text(self) -> str:
        """The line as text, ``_`` for a gap that is still open."""
        return symbols_of(self.model.vocabulary).write(self.frames[self.at]["line"])

    @property
    def _chosen(self) -> dict[str, Any]:
        """What decides what is written."""
        return {name: getattr(self, name) for name in ("line", "policy", "temperature", "seed")}

    def answer_write(self, **chosen: Any) -> None:
        """Write another line, or the same line in another way."""
        self.change(**self._written(**self._chosen | chosen))

    def _written(self, **chosen: Any) -> dict[str, Any]:
        """Return the state in which a line is written from its beginning."""
        written = [asdict(frame) for frame in frames(self.model, **chosen)]
        _, note = read(self.model, chosen["line"])
        return {**chosen, "frames": written, "note": note, "at": 0}

    def alone(self) -> dict[str, object] | None:
        """Return what decides what is written, where the model is the one that ships."""
        return self._chosen if self.model is shipped_model() else None

    def still(self) -> Markup:
        return still_lines(f"The line: {self.text.replace(GAP, '▒')}")
