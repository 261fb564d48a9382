"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cloze.teaching.figures import DASHED, baseline_lines, empty_figure, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, ORANGE, PAPER, RED, SHADE

Measured = Mapping[float, tuple[float, float]]
"""By rate of training, a mean over seeds and its spread, in nats."""


@picture
def by_rate(
    measured: Mapping[str, Measured], what: str, bottom: float | None = None
) -> tuple[Figure, str]:
    """Draw what models trained at several rates pay, a line per exam.

    Args:
        measured: what they pay, by exam.
        what: what is drawn, for the axis.
        bottom: where the axis begins.
    """
    figure, axes = new_figure(7.2, 3.0)
    looks = zip(measured.items(), (BLUE, ORANGE), ("o-", "s--"), strict=False)
    for (exam, by_rate), colour, line in looks:
        means, spreads = zip(*by_rate.values(), strict=True)
        places = range(len(by_rate))
        axes.errorbar(places, means, spreads, fmt=line, color=colour, capsize=3, label=exam)
        axes.set(xticks=places, xticklabels=[f"{100 * rate:.0f}" for rate in by_rate])
    axes.set(xlabel="rate in training, %", ylabel=what, ylim=(bottom, None))
    axes.legend()
    described = "; ".join(
        f"{exam}: " + ", ".join(f"{rate:.0%} {mean:.3f}" for rate, (mean, _) in by_rate.items())
        for exam, by_rate in measured.items()
    )
    return figure, f"Lines of {what} by the rate of training. {described}."


@picture
def bars(
    groups: Mapping[str, Mapping[str, tuple[float, float]]],
    what: str,
    decimals: int = 2,
    lines: Mapping[str, float] | None = None,
) -> tuple[Figure, str]:
    """Draw groups of bars with the spread between seeds.

    Args:
        groups: by group, by bar: a mean and its spread.
        what: what is drawn, for the axis.
        decimals: of the numbers on the bars.
        lines: what to compare them with, by name.
    """
    figure, axes = new_figure(7.2, 3.1)
    names = list(next(iter(groups.values())))
    width = 0.8 / len(names)
    looks = zip(names, (BLUE, ORANGE, GREEN, RED), ("", "//", "..", "xx"), strict=False)
    for k, (name, colour, hatch) in enumerate(looks):
        at = [x + (k - (len(names) - 1) / 2) * width for x in range(len(groups))]
        means, spreads = zip(*(group[name] for group in groups.values()), strict=True)
        drawn = axes.bar(
            at,
            means,
            0.92 * width,
            yerr=spreads,
            color=colour,
            hatch=hatch,
            edgecolor=PAPER,
            ecolor=GREY,
            label=name,
        )
        axes.bar_label(drawn, fmt=f"%.{decimals}f", fontsize=9, padding=3)
    most = max(mean for group in groups.values() for mean, _ in group.values())
    axes.set(xticks=range(len(groups)), xticklabels=list(groups), ylabel=what, ylim=(0, 1.2 * most))
    if len(names) > 1:
        figure.legend(loc="outside upper left", ncols=len(names))
    if lines:
        baseline_lines(axes, lines)
        axes.set(xlim=(-0.6, len(groups)))  # the names stand behind the bars
    described = "; ".join(
        f"{group}: " + ", ".join(f"{name} {mean:.{decimals}f}" for name, (mean, _) in those.items())
        for group, those in groups.items()
    )
    beside = f" Lines: {listed(lines)}." if lines else ""
    return figure, f"Bars of {what}. {described}.{beside}"


@picture
def growing_gap(means: Sequence[float], word: str) -> tuple[Figure, str]:
    """Draw what a letter of a word costs when more and more of its letters are hidden.

    Args:
        means: for 1, 2, … hidden letters, what one of them costs on average, in nats.
        word: the word.
    """
    figure, axes = new_figure(7.2, 3.0)
    hidden = range(1, len(means) + 1)
    axes.plot(hidden, means, "o-", color=BLUE)
    axes.set(xlabel=f"hidden letters of {word}", ylabel="nats per hidden letter")
    axes.set(xticks=hidden, ylim=(0, 1.15 * max(means)))
    axes.grid(axis="y", color=SHADE)
    described = ", ".join(f"{n}: {mean:.2f}" for n, mean in zip(hidden, means, strict=True))
    return (
        figure,
        f"A rising curve of nats per hidden letter of {word}, by how many are hidden. {described}.",
    )


@picture
def separation(typos: Sequence[float], clean: Sequence[float]) -> tuple[Figure, str]:
    """Draw how two kinds of costs are spread, and the ROC curve of all thresholds between them.

    Args:
        typos: costs of wrong characters, nats.
        clean: costs of correct ones, nats.
    """
    figure = empty_figure(7.2, 3.0)
    spread, roc = figure.subplots(1, 2, width_ratios=(3, 2))
    bins = np.linspace(0, max(*typos, *clean), 16)
    for name, costs, colour in (("correct", clean, BLUE), ("typos", typos, ORANGE)):
        weights = np.full(len(costs), 1 / len(costs))
        look: Any = {"color": colour, "alpha": 0.6, "edgecolor": PAPER}
        spread.hist(costs, bins, weights=weights, label=name, **look)
    spread.set(xlabel="cost of the character, in nats", ylabel="share of them", yscale="log")
    spread.legend()
    every = np.array([np.inf, *sorted({*typos, *clean}, reverse=True), -np.inf])
    caught, alarms = (
        1 - np.searchsorted(np.sort(costs), every, side="right") / len(costs)
        for costs in (typos, clean)
    )
    area = float(np.trapezoid(caught, alarms))
    alarms, caught = np.unique(np.round([alarms, caught], 3), axis=1)  # what a curve can show
    roc.plot(alarms, caught, color=INK)
    roc.fill_between(alarms, caught, color=SHADE, linewidth=0)
    roc.plot([0, 1], [0, 1], **DASHED)
    roc.annotate(f"area {area:.3f}", (0.5, 0.45), ha="center")
    roc.set(xlabel="false alarms", ylabel="typos found", aspect="equal")
    medians = f"{np.median(clean):.2f} nats, typos of {np.median(typos):.2f}"
    return figure, (
        f"Left, histograms of the costs: correct characters have a median of {medians}. Right, the "
        "share of typos above each threshold over the share of correct characters above it; the "
        f"area below this curve is {area:.3f}."
    )
