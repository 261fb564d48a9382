"""A line full of gaps that is written step by step, in an order that the learner chooses."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from markupsafe import Markup

from cloze.border import Temperature, Whole, among, checked
from cloze.generation import POLICIES, Step
from cloze.heads import MaskedLM, Model
from cloze.masking import seeded
from cloze.prediction import Symbols, shipped_model, symbols_of
from cloze.vocabulary import GAP, TextError, counted, visible
from cloze.widgets.view import View, button, element, form, spoken, status, style

Speed = Literal["slow", "medium", "fast"]

TEMPERATURES = (0.0, 0.5, 1.0, 1.5)
SPEEDS = {"slow": 1.0, "medium": 3.0, "fast": 10.0}
"""Steps per second."""
GIVEN, OPEN, WRITTEN, NEW, REMASKED = "given", "open", "written", "new", "remasked"
"""What has become of a position: it was given, is a gap, or is written; in the step that is
shown, something was written there, or what was there has become a gap again."""
SIGNS = {GIVEN: "", OPEN: "", WRITTEN: "", REMASKED: "↺"}


@dataclass(frozen=True)
class Frame:
    """A line after one step."""

    line: tuple[str, ...]
    """Its symbols, ``_`` for a gap."""
    fates: tuple[str, ...]
    """What has become of each."""
    said: tuple[float, ...]
    """Where something is new, the probability that the model gave it; 0 elsewhere."""

    def new(self) -> list[int]:
        """Return the positions that were written in this step."""
        return [i for i, fate in enumerate(self.fates) if fate == NEW]


@checked
def frames(
    model: MaskedLM,
    line: str,
    policy: Annotated[str, among(POLICIES)],
    temperature: Temperature = 1.0,
    seed: Whole = 0,
) -> Iterator[Frame]:
    """Yield a line as it was typed, and then after each step in which its gaps are filled.

    Args:
        model: any model.
        line: with ``_`` for every gap; characters or words, whichever the model reads.
        policy: one of ``POLICIES``.
        temperature: 0 always takes the likeliest.
        seed: of the source of chance; the same seed writes the same.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: no such policy, temperature or seed.
    """
    symbols = symbols_of(model.vocabulary)
    shown, _ = _read(model, line)
    if GAP not in shown:
        raise TextError("The line has no gap; put a _ wherever something is missing.")
    steps = POLICIES[policy](
        model,
        symbols.input_ids(shown)[None],
        temperature=temperature,
        generator=seeded(seed),
    )
    return _frames(model, symbols, shown, steps)


def _read(model: MaskedLM, line: str) -> tuple[Sequence[str], str]:
    """Return the symbols of a line, and what reading it has changed."""
    symbols = symbols_of(model.vocabulary)
    return symbols.read(line, model.config.max_len - 2 * symbols.framed)


def _frames(
    model: Model, symbols: Symbols, shown: Sequence[str], steps: Iterator[Step]
) -> Iterator[Frame]:
    gaps = [symbol == GAP for symbol in shown]
    yield Frame(
        tuple(shown), tuple(OPEN if gap else GIVEN for gap in gaps), tuple(0.0 for _ in shown)
    )
    part = slice(symbols.framed, symbols.framed + len(shown))
    n, names = model.vocabulary.n_ordinary, model.vocabulary.symbols
    for step in steps:
        ids, filled, again = (each[0, part] for each in (step.lines, step.filled, step.remasked))
        kept = step.lines[step.filled]
        chances = torch.zeros(len(shown))
        own = step.probabilities.gather(1, kept.clamp(max=n - 1)[:, None]).squeeze(1)
        chances[filled] = own.where(kept < n, 0.0).float()
        fates = []
        for i, gap in enumerate(gaps):
            if again[i]:
                fates.append(REMASKED)
            elif filled[i]:
                fates.append(NEW)
            else:
                fates.append(GIVEN if not gap else OPEN if ids[i] >= n else WRITTEN)
        line = tuple(GAP if i >= n else names[i] for i in ids.tolist())
        yield Frame(line, tuple(fates), tuple(chances.tolist()))


class Unmasking(View):
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

    _css = style(__file__)

    def __init__(
        self,
        line: str,
        model: MaskedLM | None = None,
        policy: str = "easiest first",
        temperature: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.model = shipped_model() if model is None else model
        self.line, self.policy = line, policy
        self.temperature, self.seed = temperature, seed
        self.speed: Speed = "medium"
        self._playing: threading.Event | None = None
        self._begin()
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        line = self.text if len(self.text) <= 40 else f"{self.text[:39]}…"
        return f"Unmasking({line!r}, {self.policy}, T = {self.temperature:g}, step {self.at})"

    # What is shown

    @property
    def frame(self) -> Frame:
        """The line as it is now."""
        return self._seen[self.at]

    @property
    def text(self) -> str:
        """The line as text, ``_`` for a gap that is still open."""
        return symbols_of(self.model.vocabulary).write(self.frame.line)

    @property
    def playing(self) -> bool:
        """Whether it goes on by itself."""
        return self._playing is not None

    def _begin(self, **changed: Any) -> None:
        """Start from the line as it was typed; what cannot be begun changes nothing."""
        chosen = {
            name: changed.get(name, getattr(self, name))
            for name in ("line", "policy", "temperature", "seed")
        }
        coming = frames(self.model, **chosen)
        first = next(coming)
        self._pause()
        for name, value in chosen.items():
            setattr(self, name, value)
        self._coming, self._seen, self.at = coming, [first], 0
        gaps = first.fates.count(OPEN)
        _, note = _read(self.model, self.line)
        began = f"{counted(gaps, 'gap')}, {self.policy}, seed {self.seed}"
        self.announcement = f"{began} ({note})." if note else f"{began}."

    def _forward(self) -> bool:
        """Take a step; False if no step is left."""
        if self.at + 1 == len(self._seen):
            following = next(self._coming, None)
            if following is None:
                return False
            self._seen.append(following)
        self.at += 1
        return True

    def _tell(self) -> None:
        """Say what this step has done."""
        unit = symbols_of(self.model.vocabulary).unit
        new, back = self.frame.new(), self.frame.fates.count(REMASKED)
        words = [
            f"{spoken(self.frame.line[i])} at {i} with {self.frame.said[i]:.0%}" for i in new[:3]
        ]
        if len(new) > 3:
            words = [f"{counted(len(new), unit)} written"]
        if back:
            words.append(f"{back} remasked")
        self.announcement = f"Step {self.at}: {', '.join(words) or 'nothing new'}."

    # What a learner does

    def do_step(self) -> None:
        """Take one step."""
        self._pause()
        if self._forward():
            self._tell()
        else:
            self.announcement = f"Done after {counted(self.at, 'step')}: {self.text}"

    def do_back(self) -> None:
        """Go one step back."""
        self._pause()
        self.at = max(0, self.at - 1)
        self._tell()

    def do_play(self) -> None:
        """Go on by itself, from the beginning if the end is reached."""
        if self.playing:
            return
        if not self._forward():
            self.at = 0
        self._playing = threading.Event()
        self.announcement = "Playing."
        threading.Thread(target=self._play, args=(self._playing,), daemon=True).start()

    def do_pause(self) -> None:
        """Stop where it is."""
        self._pause()
        self._tell()

    def do_tick(self) -> None:
        """Take one step while playing."""
        if self.playing and not self._forward():
            self._pause()
            self.announcement = f"Done after {counted(self.at, 'step')}: {self.text}"

    def do_restart(self) -> None:
        """Start over; the same will be written again."""
        self._pause()
        self.at = 0
        self.announcement = "From the beginning."

    def do_again(self) -> None:
        """Draw anew: another seed."""
        self._begin(seed=self.seed + 1)

    def do_policy(self, value: object) -> None:
        """Choose the order."""
        self._begin(policy=value)

    def do_temperature(self, value: object) -> None:
        """Choose the temperature."""
        try:
            temperature = float(str(value))
        except ValueError:
            temperature = math.nan
        if not 0 <= temperature <= 100:
            said = value if math.isnan(temperature) else temperature
            raise ValueError(f"A temperature is a number from 0 to 100, not {said}.")
        self._begin(temperature=temperature)

    @checked
    def do_speed(self, value: Speed) -> None:
        """Choose how fast it plays."""
        self.speed = value

    def do_line(self, typed: object) -> None:
        """Write another line."""
        self._begin(line=str(typed))

    def _play(self, ended: threading.Event) -> None:
        """Take steps until one of them, or somebody, ends it: one message for each step."""
        while not ended.wait(1 / SPEEDS[self.speed]):
            with self.lock:
                if not ended.is_set():
                    self.act("tick")
                    if self.problem:
                        self._pause()

    def _pause(self) -> None:
        if self._playing is not None:
            self._playing.set()
            self._playing = None

    def close(self) -> None:
        """Play no further, and close the widget."""
        self._pause()
        super().close()

    # Markup

    def markup(self) -> Markup:
        """Write the line, the buttons and the text."""
        play = button("Pause", "pause") if self.playing else button("Play", "play")
        at_start = self.at == 0
        steps = [
            button("Step", "step"),
            button("Back", "back", aria_disabled=at_start or None),
            play,
            button("Start over", "restart", aria_disabled=at_start or None),
            button("Draw anew", "again"),
        ]
        field = element(
            "input", type="text", name="typed", value=self.line, aria_label="A line with gaps"
        )
        use = element("button", "Use this line", type="submit")
        return Markup("").join(
            [
                form("line", field, use, class_="row typed"),
                _choice("Order", "policy", {name: name for name in POLICIES}, self.policy),
                _choice(
                    "Temperature",
                    "temperature",
                    {f"{t:g}": t for t in TEMPERATURES},
                    self.temperature,
                ),
                _choice("Speed", "speed", {name: name for name in SPEEDS}, self.speed),
                self._strip(),
                element("p", LEGEND, class_="quiet"),
                element("div", *steps, class_="row"),
                element("p", "The text: ", element("b", self.text), class_="text"),
                status(self.announcement),
            ]
        )

    def still(self) -> Markup:
        """Write the line as it is, for pages without a kernel."""
        return element("div", self._strip(), class_="cloze still")

    def _strip(self) -> Markup:
        cells = []
        for symbol, fate, p in zip(self.frame.line, self.frame.fates, self.frame.said, strict=True):
            sign = f"{p:.0%}" if fate == NEW else SIGNS[fate]
            below = element("small", sign or "\N{NO-BREAK SPACE}")
            shown = "▒" if symbol == GAP else visible(symbol)
            look = f"cell {fate.replace(' ', '-')}"
            cells.append(element("span", shown, below, class_=look, style=APART))
        words = " words" if self.model.vocabulary.separator else ""
        label = f"The line: {self.text.replace(GAP, '▒')}"
        return element("div", *cells, role="img", aria_label=label, class_=f"unmasking{words}")


APART = "display: inline-block"
"""Lets a line break between symbols even without a style sheet."""
LEGEND = (
    "The number below what was written in this step is the probability that the model gave it. "
    "↺ marks what was remasked."
)


def _choice(label: str, do: str, values: dict[str, Any], chosen: object) -> Markup:
    """Write a row of buttons of which one is pressed."""
    buttons = (
        button(name, do, data_with_value=value, aria_pressed=value == chosen)
        for name, value in values.items()
    )
    return element(
        "div", element("span", label), *buttons, role="group", aria_label=label, class_="row"
    )
