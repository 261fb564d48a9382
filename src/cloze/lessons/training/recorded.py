"""One run of the default recipe, recorded: its losses, and how it filled lines on the way.

``python -m cloze.lessons.training.recorded`` trains the series' encoder once and writes it to
recorded.json (five minutes on an idle core, most of them to measure held-out loss again and again).
Beside every training, the page shows from it what a number of nats looks like.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch

from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit
from cloze.widgets.curve import CALM, LINE, Filling, averaged

RESULTS = Path(__file__).with_suffix(".json")
LINES = (
    "the k[i]tchen[ ]smell[e]d of [f]resh [b]read",
    "she o[p]ened [t]he do[o]r and[ ]walke[d] in",
    "we he[a]rd th[e] thun[d]er be[f]ore t[h]e rai[n]",
)
"""Lines that the corpus does not have. Every sixth symbol is hidden, about as many as are asked of
held-out text."""
LEVELS = (2.6, 1.3, 0.9)
"""Held-out losses in nats, at which the lines are filled."""
FINE = 1.02
"""The held-out loss is measured anew after 2% more steps, until it is below all levels."""


def record(corpus: Corpus, seed: int) -> dict[str, Any]:
    """Train once.

    Returns:
        By the number of steps: ``points``, training losses in nats, averaged; ``measured``,
        held-out losses; ``filled``, what the line of the curve had in its gaps. By level:
        ``levels``, the first step that was measured below it, its held-out loss, and the gaps of
        all lines as they were filled.
    """
    torch.manual_seed(seed)
    run = TrainingRun(MaskedLM(), corpus, Recipe(seed=seed))
    watched, *fixed = (Filling(run.model, line) for line in (LINE, *LINES))
    filled: dict[int, str] = {}
    levels: dict[str, Any] = {}
    measured = 0
    for step in (each.step for each in fit(run, progress=False)):
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


def results() -> dict[str, Any]:
    """Return the recorded run, as :func:`record` describes it."""
    recorded: dict[str, Any] = measurements.read(RESULTS)["runs"]["0"]
    return recorded


def examples() -> dict[str, Any]:
    """Return the fixed lines as they were filled at each level, for the widget of a training."""
    model = MaskedLM()
    return {
        "lines": [Filling(model, line).words for line in LINES],
        "filled": [
            (float(level), [[*gaps] for gaps in at["filled"][1:]])
            for level, at in results()["levels"].items()
        ],
    }


def main(path: Path = RESULTS) -> None:
    """Train, and write what it takes to repeat it along with what came out."""
    corpus = Corpus.load()
    made = measurements.made_by(
        __spec__.name, corpus_sha256=corpus.sha256, line=LINE, lines=LINES, levels=LEVELS
    )
    measurements.measure(path, made, "runs", [(0,)], partial(record, corpus))


if __name__ == "__main__":
    main()
