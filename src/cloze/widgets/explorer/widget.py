"""The explorer: mask letters of a line and see what is guessed from the left, right and both."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import traitlets
from markupsafe import Markup

from cloze.border import Positions, Some, between, checked, shown, whole_number
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.prediction import Predictor, predictors_of, shipped_models
from cloze.widgets.explorer import markup
from cloze.widgets.explorer.answers import Answers, ask, ask_occlusion
from cloze.widgets.explorer.picture import Picture
from cloze.widgets.explorer.room import MOST_HANDS, ROOM, Paid, cost
from cloze.widgets.explorer.state import State
from cloze.widgets.explorer.tally import Tally
from cloze.widgets.view import View, in_nats


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
MIRRORED = (
    *("line", "masked", "filled", "hands", "focus", "view", "layer", "head"),
    *("guess_first", "revealed"),
)
"""The parts of the state that can be read, set and observed from Python."""


def _for_reading(value: Any) -> Any:
    """Return what a learner's code may hold: changing it in place would go unnoticed."""
    if isinstance(value, dict):
        return MappingProxyType({key: _for_reading(each) for key, each in value.items()})
    return value


def _able(predictors: Mapping[str, Predictor]) -> State:
    """Return a state without a line that knows what these predictors can read and show."""
    *_, last = predictors.values()
    max_len = min(each.max_len for each in predictors.values())
    return State(last.symbols, max_len, n_layers=last.n_layers, n_heads=last.n_heads)


def _does(change: Callable[..., State]) -> Callable[..., None]:
    """Make an action of the widget of a change of its state, with the same arguments."""

    @wraps(change)
    def do(self: MaskExplorer, *args: object, **kwargs: object) -> None:
        self._become(change(self._state, *args, **kwargs))

    return do


