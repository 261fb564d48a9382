"""The explorer: mask letters of a line and see what is guessed from the left, right and both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import traitlets
from markupsafe import Markup

from cloze.arguments import MOST, Positions, Some, checked, positions, shown, whole_number
from cloze.corpus import Corpus
from cloze.explorer.answers import Data, Question, ask, by_position, guesses, numbers, pair
from cloze.explorer.inside import UNTOUCHED, inside
from cloze.explorer.tally import Tally
from cloze.heads import MaskedLM
from cloze.prediction.predictors import Comparison, Predictor, predictors_of
from cloze.prediction.shipped import shipped_models
from cloze.prediction.symbols import Symbols
from cloze.vocabulary import GAP, TextError
from cloze.widgets.markup import element, in_nats
from cloze.widgets.widget import Widget, program

HERE = Path(__file__).parent
VIEWS = tuple(sorted(path.stem for path in (HERE / "views").glob("*.js")))
"""A view is a file in this folder."""
FEW = 500
"""Up to this many symbols are listed to choose from; of more, one is typed."""


class Example(NamedTuple):
    """A line that shows something, and what of it to mask."""

    line: str
    masked: str


EXAMPLES = {
    "it takes both sides": Example("they put on their coats", "i"),
    "only the right side knows": Example("she asked a question about the weather", "q"),
    "only the left side knows": Example("there was nothing to do in the rain", "g"),
    "neither side knows": Example("the cat slept on the chair", "c"),
    "a whole word": Example("she took her umbrella because it was raining", "umbrella"),
    "two gaps at once": Example("i do not know who it was", "wh"),
    "a typo": Example("the children plaied in the garden all day", ""),
}


MAPPING: dict[str, Any] = {"sync": True, "from_json": lambda value, _: by_position(value)}
POSITIONS: dict[str, Any] = {
    "sync": True,
    "to_json": lambda value, _: sorted(value),
    "from_json": lambda value, _: frozenset(value),
}
"""How what Python holds is synchronised with what JSON can hold."""


class MaskExplorer(Widget):
    """Click a letter: it is masked, and the guesses from the left, right and both sides appear.

    All of it can be read from Python too: ``line``, ``masked``, ``filled``, ``hands``, ``focus``,
    ``view``, ``guess_first``, ``revealed``, ``present``; ``loss`` and ``predictions`` follow from
    them. A line of Python that sets ``line`` or ``masked`` begins afresh: nothing is filled in, no
    hands are raised, and the first masked position is selected. ``explorer.observe(f, "masked")``
    calls ``f`` whenever a click, or a line of Python, changes what is masked.

    With ``guess_first`` truth and guesses are hidden until they are revealed, and a room can guess:
    ``hands`` maps open positions to hands by symbol, ``{13: {"u": 12, "a": 5}}``. They are a bet,
    with one hand more that all symbols share; what it cost stands beside what the readers paid and,
    over all that was revealed so far, in a :class:`Tally`. With ``guess_first="once"`` one person
    guesses, once for each line: after *Reveal*, what else is hidden in it shows its guesses at
    once.

    Args:
        model: a model of yours, anything else that predicts, or several by name; by default the
            shipped encoder and its twins.
        line: the line to begin with; ``_`` for a gap whose truth is not known. By default that of
            the first example.
        masked: the positions to mask; by default none, but in the default line the first letter of
            what its example speaks of, so that there is something to see.
        corpus: what your model has learned from; adds what knowing its frequencies would cost.
        examples: lines to choose from, by name; what the model cannot read is left out.
        tally: counts what a room has paid, for several explorers together.
        guess_first: True or ``"once"`` to begin with a gap that is guessed before its answer is
            seen.
        present: large type and nothing that only one reader needs, for a lecture hall.
        tools: False leaves the line and the guesses, and nothing else to press.

    Raises:
        TextError: the line is empty or too long.
        ValueError: a position is not in the line, or ``model`` is nothing that predicts.
    """

    _esm = program(HERE / "widget.js")

    masked = traitlets.Any(frozenset()).tag(**POSITIONS)
    filled: traitlets.Dict[Any, Any] = traitlets.Dict().tag(**MAPPING)
    hands: traitlets.Dict[Any, Any] = traitlets.Dict().tag(**MAPPING)
    focus = traitlets.Any(0).tag(sync=True)
    view = traitlets.Enum(VIEWS, "guesses").tag(sync=True)
    inside = traitlets.Dict(UNTOUCHED).tag(sync=True)
    """How the view Inside is looked at, and which parts of the model are changed there."""
    guess_first = traitlets.Enum((False, True, "once"), False).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)
    truth: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """The symbols of the line, ``GAP`` where not even the line knows the truth."""
    words: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """Where each word of the line begins and ends: what is masked as one."""
    symbols = traitlets.Dict().tag(sync=True)
    """What lines are made of: what one is called, all that may stand in a gap if they are not too
    many, how many these are and how many there are with the special ones, and whether some are
    longer than a character."""
    examples: traitlets.List[Any] = traitlets.List().tag(sync=True)
    paid: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """What the tally holds."""
    tools = traitlets.Bool(True).tag(sync=True)
    revision = traitlets.Int().tag(sync=True)
    """How often the models have changed: a browser that shows their answers asks again."""

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
        guess_first: bool | Literal["once"] = False,
        present: bool = False,
        tools: bool = True,
    ) -> None:
        self._predictors = predictors_of(model, corpus)
        self._answered: tuple[object, Comparison] | None = None
        self._set_by_cell = False
        first = next(iter(examples.values()))
        state = self._with_line(first.line if line is None else line)
        if masked is None:
            masked = []
            with suppress(ValueError):  # word pieces may cut the example elsewhere
                masked = self._place(state["truth"], first.masked)[:1] if line is None else []
        chosen = frozenset(positions(masked, len(state["truth"]))) | state["masked"]
        state |= {"masked": chosen, "focus": min(chosen, default=0)}
        super().__init__(
            guess_first=guess_first,
            present=present,
            tools=tools,
            symbols=self._described_symbols(),
            examples=self._readable(examples),
            **state,
        )
        self._set_by_cell = True
        if tally:
            traitlets.link((tally, "paid"), (self, "paid"))

    def __repr__(self) -> str:
        loss = ""
        with suppress(Exception):  # a model that fails says so where it is asked
            if self.loss is not None and not self._hidden:
                loss = f", loss {in_nats(self.loss)} nats"
        line = self._gapped() if self._hidden else self.line
        line = line if len(line) <= 24 else f"{line[:23]}…"
        return f"MaskExplorer({line!r}, {len(self.masked)} masked{loss})"

    def _gapped(self) -> str:
        """The line with a gap at each open position."""
        question = self._question
        held = enumerate(question.held)
        return self._symbols.write([GAP if at in question.open else each for at, each in held])

    # ── what follows from the state ──────────────────────────────────────────────────────────────

    @property
    def line(self) -> str:
        """The line as text."""
        return self._symbols.write(self.truth)

    @line.setter
    def line(self, text: str) -> None:
        self._begin(self._with_line(text))

    @property
    def predictions(self) -> Comparison:
        """What each model answers at the open positions."""
        with self.lock:
            return self._predict(self._question)

    @property
    def loss(self) -> float | None:
        """L / |M| in nats, of the last model; None while nothing with a known truth is masked."""
        *_, last = self.predictions.values()
        return last.loss

    def update(self) -> None:
        """Ask the models again: call it when their weights have changed."""
        with self.lock:
            self._answered = None
            self.revision += 1

    def still(self) -> Markup:
        """Write the line and, unless they are hidden, the guesses as a table."""
        table = None
        with self.lock, suppress(ValueError):
            if self._question.open and not self._hidden:
                table = Markup(self.predictions._repr_html_())  # noqa: S704 - all is escaped
        return element("div", element("p", self._gapped()), table, class_="cloze still")

    def alone(self) -> dict[str, object] | None:
        """Return the line and what is hidden, if the models are those that a page has, too."""
        shipped = shipped_models()
        if any(shipped.get(name) is not each.model for name, each in self._predictors.items()):
            return None
        state = {"line": self.line, "masked": sorted(self.masked), "focus": self.focus}
        state |= {"view": self.view}
        if self._hidden:
            state |= {"guess_first": self.guess_first}
        looked = {name: at for name, at in self.inside.items() if at != UNTOUCHED[name]}
        if looked:
            state["inside"] = looked
        if len(self._predictors) < len(shipped):
            state["readers"] = [*self._predictors]
        return state if self.tools else state | {"tools": False}

    # ── what the browser asks ────────────────────────────────────────────────────────────────────

    def answer_guesses(self, **sent: Any) -> Data:
        """Return what is guessed."""
        question = Question.of(sent)
        return guesses(question, self._predict(question), self._last)

    def answer_occlusion(self, **sent: Any) -> list[Any]:
        """Return what the last answer at the selected gap depends on."""
        question = Question.of(sent)
        return numbers(self._last.occlusion(question.held, question.open, question.focus).tolist())

    def answer_pair(self, **sent: Any) -> Data:
        """Return what is guessed at two gaps, apart and together."""
        return pair(Question.of(sent), self._last)

    def answer_inside(self, **sent: Any) -> Data:
        """Return the way to the answer at the selected gap, with the parts changed that are."""
        return self._look_inside(Question.of(sent), sent["inside"])

    def answer_surprise(self, **sent: Any) -> list[Any]:
        """Return what each symbol of a line without gaps costs."""
        return numbers(self._last.surprise(Question.of(sent).truth).tolist())

    def answer_read(self, text: str) -> Data:
        """Read a line as it was typed or pasted; of too many characters, the first.

        Raises:
            ValueError: nothing usable is left of it, it has too many words, or nobody can say
                anything of it.
        """
        most = self._max_len if self.symbols["wide"] else MOST
        line, note = self._symbols.read(text, most)
        read = self._with_line(self._symbols.write(line[: self._max_len]))
        self._predict(Question(tuple(read["truth"]), read["masked"], {}, {}, 0))
        return {"truth": read["truth"], "words": read["words"], "note": note, "n": len(line)}

    def answer_symbol(self, typed: str) -> str:
        """Read a symbol as it was typed.

        Raises:
            ValueError: it is none.
        """
        return self._symbols.read_symbol(typed)

    # ── the models ───────────────────────────────────────────────────────────────────────────────

    @property
    def _last(self) -> Predictor:
        *_, last = self._predictors.values()
        return last

    @property
    def _symbols(self) -> Symbols:
        return self._last.symbols

    @property
    def _max_len(self) -> int:
        return min(each.max_len for each in self._predictors.values())

    def _described_symbols(self) -> Data:
        known = self._symbols.known
        return {
            "unit": self._symbols.unit,
            "known": list(known) if len(known) <= FEW else None,
            "n": len(known),
            "size": len(self._symbols.vocabulary),
            "wide": any(len(symbol) > 1 for symbol in known),
        }

    def _readable(self, examples: Mapping[str, Example]) -> list[Data]:
        """Return the examples that these models can read."""
        readable = []
        for name, (line, part) in examples.items():
            with suppress(ValueError):  # it is of characters, say, and these models read words
                state = self._with_line(line)
                masked = self._place(state["truth"], part)
                readable.append({"name": name, **state, "masked": masked})
        return readable

    def _with_line(self, text: object) -> Data:
        """Read a line, of which nothing is masked but its own gaps.

        Raises:
            ValueError: it is no text, nothing usable is left of it, or it is too long.
        """
        if not isinstance(text, str):
            raise TextError(f"A line is text, not {type(text).__name__}.")
        truth, _ = self._symbols.read(text, self._max_len)
        words = [[word.start, word.stop] for word in self._symbols.words(truth)]
        gaps = frozenset(i for i, symbol in enumerate(truth) if symbol == GAP)
        return {"truth": list(truth), "words": words, "masked": gaps}

    def _place(self, truth: list[str], part: str) -> list[int]:
        """Return where a part of a line is in it; "" is nowhere.

        Raises:
            ValueError: it is not in the line.
        """
        if not part:
            return []
        wanted, _ = self._symbols.read(part, self._max_len)
        for start in range(len(truth)):
            if tuple(truth[start : start + len(wanted)]) == wanted:
                return list(range(start, start + len(wanted)))
        raise ValueError(f"{shown(part)} is not in {shown(self._symbols.write(truth))}.")

    def _predict(self, question: Question) -> Comparison:
        """Ask, unless it is what was asked last."""
        asked = question.held, question.open
        if self._answered is None or self._answered[0] != asked:
            self._answered = asked, ask(question, self._predictors)
        return self._answered[1]

    def _look_inside(self, question: Question, settings: Mapping[str, Any]) -> Data:
        return inside(question, settings, self._predictors.get(settings["reader"], self._last))

    # ── the state ────────────────────────────────────────────────────────────────────────────────
    # A click sends all that follows from it. What a cell sets is read here, and what cannot stay
    # beside it begins afresh.

    @property
    def _question(self) -> Question:
        return Question(tuple(self.truth), self.masked, self.filled, self.hands, self.focus)

    @property
    def _hidden(self) -> bool:
        return bool(self.guess_first and not self.revealed)

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Change several parts of the state at once; nothing else follows from them."""
        self._set_by_cell = False
        try:
            with self.lock, self.hold_sync(), self.hold_trait_notifications():
                yield
        finally:
            self._set_by_cell = True

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what a click has changed, and all that JavaScript says follows from it."""
        with self._together():
            super().set_state(sync_data)

    def _begin(self, state: Data) -> None:
        """Take a new line or other masks: reset the guesses and keep the view."""
        first = min(state["masked"], default=0)
        fresh: Data = {"filled": {}, "hands": {}, "revealed": False, "focus": first}
        with self._together():
            for name, value in (fresh | state).items():
                setattr(self, name, value)

    @traitlets.validate("masked", "focus")
    def _check(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if not self._set_by_cell:
            return value
        if name == "focus":
            return whole_number(value, 0, len(self.truth) - 1, "A position of this line")
        gaps = (i for i, symbol in enumerate(self.truth) if symbol == GAP)
        return frozenset(positions(value, len(self.truth))).union(gaps)

    @traitlets.observe("masked", "guess_first")
    def _begin_afresh(self, change: Any) -> None:
        if self._set_by_cell and change.name == "masked":
            self._begin({"masked": change.new})
        elif self._set_by_cell:
            self.revealed = False
