"""What the commands in ``measured/training`` measured, as notebook 04 and the page show it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results
from cloze.widgets.curve import Moment


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
        held-out losses; ``filled``, how the line of the curve was filled.
    """
    run: dict[str, Any] = load_results("training", "recorded")["runs"]["0"]
    return run


def moments() -> list[Moment]:
    """Return the moments of the recorded run, for the slider of a training."""
    run = recorded()
    return [(int(step), nats, [*run["filled"][step]]) for step, nats in run["measured"].items()]


def six_neighbours() -> float:
    """Return what counting three symbols on each side pays, in nats: below it are whole words."""
    nats: float = load_results("training", "recorded")["counting"]["6"]
    return nats
