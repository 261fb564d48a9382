"""The figure of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import baseline_lines, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, ORANGE, RED, VIOLET


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
