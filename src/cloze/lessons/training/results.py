"""What the commands in ``measured/training`` measured, as notebook 04 and the page show it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cloze.evaluation import Repeated
from cloze.heads import MaskedLM
from cloze.teaching.measurements import load_results
from cloze.widgets.curve import Filling


class Grown(NamedTuple):
    """How the words' encoder learned; losses are in nats per character."""

    hours: float
    pieces: int
    """How many it has read."""
    curve: list[tuple[float, float]]
    """Characters read, and the training loss (30%)."""
    baselines: dict[str, float]
    """Of a vocabulary of 8,192 pieces."""
    by_source: dict[str, dict[str, Any]]
    """What is paid on held-out text, by where it is from."""


LINES = (
    "the k[i]tchen[ ]smell[e]d of [f]resh [b]read",
    "she o[p]ened [t]he do[o]r and[ ]walke[d] in",
    "we he[a]rd th[e] thun[d]er be[f]ore t[h]e rai[n]",
)
"""Lines that the corpus does not have. Every sixth symbol is hidden, about as many as are asked of
held-out text."""


def parts() -> dict[str, tuple[int, Repeated]]:
    """Return the number of parameters and the held-out loss in nats, by name."""
    return {
        name: (by_seed["0"]["parameters"], Repeated.of(run["nats"] for run in by_seed.values()))
        for name, by_seed in load_results("training", "parts")["runs"].items()
    }


def plateau() -> dict[str, dict[int, Repeated]]:
    """Return held-out losses in nats, by way of training and number of steps."""
    return {
        name: {
            int(step): Repeated.of(curve[step] for curve in by_seed.values())
            for step in by_seed["0"]
        }
        for name, by_seed in load_results("training", "plateau")["arms"].items()
    }


def grown() -> Grown:
    """Return the training of the words' encoder, on one axis with that of letters."""
    measured = load_results("training", "words")
    by_source, points = measured["by source"]["held out"], measured["curve"]["training (30%)"]
    novels = by_source["gutenberg"]  # most of the text
    length = novels["characters a piece"]
    *_, (seconds, pieces, _) = points
    return Grown(
        seconds / 3600,
        pieces,
        [(n * length, nats / length) for _, n, nats in points],
        {"uniform": math.log(8192) / length, "unigram": novels["unigram"] / length},
        by_source,
    )


def recorded() -> dict[str, Any]:
    """Return a recorded training run.

    Returns:
        By the number of steps: ``points``, training losses in nats, averaged; ``measured``,
        held-out losses; ``filled``, how the line of the curve was filled. By level: ``levels``,
        the first step that was measured below it, its held-out loss, and how all lines were filled.
    """
    run: dict[str, Any] = load_results("training", "recorded")["runs"]["0"]
    return run


def examples() -> dict[str, Any]:
    """Return ``LINES`` as they were filled at each level, for the widget of a training."""
    model = MaskedLM()
    return {
        "lines": [Filling(model, line).words for line in LINES],
        "filled": [
            (float(level), [[*gaps] for gaps in at["filled"][1:]])
            for level, at in recorded()["levels"].items()
        ],
    }
