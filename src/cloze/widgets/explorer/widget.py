"""The explorer: mask letters of a line and see what is guessed from the left, right and both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
import traitlets
from markupsafe import Markup
from torch import Tensor

from cloze.baselines import letter_frequencies
from cloze.heads import MaskedLM
from cloze.prediction import (
    Comparison,
    attention_from,
    joint,
    mask_positions,
    predict,
    score,
    shipped_models,
)
from cloze.vocabulary import VOCABULARY
from cloze.widgets.explorer import markup
from cloze.widgets.explorer.markup import Answers, Pair
from cloze.widgets.explorer.state import State
from cloze.widgets.view import View


class Example(NamedTuple):
    """A line that shows something, and what of it to mask."""

    line: str
    masked: str


EXAMPLES = {
    "umbrella and rain": Example("she took her umbrella because it was raining", "umbrella"),
    "only the right side knows": Example("she asked a question about the weather", "q"),
    "only the left side knows": Example("there was nothing to do in the rain", "g"),
    "it takes both sides": Example("they put on their coats and went out", "i"),
    "neither side knows": Example("the cat slept on the chair", "c"),
    "two gaps at once": Example("i do not know who it was", "wh"),
    "a typo": Example("the children plaied in the garden all day", ""),
}
PAIRS_SHOWN = 5
MIRRORED = ("line", "masked", "filled", "focus", "view", "layer", "head", "guess_first", "revealed")
"""The parts of the state that can be read, set and observed from Python."""


def named_models(model: object) -> dict[str, MaskedLM]:
    """Return models by name, the one that sees most last: it is the one the words speak of.

    Raises:
        ValueError: it is no model and no mapping from names to models.
    """
    if model is None:
        return shipped_models()
    if isinstance(model, MaskedLM):
        return {model.config.direction: model}
    named = dict(model) if isinstance(model, Mapping) else {}
    if not named or not all(isinstance(each, MaskedLM) for each in named.values()):
        kind = type(model).__name__
        raise ValueError(f"model is a MaskedLM, or several of them by name, not this {kind}.")
    return {str(name): each for name, each in named.items()}


def _for_reading(value: Any) -> Any:
    """Return what a learner's code may hold: changing it in place would go unnoticed."""
    return MappingProxyType(value) if isinstance(value, dict) else value