class MaskExplorer(View):
    """Click a letter: it is masked, and the guesses from the left, right and both sides appear.

    All of it can be read, set and observed from Python too: ``line``, ``masked``, ``filled``,
    ``hands``, ``focus``, ``view``, ``layer``, ``head``, ``guess_first``, ``revealed``, ``present``,
    ``model``; ``loss`` and ``predictions`` follow from them. ``explorer.observe(f, "masked")``
    calls ``f`` whenever a click, or a line of Python, changes what is masked.
    ``explorer.picture()`` keeps what is seen now.

    With ``guess_first`` truth and guesses are hidden until they are revealed, and a room can guess:
    ``hands`` maps open positions to hands by symbol, ``{13: {"u": 12, "a": 5}}``. They are a bet,
    with one hand more that all symbols share; what it cost stands beside what the readers paid and,
    over all that was revealed so far, in ``tally``.

    Args:
        model: a model of yours, anything else that predicts, or several by name; by default the
            shipped encoder and its twins.
        line: the line to begin with; ``_`` for a gap whose truth is not known. By default that of
            the first example.
        masked: the positions to mask; by default none, but in the default line the first letter of
            what its example speaks of, so that there is something to see.
        corpus: what your model has learned from; adds what knowing its frequencies would cost.
        examples: lines to choose from, by name.
        tally: counts what a room has paid, for several explorers together; by default for this one.
        present: large type and nothing that only one reader needs, for a lecture hall.
        seed: for "mask 15% at random".

    Raises:
        TextError: the line is empty or too long.
        ValueError: a position is not in the line, or ``model`` is nothing that predicts.
    """

    model = traitlets.Any()
    line = traitlets.Any()
    masked = traitlets.Any()
    filled = traitlets.Any()
    hands = traitlets.Any()
    focus = traitlets.Any()
    view = traitlets.Any()
    layer = traitlets.Any()
    head = traitlets.Any()
    guess_first = traitlets.Any()
    revealed = traitlets.Any()
    _answers: Answers
    loss = traitlets.Any(None, read_only=True)
    """L / |M| in nats, from both sides; None while nothing with a known truth is masked."""
    predictions = traitlets.Any(None, read_only=True)
    """What each model answers at the open positions: a :class:`~cloze.prediction.Comparison`."""

    @checked
    def __init__(
        self,
        model: MaskedLM | Predictor | Mapping[str, MaskedLM | Predictor] | None = None,
        line: str | None = None,
        masked: Positions | None = None,
        *,
        corpus: Corpus | None = None,
        examples: Annotated[Mapping[str, Example], Some] = EXAMPLES,
        tally: Tally | None = None,
        present: bool = False,
        seed: Annotated[int, between(0, 999_999_999)] = 0,
    ) -> None:
        self._corpus = corpus
        self._examples = dict(examples)
        self._predictors = predictors_of(model, corpus)
        self._asked: object = None
        self._tally = tally
        self._random = random.Random(seed)  # noqa: S311
        first = next(iter(self._examples.values()))
        text = first.line if line is None else line
        state = _able(self._predictors).with_line(text)
        if masked is None and line is None and first.masked:
            masked = [state.with_example(*first).focus]
        state = state.with_masked(() if masked is None else masked)
        self._state = replace(state, focus=min(state.masked, default=0), event="Ready.")
        super().__init__()
        with self.lock, self.hold_trait_notifications():
            self.model = shipped_models() if model is None else model  # first: it asks
            self.present = present

    def __repr__(self) -> str:
        loss = "" if self.loss is None else f", loss {in_nats(self.loss)} nats"
        line = self._state.line
        shown = line if len(line) <= 24 else f"{line[:23]}…"
        return f"MaskExplorer({shown!r}, {len(self._state.masked)} masked{loss})"

    def update(self) -> None:
        """Ask the models again: call it when their weights have changed."""
        with self.lock:
            self._become(self._state, self._predictors)

    def markup(self) -> Markup:
        """Write the whole explorer."""
        paid = self._tally.paid if self._tally else []
        return markup.explorer(self._answers, self._examples, paid, present=self.present)

    @property
    def tally(self) -> Tally:
        """What the room and the readers have paid so far."""
        if self._tally is None:
            self._tally = Tally()
        return self._tally

    # ── the state, and everything that follows from it ───────────────────────────────────────────

    def _become(self, state: State, anew: Mapping[str, Predictor] | None = None) -> None:
        """Take a state: ask for predictions, show it, and tell whoever observes.

        Args:
            state: the state.
            anew: predictors to ask from now on, of which nothing is known yet.
        """
        predictors = anew or self._predictors
        # It may fail, and then nothing has changed.
        answers = ask(state, predictors, None if anew else self._answers)
        if not anew and self._state.hidden and not state.hidden:
            self._count(answers)
        self._state, self._answers, self._predictors = state, answers, dict(predictors)
        self.refresh()
        with self.hold_trait_notifications():
            for name in MIRRORED:
                setattr(self, name, _for_reading(getattr(state, name)))
            self.set_trait("loss", answers.last[1].loss)
            self.set_trait("predictions", answers.by_name)
        if not self._acting:
            self.settle()

    def _count(self, answers: Answers) -> None:
        """Enter into the tally what was paid for what is now revealed."""
        state = answers.asked
        for at in state.open:
            hands, truth = state.hands.get(at), state.known_truth(at)
            paid = cost(hands, state.symbols.known, truth) if hands else None
            if hands and paid is not None:
                costs = {name: each.cost(at) for name, each in answers.by_name.items()}
                known = {name: each for name, each in costs.items() if each is not None}
                self.tally.note(state.line, at, Paid(sum(hands.values()), {ROOM: paid} | known))

    def settle(self) -> None:
        """Add what the answer depends on: it takes longer, so the answer is shown before."""
        answers = ask_occlusion(self._answers, self._predictors)
        if answers is not self._answers:
            self._answers = answers
            self.refresh()

    def picture(self) -> Picture:
        """Return what is seen now, the guesses at the focus, as a picture that stays.

        Raises:
            ValueError: the focus is no open gap, or guesses are kept back.
        """
        with self.lock:
            state = replace(self._state, view="guesses")
            if state.hidden or state.focus not in state.open:
                raise ValueError("A picture shows guesses: mask a position, select it, and reveal.")
            answers = replace(self._answers, asked=state)
            return Picture(ask_occlusion(answers, self._predictors))

    def still(self) -> Markup | None:
        """Write the picture, if there is one now."""
        with self.lock, suppress(ValueError):
            return Markup(self.picture()._repr_html_())  # noqa: S704 - all parts are escaped
        return None

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
        if value is getattr(self._state, name):
            return self._state
        changed: State = getattr(self._state, f"with_{name}")(value)
        return changed

    @traitlets.validate("model")
    def _check_model(self, proposal: Any) -> Any:
        self._state_for(predictors_of(proposal["value"], self._corpus))
        return proposal["value"]

    @traitlets.observe("model")
    def _set_model(self, change: Any) -> None:
        with self.lock:
            if change.new is self._asked:
                return  # our own echo
            try:
                predictors = predictors_of(change.new, self._corpus)
                self._become(self._state_for(predictors), predictors)
            except Exception:
                self.model = self._asked
                raise
            self._asked = change.new

    def _state_for(self, predictors: Mapping[str, Predictor]) -> State:
        """Return the state as other predictors can take it.

        Raises:
            ValueError: they cannot read the line.
        """
        able = _able(predictors)
        kept = {"symbols", "max_len", "n_layers", "n_heads", "layer", "head"}
        state = replace(self._state, **{name: getattr(able, name) for name in kept})
        if state.symbols != self._state.symbols or len(state.truth) > state.max_len:
            return state.with_line(self._state.line)
        return state

    # ── what a learner's clicks and keys do ──────────────────────────────────────────────────────

    do_toggle = _does(State.toggle)
    do_span = _does(State.mask_span)
    do_focus = _does(State.with_focus)
    do_count = _does(State.with_count)
    do_line = _does(State.with_pasted)
    do_word = _does(State.mask_word)
    do_unmask = _does(State.unmask_all)
    do_fill = _does(State.fill)
    do_empty = _does(State.empty)
    do_view = _does(State.with_view)
    do_layer = _does(State.with_layer)
    do_head = _does(State.with_head)

    def do_guess(self, at: object, key: object, n: object = 1) -> None:
        """Raise a hand for a symbol, or several."""
        n = whole_number(n, 1, MOST_HANDS, "A number of hands")
        self._become(self._state.raise_hands(at, key, n))

    def do_take(self, at: object, key: object) -> None:
        """Take a hand back."""
        self._become(self._state.raise_hands(at, key, -1))

    def do_example(self, value: object) -> None:
        """Take one of the examples."""
        if not isinstance(value, str) or value not in self._examples:
            raise ValueError(f"There is no example {shown(value)}; choose one from the list.")
        state = self._state.with_example(*self._examples[value])
        self._become(replace(state, event=f"Example: {value}."))

    def do_random(self) -> None:
        """Mask 15% of the positions, drawn afresh."""
        self._become(self._state.mask_at_random(self._random))

    def do_guess_first(self) -> None:
        """Hide truth and guesses until they are revealed, or no longer."""
        self._become(self._state.with_guess_first(not self._state.guess_first))

    def do_reveal(self) -> None:
        """Show truth and guesses."""
        self._become(self._state.with_revealed(True))
