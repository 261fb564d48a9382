"""A loss curve that grows while a model trains, and a line that it fills, with Stop and Resume."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol, runtime_checkable

import traitlets
from markupsafe import Markup

from cloze.arguments import checked
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.objectives import MASKED
from cloze.prediction.predictors import MaskedPredictor
from cloze.training import Progress, Record, TrainingRun, fit
from cloze.vocabulary import GAP, VOCABULARY, TextError
from cloze.widgets.markup import still_lines
from cloze.widgets.widget import Widget, program

UPDATES_PER_SECOND = 5
POINTS = 150
STILL = 16
"""Every sixteenth moment of a recorded run is shown where nothing runs."""
MOST_WRITTEN = 10_000
"""The longest text in characters that is written into a notebook, for a page to train on."""
LINE = "th[e] old m[a]n walk[e]d slow[l]y al[o]ng [the] ri[v]er in the ra[i]n"
"""What a model of characters fills while it learns."""
Moment = tuple[int, float, Sequence[str]]
"""After how many steps, the held-out loss in nats, and what a run put into the gaps of a line."""
CALM = 1.05
"""The line is filled again after 5% more steps: that costs little, and later letters stay calm."""


def averaged(history: Sequence[Record], steps: int) -> list[tuple[float, float]]:
    """Average neighbouring steps into some 150 points, because one batch is a noisy sample.

    Args:
        history: the records so far.
        steps: how many steps the whole run has.

    Returns:
        Steps and training losses in nats.
    """
    size = max(1, steps // POINTS)
    groups = (history[i : i + size] for i in range(0, len(history), size))
    return [(group[-1].step, sum(r.loss for r in group) / len(group)) for group in groups]


@runtime_checkable
class Trained(Protocol):
    """A run that takes its steps itself, such as an ``Adaptation``."""

    def train(self, on_record: Callable[[Record], None], stop: Callable[[], bool]) -> None:
        """Train until the end, or until ``stop`` says so after a step."""


def _line_for(run: TrainingRun) -> str | None:
    """Return the line that a model of characters fills while it learns to fill gaps."""
    model, learns = run.model, run.objective.head and run.objective.model is MaskedLM
    fits = learns and model.vocabulary == VOCABULARY and model.config.max_len >= 64
    return LINE if fits else None


def status_line(run: Progress, busy: bool = False) -> str:
    """Say in words how far a run has come, and while it is busy how long it will take."""
    done, steps = run.step, run.recipe.steps
    words = [f"step {done} of {steps}"]
    if run.history:
        recent = run.history[-20:]
        words.append(f"training loss {sum(r.loss for r in recent) / len(recent):.2f} nats")
    measured = [r.held_out for r in run.history if r.held_out is not None]
    if measured:
        words.append(f"held-out loss {measured[-1]:.2f} nats")
    if run.history:
        seconds = run.history[-1].seconds
        left = f"about {seconds / done * (steps - done):.0f} seconds left"
        words.append(left if busy else f"{seconds:.0f} seconds")
    return ", ".join(words)


class Filling:
    """A line with gaps, for a model to fill from one look.

    Args:
        model: what fills it.
        text: the line, with what is hidden in brackets.

    Raises:
        ValueError: the model cannot read the line, or nothing is hidden.
    """

    def __init__(self, model: MaskedLM, text: str) -> None:
        self.predictor = MaskedPredictor(model)
        self.line: list[str] = []
        self.gaps: list[int] = []
        for k, part in enumerate(re.split(r"[\[\]]", text)):
            begin = len(self.line)
            self.line += [model.vocabulary.symbols[i] for i in model.vocabulary.encode(part)]
            if k % 2:
                self.gaps += range(begin, len(self.line))
        if not self.gaps:
            raise TextError(f"Nothing of {text!r:.60} is hidden; put brackets around some of it.")
        self.filled()

    @property
    def words(self) -> list[list[tuple[str, bool]]]:
        """The words of the line, each of its symbols with whether it is hidden."""
        seen = [GAP if i in self.gaps else symbol for i, symbol in enumerate(self.line)]
        places = self.predictor.symbols.words(seen)
        return [[(self.line[i], i in self.gaps) for i in word] for word in places]

    def filled(self) -> list[str]:
        """Return the model's first choice for each gap."""
        answer = self.predictor.predict(self.line, self.gaps)
        best = answer.probabilities.argmax(-1).tolist()
        return [self.predictor.symbols.known[i] for i in best]