def pairs(table: Tensor) -> list[tuple[str, float]]:
    """Return the likeliest pairs of a table of shape ``(n_characters, n_characters)``."""
    best = table.flatten().topk(PAIRS_SHOWN)
    symbols, n = VOCABULARY.symbols, VOCABULARY.n_characters
    return [
        (symbols[i // n] + symbols[i % n], p)
        for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


class MaskExplorer(View):
    """Click a letter: it is masked, and the guesses from the left, right and both sides appear.

    All of it can be read, set and observed from Python too: ``line``, ``masked``, ``filled``,
    ``focus``, ``view``, ``layer``, ``head``, ``guess_first``, ``revealed``, ``present``, ``model``;
    ``loss`` and ``predictions`` follow from them. ``explorer.observe(f, "masked")`` calls ``f``
    whenever a click, or a line of Python, changes what is masked.

    Args:
        model: a model of yours, or several by name; by default the shipped encoder and its twins.
        line: the line to begin with; ``_`` for a gap whose truth is not known.
        masked: the positions to mask.
        present: large type and few controls, for a lecture hall.
        seed: for "mask 15 % at random".

    Raises:
        TextError: the line is empty or too long.
        ValueError: a position is not in the line, or ``model`` is no ``MaskedLM``.
    """

    model = traitlets.Any()
    line = traitlets.Any()
    masked = traitlets.Any()
    filled = traitlets.Any()
    focus = traitlets.Any()
    view = traitlets.Any()
    layer = traitlets.Any()
    head = traitlets.Any()
    guess_first = traitlets.Any()
    revealed = traitlets.Any()
    present = traitlets.Bool(False)
    loss = traitlets.Any(None, read_only=True)
    """L / |M| in nats, from both sides; None while nothing with a known truth is masked."""
    predictions = traitlets.Any(None, read_only=True)
    """A :class:`~cloze.prediction.Comparison`: what each model answers at the open positions."""

    def __init__(
        self,
        model: MaskedLM | Mapping[str, MaskedLM] | None = None,
        line: str = EXAMPLES["umbrella and rain"].line,
        masked: Iterable[int] = (),
        *,
        present: bool = False,
        seed: int = 0,
    ) -> None:
        self._models = named_models(model)
        self._generator = torch.Generator().manual_seed(seed)
        self._scores: dict[str, list[float]] = {}
        self._state = State.read(line, self._max_len)
        self._state = replace(self._state.with_masked(masked), event="Ready.")
        self._state = replace(self._state, focus=min(self._state.masked, default=0))
        super().__init__()
        with self.lock, self.hold_trait_notifications():
            self.set_trait("model", self._models if model is None else model)
            self.present = present
            self._become(self._state)

    def __repr__(self) -> str:
        loss = "" if self.loss is None else f", loss {self.loss:.2f} nats"
        line = self._state.line
        shown = line if len(line) <= 24 else f"{line[:23]}…"
        return f"MaskExplorer({shown!r}, {len(self._state.masked)} masked{loss})"

    def update(self) -> None:
        """Ask the models again: call it when their weights have changed."""
        with self.lock:
            self._scores.clear()
            self._become(self._state)

    def markup(self) -> Markup:
        """Write the whole explorer."""
        return markup.explorer(self._state, self._answers, tuple(EXAMPLES), present=self.present)

    # ── the state, and everything that follows from it ───────────────────────────────────────────

    @property
    def _max_len(self) -> int:
        return min(model.config.max_len for model in self._models.values())

    @property
    def _last(self) -> MaskedLM:
        return list(self._models.values())[-1]

    def _become(self, state: State) -> None:
        """Take a state: ask the models, show it, and tell whoever observes."""
        answers = self._answer(state)  # it may fail, and then nothing has changed
        self._state, self._answers = state, answers
        *_, last = answers.comparison.predictions.values()
        self.refresh()
        with self.hold_trait_notifications():
            for name in MIRRORED:
                setattr(self, name, _for_reading(getattr(state, name)))
            self.set_trait("loss", last.loss)
            self.set_trait("predictions", answers.comparison)

    def _answer(self, state: State) -> Answers:
        input_ids, gaps = state.input_ids, state.open
        comparison = Comparison(
            input_ids,
            {name: predict(model, input_ids, gaps) for name, model in self._models.items()},
        )
        answers = Answers(comparison, letter_frequencies())
        config = self._last.config
        match state.view:
            case "pair" if len(gaps) > 1:
                return replace(answers, pair=self._pair(state))
            case "attention":
                read = mask_positions(input_ids, gaps)
                return replace(
                    answers,
                    attention=attention_from(
                        self._last, read, state.focus, state.layer, state.head
                    ),
                    n_layers=config.n_layers,
                    n_heads=config.n_heads,
                )
            case "surprise" if not state.gaps:
                if state.line not in self._scores:
                    self._scores = {state.line: score(state.line, self._last).tolist()}
                return replace(answers, surprise=self._scores[state.line])
        return answers

    def _pair(self, state: State) -> Pair:
        """Compare the guesses at the focus and at the gap nearest to it."""
        near = sorted(state.open, key=lambda at: (abs(at - state.focus), at))[:2]
        first, second = sorted(near)
        apart = predict(self._last, state.input_ids, state.open)
        together = joint(self._last, mask_positions(state.input_ids, state.open), first, second)
        return Pair(first, second, pairs(torch.outer(apart[first], apart[second])), pairs(together))

    # ── what a learner's Python does ─────────────────────────────────────────────────────────────

    @traitlets.validate(*MIRRORED)
    def _check(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        return _for_reading(getattr(self._with(name, value), name))

    @traitlets.observe(*MIRRORED)
    def _set_from_python(self, change: Any) -> None:
        with self.lock:
            if change.new == getattr(self._state, change.name):
                return  # our own echo
            try:
                self._become(self._with(change.name, change.new))
            except Exception:
                self.set_trait(change.name, _for_reading(getattr(self._state, change.name)))
                raise

    def _with(self, name: str, value: Any) -> State:
        """Return the state after ``explorer.<name> = value``."""
        state, config = self._state, self._last.config
        if value is getattr(state, name):
            return state
        match name:
            case "line":
                return state.with_line(value, self._max_len)
            case "masked":
                return state.with_masked(value)
            case "filled":
                return state.with_filled(value)
            case "focus":
                return state.with_focus(value)
            case "view":
                return state.with_view(value)
            case "layer":
                return state.with_head(value, state.head, config)
            case "head":
                return state.with_head(state.layer, value, config)
            case "guess_first":
                return state.guess_before_looking(value)
        return state.reveal() if value else replace(state, revealed=False)

    @traitlets.validate("model")
    def _check_model(self, proposal: Any) -> Any:
        models = named_models(proposal["value"])
        max_len = min(model.config.max_len for model in models.values())
        if len(self._state.line) > max_len:
            raise ValueError(
                f"The line has {len(self._state.line)} characters and this model reads {max_len}; "
                "set a shorter line first."
            )
        return proposal["value"]

    @traitlets.observe("model")
    def _set_model(self, change: Any) -> None:
        with self.lock:
            self._models = named_models(change.new)
            self._scores.clear()
            self._become(replace(self._state, layer=0, head=0))

    @traitlets.observe("present")
    def _set_present(self, _: Any) -> None:
        self.refresh()

    # ── what a learner's clicks and keys do ──────────────────────────────────────────────────────

    def do_toggle(self, at: object) -> None:
        """Mask a position, look at it, or unmask it."""
        self._become(self._state.toggle(at))

    def do_span(self, start: object, end: object) -> None:
        """Mask everything between two positions."""
        self._become(self._state.mask_span(start, end))

    def do_focus(self, at: object) -> None:
        """Look at a position."""
        self._become(self._state.with_focus(at))

    def do_guess(self, at: object, key: object) -> None:
        """Note the learner's guess."""
        self._become(self._state.guess(at, key))

    def do_line(self, text: object) -> None:
        """Take the line that was typed or pasted."""
        self._become(self._state.with_line(text, self._max_len))

    def do_example(self, value: object) -> None:
        """Take one of the examples."""
        if not isinstance(value, str) or value not in EXAMPLES:
            raise ValueError(f"There is no example {value!r}; choose one from the list.")
        example = EXAMPLES[value]
        state = self._state.with_line(example.line, self._max_len)
        start = example.line.index(example.masked)
        if example.masked:
            state = state.mask_span(start, start + len(example.masked) - 1)
        self._become(replace(state, focus=start, event=f"Example: {value}."))

    def do_word(self) -> None:
        """Mask the word at the focus, or the next."""
        self._become(self._state.mask_word())

    def do_random(self) -> None:
        """Mask 15 % of the positions, drawn afresh."""
        self._become(self._state.mask_at_random(self._generator))

    def do_unmask(self) -> None:
        """Show the line again."""
        self._become(self._state.unmask_all())

    def do_guess_first(self) -> None:
        """Hide truth and guesses until they are revealed, or no longer."""
        self._become(self._state.guess_before_looking(not self._state.guess_first))

    def do_reveal(self) -> None:
        """Show truth and guesses."""
        self._become(self._state.reveal())

    def do_fill(self, at: object, character: object) -> None:
        """Put a character into a gap."""
        self._become(self._state.fill(at, character))

    def do_empty(self, at: object) -> None:
        """Take a filled character out again."""
        self._become(self._state.empty(at))

    def do_view(self, view: object) -> None:
        """Look at guesses, two gaps, attention or surprise."""
        self._become(self._state.with_view(view))

    def do_layer(self, value: object) -> None:
        """Look at a head of another layer."""
        self._become(self._state.with_head(value, self._state.head, self._last.config))

    def do_head(self, value: object) -> None:
        """Look at another head."""
        self._become(self._state.with_head(self._state.layer, value, self._last.config))
