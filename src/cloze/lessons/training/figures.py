"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import baseline_lines, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, ORANGE, RED, VIOLET
from cloze.vocabulary import visible


@picture
def loss_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    baselines: Mapping[str, float],
    x_label: str = "seconds of training",
) -> tuple[Figure, str]:
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
    figure.legend(loc="outside upper left", ncols=len(curves))
    ends = "; ".join(
        f"{name}: from ≈ {points[0][1]:.2f} to ≈ {points[-1][1]:.2f}" if points else f"{name}: none"
        for name, points in curves.items()
    )
    return figure, f"Loss in nats over {x_label}. {ends}. Lines: {listed(baselines)}."


@picture
def gradient_bars(text: Sequence[str], sizes: Sequence[float], labelled: str) -> tuple[Figure, str]:
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
    pulled = [str(place) for place, size in enumerate(sizes) if size]
    return (
        figure,
        f"A bar per position of {len(text)}, but only at {', '.join(pulled)}: {labelled}.",
    )


@picture
def equal_operations(
    losses: Mapping[float, Sequence[tuple[int, float]]],
) -> tuple[Figure, str]:
    """Draw held-out loss over the size of the model, a curve for each number of operations.

    Args:
        losses: by TFLOP spent on a training, points of parameters and nats.
    """
    figure, axes = new_figure()
    for (spent, points), colour, marker in zip(
        losses.items(), (ORANGE, VIOLET, BLUE), "os^", strict=True
    ):
        sizes, nats = zip(*points, strict=True)
        axes.plot(sizes, nats, color=colour, marker=marker, label=f"{spent:.1f} TFLOP")
        best = min(points, key=lambda point: point[1])
        axes.plot(*best, "o", color=colour, markersize=15, fillstyle="none", markeredgewidth=1.5)
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(sizes, [f"{size / 1e6:.2f}" for size in sizes])
    axes.set(xlabel="million parameters", ylabel="held-out loss in nats")
    figure.legend(loc="outside upper left", ncols=len(losses))
    lowest = {spent: min(points, key=lambda point: point[1]) for spent, points in losses.items()}
    said = "; ".join(
        f"{spent:.1f} TFLOP: lowest {nats:.2f} with {size / 1e6:.2f} million"
        for spent, (size, nats) in lowest.items()
    )
    return figure, f"Held-out loss over the size of the model. {said}."