class TrainingCurve(Widget):
    """Train and watch: ``display(curve)``, then ``curve.train()``.

    Stop (the button, or interrupting the kernel) ends training after the current step. Nothing is
    lost: Resume, or ``curve.train()`` again, goes on from there.

    Args:
        run: the training to watch.
        baselines: losses in nats by name (:func:`cloze.baselines.baseline_losses`).
        on_record: called with every record.
        line: what the model fills above the curve as it learns, with what is hidden in brackets:
            ``"the c[a]t"``. By default a line where a model of characters learns to fill gaps.
        recorded: another run that filled the same line, to go through with a slider: steps,
            held-out losses in nats, and what was in the gaps by then.

    Raises:
        ValueError: ``run`` is no training, or its model cannot read the line.
    """

    _esm = program("curve.js")

    steps = traitlets.Int().tag(sync=True)
    """How many steps the whole run has."""
    points: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """Steps and training losses in nats, averaged."""
    measured: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """Steps and held-out losses in nats."""
    baselines = traitlets.Dict().tag(sync=True)
    recorded: traitlets.List[Any] = traitlets.List().tag(sync=True)
    action = traitlets.Unicode("Start").tag(sync=True)
    """What the button says and does: Start, Train mine, Stop, Resume, or Finished."""
    words = traitlets.Unicode().tag(sync=True)
    """What the picture shows, in words."""
    line: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """The words of the line to fill, each of its symbols with whether it is hidden."""
    filled: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """The model's first choice for each gap; empty before the first step."""
    failure = traitlets.Unicode().tag(sync=True)
    """Why training has ended by itself."""

    @checked
    def __init__(
        self,
        run: Progress,
        baselines: Mapping[str, float] | None = None,
        on_record: Callable[[Record], None] | None = None,
        line: str | None = None,
        recorded: Sequence[Moment] = (),
    ) -> None:
        self.run = run
        self.on_record = on_record
        self._stop = threading.Event()
        self._busy = threading.Lock()
        self._shown = 0.0
        self._filling = None
        if isinstance(run, TrainingRun) and (shown := line or _line_for(run)):
            self._filling = Filling(run.model, shown)
        self._filled_after = 0
        super().__init__(
            steps=run.recipe.steps,
            baselines=dict(baselines or {}),
            recorded=[*recorded],
            line=self._filling.words if self._filling else [],
        )
        self._show()

    def __repr__(self) -> str:
        return f"TrainingCurve(step {self.run.step} of {self.run.recipe.steps})"

    def still(self) -> Markup | None:
        """Write some moments of the recorded run, each as a line."""
        truth = [symbol for word in self.line for symbol in [*word, (" ", False)]]
        said = []
        for step, nats, filled in self.recorded[::STILL]:
            left = iter(filled)
            line = "".join(next(left) if hidden else symbol for symbol, hidden in truth)
            said.append(f"After {step:,} steps, {nats:.2f} nats: {line}")
        return still_lines(*said) if said else None

    def alone(self) -> dict[str, object] | None:
        """Return what a page trains by itself; None if only Python could, or has begun to.

        ``text`` is what to train on and then, ``heldOut`` characters, what to measure on. It is
        None for the corpus of the series, which a page has.
        """
        run = self.run
        if not isinstance(run, TrainingRun) or run.step or not self._filling:
            return None
        corpus, known = run.corpus, run.model.vocabulary == VOCABULARY
        if run.objective is not MASKED or not known or not isinstance(corpus, Corpus):
            return None
        held_out = corpus.held_out_windows(run.recipe.length).flatten()
        text = None
        if corpus.sha256 != Corpus.load().sha256:
            text = VOCABULARY.decode(corpus.train_ids) + VOCABULARY.decode(held_out)
            if len(text) > MOST_WRITTEN:
                return None
        gaps, line = {*self._filling.gaps}, self._filling.line
        return {
            "config": asdict(run.model.config),
            "recipe": asdict(run.recipe),
            "baselines": {name: round(nats, 4) for name, nats in self.baselines.items()},
            "recorded": self.recorded,
            "line": self.line,
            "masked": "".join(GAP if i in gaps else symbol for i, symbol in enumerate(line)),
            "corpus": corpus.sha256,
            "text": text,
            "heldOut": held_out.numel(),
        }

    def reached(self, step: int) -> bool:
        """Return whether training has come to a step and measured what is due; if not, say so."""
        due = isinstance(self.run, TrainingRun) and self.run.unmeasured
        done = self.run.step - due
        if done < step:
            print(
                f"Training is at step {done}, and this cell needs step {step}: "
                "run the training cell to continue."
            )
        return done >= step

    def stop(self) -> None:
        """Ask training to end after the current step."""
        self._stop.set()

    answer_stop = stop

    def train(self) -> None:
        """Train until done or stopped, and say which.

        Raises:
            RuntimeError: this run is training already.
        """
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("This run is training already; press Stop first.")
        with contextlib.suppress(KeyboardInterrupt):
            self._train()
        run = self.run
        if run.finished:
            print(f"Finished: all {run.recipe.steps} steps are done.")
        else:
            print(
                f"Stopped after step {run.step} of {run.recipe.steps}. Nothing is lost: "
                "run the cell again, or press Resume, to continue."
            )

    def _train(self) -> None:
        """Train until done or stopped; the caller makes sure that nobody else trains it."""
        try:
            self._stop.clear()
            self._show()
            if isinstance(self.run, TrainingRun):
                for record in fit(self.run, stop=self._stop.is_set, progress=False):
                    self._watch(record)
            elif isinstance(self.run, Trained):
                self.run.train(self._watch, self._stop.is_set)
        finally:
            self._busy.release()
            self._show()

    def _watch(self, record: Record) -> None:
        if self.on_record:
            self.on_record(record)
        if time.monotonic() - self._shown >= 1 / UPDATES_PER_SECOND:
            self._show()
            self._shown = time.monotonic()

    def _show(self) -> None:
        """Show how far training has come, in one message."""
        run = self.run
        begin = "Train mine" if self.recorded else "Start"
        ready = "Finished" if run.finished else "Resume" if run.step else begin
        with self.lock, self.hold_sync():
            self.points = averaged(run.history, run.recipe.steps)
            self.measured = [(r.step, r.held_out) for r in run.history if r.held_out is not None]
            busy = self._busy.locked()
            self.words = status_line(run, busy)
            self.action = "Stop" if busy else ready
            due = self.action != "Stop" or run.step > CALM * self._filled_after
            if self._filling and run.step and due:
                self.filled = self._filling.filled()
                self._filled_after = run.step

    def answer_start(self) -> None:
        """Train on a thread of its own, so that this click, and the next, is answered at once."""
        if self._busy.acquire(blocking=False):
            self.failure = ""
            threading.Thread(target=self._resume, daemon=True).start()

    def _resume(self) -> None:
        try:
            self._train()
        except Exception as error:  # a thread has nobody above it to tell: show it
            self.failure = f"Training failed: {type(error).__name__}: {error}"
