"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import baseline_lines, new_figure
from cloze.teaching.palette import BLUE, GREEN, ORANGE, RED, VIOLET
from cloze.vocabulary import visible


def loss_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    baselines: Mapping[str, float],
    x_label: str = "seconds of training",
) -> Figure:
    """Draw loss curves, each a row of points (x, nats), above the lines of the baselines."""
    figure, axes = new_figure()
    baseline_lines(axes, baselines)
    for (name, points), colour in zip(
        curves.items(), (BLUE, ORANGE, GREEN, VIOLET, RED), strict=False
    ):
        xs, ys = zip(*points, strict=True) if points else ((), ())
        axes.plot(
            xs, ys, color=colour, marker="o" if len(xs) < 30 else "", markersize=4, label=name
        )
    axes.set(xlabel=x_label, ylabel="loss in nats", ylim=(0, None))
    figure.legend(loc="outside upper left", ncols=len(curves), frameon=False)
    return figure


def gradient_bars(text: Sequence[str], sizes: Sequence[float], labelled: str) -> Figure:
    """Draw how strongly the loss pulls at each position's answer: a bar where it pulls at all.

    Args:
        text: the characters as the model reads them.
        sizes: the length of the gradient at each position.
        labelled: what the bars are, for the vertical axis.
    """
    figure, axes = new_figure(9.6, 2.4)
    axes.bar(range(len(text)), sizes, color=BLUE, width=0.8)
    axes.set(ylabel=labelled, xlim=(-0.7, len(text) - 0.3))
    axes.set_xticks(range(len(text)), [visible(c) for c in text], family="monospace")
    axes.tick_params(axis="x", length=0, labelsize=10)
    return figure
