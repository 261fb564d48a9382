"""One run of the default recipe, recorded: its losses, and how it filled lines on the way.

``python -m measured.training.recorded`` trains the series' encoder once (five minutes on an idle
core, most of them to measure held-out loss again and again). Beside every training, it shows what a
number of nats looks like.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.lessons.training.results import LINES
from cloze.training import Recipe, fit
from cloze.widgets.curve import CALM, LINE, Filling, averaged
from measured.shared import ResultsFile, begun

LEVELS = (2.6, 1.3, 0.9)
"""Held-out losses in nats, at which the lines are filled."""
FINE = 1.02
"""The held-out loss is measured again after 2% more steps, until it is below all levels."""


def record(corpus: Corpus, seed: int) -> dict[str, Any]:
    """Train once.

    Returns:
        By the number of steps: ``points``, training losses in nats, averaged; ``measured``,
        held-out losses; ``filled``, what the line of the curve had in its gaps. By level:
        ``levels``, the first step that was measured below it, its held-out loss, and the gaps of
        all lines as they were filled.
    """
    run = begun(corpus, Recipe(seed=seed))
    watched, *fixed = (Filling(run.model, line) for line in (LINE, *LINES))
    filled: dict[int, str] = {}
    levels: dict[str, Any] = {}
    measured = 0
    for step in (each.step for each in fit(run)):
        if step > CALM * max(filled, default=0) or run.finished:
            filled[step] = "".join(watched.filled())
        waiting = LEVELS[len(levels) :]
        if not waiting or step <= FINE * measured:
            continue
        measured = step
        nats = held_out_loss(run.model, run.held_out)
        for level in waiting:
            if nats < level:
                lines = ["".join(each.filled()) for each in (watched, *fixed)]
                levels[str(level)] = {"step": step, "nats": round(nats, 3), "filled": lines}
    return {
        "points": {step: round(nats, 3) for step, nats in averaged(run.history, run.recipe.steps)},
        "measured": {r.step: round(r.held_out, 3) for r in run.history if r.held_out is not None},
        "filled": filled,
        "levels": levels,
    }


def main() -> None:
    corpus = Corpus.load()
    measurements = ResultsFile(
        __spec__.name, corpus_sha256=corpus.sha256, line=LINE, lines=LINES, levels=LEVELS
    )
    measurements.measure("runs", partial(record, corpus), (0,))


if __name__ == "__main__":
    main()
