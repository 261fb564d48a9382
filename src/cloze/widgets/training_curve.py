"""A loss curve that grows while a model trains, with Stop and Resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from cloze.training import Record, TrainingRun, fit

HERE = Path(__file__).parent
UPDATES_PER_SECOND = 5

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 40
TOP_NATS = 3.6


def curve_svg(history: Sequence[Record], steps: int, baselines: Mapping[str, float]) -> str:
    """Draw training loss, held-out loss and the baselines' prices as an SVG picture.

    Args:
        history: the records so far.
        steps: how many steps the whole run has.
        baselines: prices in nats by name, drawn as labelled lines.
    """

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / steps

    def y(nats: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(nats, TOP_NATS) / TOP_NATS)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">']
    parts += [
        f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" class="tick">{tick}</text>'
        for tick in range(int(TOP_NATS) + 1)
    ]
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{y(0):.1f}H{WIDTH - RIGHT}"/>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" class="end">step {steps}</text>')
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 8}">loss in nats: <tspan class="training">─ training'
        '</tspan>, <tspan class="held-out">● held-out</tspan></text>'
    )
    for name, nats in baselines.items():
        parts.append(f'<path class="price" d="M{LEFT} {y(nats):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT}" y="{y(nats) - 4:.1f}" class="end">'
            f"{escape(name)} {nats:.2f}</text>"
        )
    if history:
        # Neighbouring steps are averaged into some 150 points: one batch is a noisy sample.
        size = max(1, steps // 150)
        groups = [history[i : i + size] for i in range(0, len(history), size)]
        points = " ".join(
            f"{x(group[-1].step):.1f},{y(sum(r.loss for r in group) / len(group)):.1f}"
            for group in groups
        )
        parts.append(f'<polyline class="training" points="{points}"/>')
    measured = [(r.step, r.held_out) for r in history if r.held_out is not None]
    if measured:
        points = " ".join(f"{x(step):.1f},{y(nats):.1f}" for step, nats in measured)
        parts.append(f'<polyline class="held-out" points="{points}"/>')
        parts += [
            f'<circle class="held-out" cx="{x(step):.1f}" cy="{y(nats):.1f}" r="4"/>'
            for step, nats in measured
        ]
    return "".join([*parts, "</svg>"])


def status_line(run: TrainingRun) -> str:
    """Say in words what the picture shows."""
    done, steps = run.step, run.recipe.steps
    words = [f"step {done} of {steps}"]
    if run.history:
        recent = run.history[-20:]
        words.append(f"training loss {sum(r.loss for r in recent) / len(recent):.2f} nats")
    measured = [r.held_out for r in run.history if r.held_out is not None]
    if measured:
        words.append(f"held-out loss {measured[-1]:.2f} nats")
    if 0 < done < steps:
        words.append(f"about {run.seconds / done * (steps - done):.0f} seconds left")
    return ", ".join(words)


class TrainingCurve(anywidget.AnyWidget):
    """Train and watch: ``display(curve)``, then ``curve.train()``.

    Stop (the button, or interrupting the kernel) ends training after the current step. Nothing is
    lost: Resume, or ``curve.train()`` again, goes on from there.

    Args:
        run: the training to watch.
        baselines: prices in nats by name (``loss.baseline_losses``).
        on_record: called with every record.
    """

    _esm = HERE / "training_curve.js"
    _css = HERE / "training_curve.css"

    picture = traitlets.Unicode().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    announcement = traitlets.Unicode().tag(sync=True)
    """What a screen reader says: only what is worth interrupting for."""
    action = traitlets.Unicode("Start").tag(sync=True)
    """What the button says and does: Start, Stop, Resume, or Finished."""

    def __init__(
        self,
        run: TrainingRun,
        baselines: Mapping[str, float] | None = None,
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        self.run = run
        self.baselines = dict(baselines or {})
        self.on_record = on_record
        self._stop = threading.Event()
        self._busy = threading.Lock()
        super().__init__()
        self.on_msg(self._clicked)
        self._show("ready")

    def __repr__(self) -> str:
        return f"TrainingCurve(step {self.run.step} of {self.run.recipe.steps})"

    def stop(self) -> None:
        """Ask training to end after the current step."""
        self._stop.set()

    def train(self) -> None:
        """Train until done or stopped, and say which.

        Raises:
            RuntimeError: this run is training already.
        """
        try:
            self._train()
        except KeyboardInterrupt:
            self._show("stopped")
        print(self._outcome())

    def _train(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("This run is training already; press Stop first.")
        try:
            self._stop.clear()
            self.action = "Stop"
            shown = 0.0
            for record in fit(self.run, stop=self._stop.is_set, progress=False):
                if self.on_record:
                    self.on_record(record)
                if record.held_out is not None:
                    self.announcement = status_line(self.run)
                if time.monotonic() - shown >= 1 / UPDATES_PER_SECOND:
                    self._show()
                    shown = time.monotonic()
            self._show("finished" if self.run.finished else "stopped")
        finally:
            self.action = "Finished" if self.run.finished else "Resume"
            self._busy.release()

    def _outcome(self) -> str:
        run = self.run
        if run.finished:
            return f"Finished: all {run.recipe.steps} steps are done."
        return (
            f"Stopped after step {run.step} of {run.recipe.steps}. Nothing is lost: "
            "run the cell again, or press Resume, to go on."
        )

    def _show(self, event: str = "") -> None:
        line = status_line(self.run)
        with self.hold_sync():  # one message to the browser, not one for each part
            if event:
                line = f"{event}: {line}"
                self.announcement = line
            self.status = line
            self.picture = curve_svg(self.run.history, self.run.recipe.steps, self.baselines)

    def _clicked(self, _: Any, message: Any, __: Any) -> None:
        """Answer a button. It runs on a thread of its own, which training must not block."""
        wish = message.get("do") if isinstance(message, dict) else None
        if wish == "Stop":
            self.stop()
        elif wish in ("Start", "Resume") and not self._busy.locked():
            threading.Thread(target=self._resume, daemon=True).start()

    def _resume(self) -> None:
        try:
            self._train()
        except Exception as error:  # a thread has nobody above it to tell: show it
            self.status = self.announcement = f"Training failed: {type(error).__name__}: {error}"
