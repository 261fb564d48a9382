"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import new_figure
from cloze.teaching.palette import BLUE, GREY, INK, ORANGE, VIOLET

LOOKS = {"left": (ORANGE, "//"), "right": (VIOLET, "\\\\"), "both": (BLUE, "")}
"""Colour and hatching by what is read."""
SIGNS = {"left": "o", "right": "^", "both": "s"}


def floors(costs: Mapping[str, float]) -> Figure:
    """Draw what the best readers expect to pay, by what they read, the first at the top."""
    figure, axes = new_figure(7.2, 0.7 + 0.5 * len(costs))
    for i, (name, nats) in enumerate(costs.items()):
        colour, hatch = LOOKS.get(name, (GREY, ""))
        axes.barh(i, nats, color=colour, hatch=hatch, edgecolor="white", height=0.6)
        axes.annotate(
            f"{nats:.2f}", (nats, i), xytext=(4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(range(len(costs)), list(costs))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.1)
    axes.set(xlabel="mean cost in nats per hidden word")
    return figure


def down_to_the_floor(steps: Sequence[int], losses: Sequence[float], floor: float) -> Figure:
    """Draw held-out loss by step, and the floor that it comes down to; what is above 1 is cut."""
    figure, axes = new_figure()
    axes.plot(steps, losses, color=BLUE, marker="o", label="held-out loss")
    axes.axhline(floor, color=ORANGE, linewidth=2, linestyle=(0, (4, 3)), label="floor")
    axes.fill_between([0, max(steps)], 0, floor, color=GREY, alpha=0.2, linewidth=0)
    axes.annotate("no model pays less", (max(steps) / 2, floor / 2), ha="center", va="center")
    axes.set(xlabel="step", ylabel="nats per hidden word", ylim=(0, 1), xlim=(0, None))
    axes.legend()
    return figure


def truth_against(
    true: Sequence[float],
    said: Sequence[float],
    bins: Sequence[tuple[float, float]],
) -> Figure:
    """Draw each true probability against the one that was said, and how often it came true.

    Args:
        true: by answer.
        said: by answer.
        bins: for each bin, the mean of what was said and the share that came true.
    """
    figure, axes = new_figure(5.2, 4.8)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    axes.plot(said, true, ".", color=BLUE, markersize=3, alpha=0.4, label="exact truth, each word")
    axes.plot(
        *zip(*bins, strict=True), "D", color=ORANGE, markeredgecolor=INK, label="share come true"
    )
    axes.set(
        xlabel="probability that the model gives",
        ylabel="true probability",
        xlim=(0, 1.02),
        ylim=(0, 1.02),
    )
    axes.legend(loc="upper left")
    return figure


def floor_by_rate(rates: Sequence[float], costs: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the floors of readers against the masking rate."""
    figure, axes = new_figure()
    for name, nats in costs.items():
        colour, _ = LOOKS[name]
        axes.plot(rates, nats, color=colour, marker=SIGNS[name], label=name)
    axes.set(xlabel="masking rate", ylabel="floor in nats", xlim=(0, 1.02), ylim=(0, None))
    axes.legend()
    return figure


def two_clouds(groups: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw points of the plane in groups, each with a colour and a sign of its own."""
    figure, axes = new_figure(6.4, 3.6)
    for (name, points), colour, sign in zip(
        groups.items(), (BLUE, ORANGE, VIOLET, GREY), "osD^", strict=False
    ):
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, sign, color=colour, markersize=5, alpha=0.7, label=name)
    axes.set(xlabel="first principal axis", ylabel="second")
    figure.legend(loc="outside upper left", ncols=len(groups), frameon=False)
    return figure


def twins(rows: Mapping[str, tuple[float, float]]) -> Figure:
    """Draw for each reader its floor and, on top of it, what it pays above."""
    figure, axes = new_figure(7.2, 0.9 + 0.55 * len(rows))
    for i, (name, (floor, above)) in enumerate(rows.items()):
        colour, hatch = LOOKS[name]
        axes.barh(i, floor, color=colour, hatch=hatch, edgecolor="white", height=0.6)
        axes.barh(i, above, left=floor, color=INK, height=0.6)
        axes.annotate(
            f"{floor:.3f} + {above:.3f}",
            (floor + above, i),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.2)
    axes.set(xlabel="floor, and what the model pays above it, in nats")
    return figure
