"""A loss curve that grows while a model trains, with Stop and Resume."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape

from markupsafe import Markup

from cloze.border import checked
from cloze.training import Record, TrainingRun, fit
from cloze.widgets.view import View, button, element

UPDATES_PER_SECOND = 5

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 40
TOP_NATS = 3.6


def curve_svg(history: Sequence[Record], steps: int, baselines: Mapping[str, float]) -> Markup:
    """Draw training loss, held-out loss and the baselines as an SVG picture.

    Args:
        history: the records so far.
        steps: how many steps the whole run has.
        baselines: losses in nats by name, drawn as labelled lines.
    """

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / steps

    def y(nats: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(nats, TOP_NATS) / TOP_NATS)

    parts = [f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">']
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
        parts.append(f'<path class="baseline" d="M{LEFT} {y(nats):.1f}H{WIDTH - RIGHT}"/>')
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
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704 - names are escaped above


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


class TrainingCurve(View):
    """Train and watch: ``display(curve)``, then ``curve.train()``.

    Stop (the button, or interrupting the kernel) ends training after the current step. Nothing is
    lost: Resume, or ``curve.train()`` again, goes on from there.

    Args:
        run: the training to watch.
        baselines: losses in nats by name (:func:`cloze.baselines.baseline_losses`).
        on_record: called with every record.

    Raises:
        ValueError: ``run`` is no training.
    """

    @checked
    def __init__(
        self,
        run: TrainingRun,
        baselines: Mapping[str, float] | None = None,
        on_record: Callable[[Record], None] | None = None,
    ) -> None:
        self.run = run
        self.baselines = dict(baselines or {})
        self.on_record = on_record
        self.announcement = ""
        """What a screen reader says: only what is worth interrupting for."""
        self._stop = threading.Event()
        self._busy = threading.Lock()
        super().__init__()
        self._show("ready")

    def __repr__(self) -> str:
        return f"TrainingCurve(step {self.run.step} of {self.run.recipe.steps})"

    @property
    def action(self) -> str:
        """What the button says and does: Start, Stop, Resume, or Finished."""
        if self._busy.locked():
            return "Stop"
        if self.run.finished:
            return "Finished"
        return "Resume" if self.run.step else "Start"

    def markup(self) -> Markup:
        """Write the picture, the same in words, and the button."""
        words = status_line(self.run)
        picture = curve_svg(self.run.history, self.run.recipe.steps, self.baselines)
        action = self.action
        return Markup("").join(
            [
                element("div", picture, role="img", aria_label=f"Loss curve. {words}"),
                element("p", words, class_="number"),
                element("p", self.announcement, role="status", class_="spoken"),
                button(action, action.lower(), aria_disabled=action == "Finished" or None),
            ]
        )

    def reached(self, step: int) -> bool:
        """Return whether training has come to a step and measured what is due; if not, say so."""
        done = self.run.step - self.run.unmeasured
        if done < step:
            print(
                f"Training is at step {done}, and this cell needs step {step}: "
                "run the training cell to continue."
            )
        return done >= step

    def stop(self) -> None:
        """Ask training to end after the current step."""
        self._stop.set()

    do_stop = stop

    def train(self) -> None:
        """Train until done or stopped, and say which.

        Raises:
            RuntimeError: this run is training already.
        """
        with contextlib.suppress(KeyboardInterrupt):
            if not self._begin():
                raise RuntimeError("This run is training already; press Stop first.")
            self._train()
        print(self._outcome())

    def _begin(self) -> bool:
        """Claim the run, and return whether nobody trains it; a Stop counts from here on."""
        if not self._busy.acquire(blocking=False):
            return False
        self._stop.clear()
        return True

    def _train(self) -> None:
        try:
            shown = 0.0
            for record in fit(self.run, stop=self._stop.is_set, progress=False):
                if self.on_record:
                    self.on_record(record)
                if record.held_out is not None:
                    self.announcement = status_line(self.run)
                if time.monotonic() - shown >= 1 / UPDATES_PER_SECOND:
                    self.refresh()
                    shown = time.monotonic()
        finally:
            self._busy.release()
            self._show("finished" if self.run.finished else "stopped")

    def _outcome(self) -> str:
        run = self.run
        if run.finished:
            return f"Finished: all {run.recipe.steps} steps are done."
        return (
            f"Stopped after step {run.step} of {run.recipe.steps}. Nothing is lost: "
            "run the cell again, or press Resume, to continue."
        )

    def _show(self, event: str) -> None:
        self.announcement = f"{event}: {status_line(self.run)}"
        self.refresh()

    def do_start(self) -> None:
        """Train on a thread of its own, so that this click, and the next, is answered at once."""
        if self._begin():
            threading.Thread(target=self._resume, daemon=True).start()

    do_resume = do_start

    def _resume(self) -> None:
        try:
            self._train()
        except Exception as error:  # a thread has nobody above it to tell: show it
            self.problem = f"Training failed: {type(error).__name__}: {error}"
            self.refresh()
