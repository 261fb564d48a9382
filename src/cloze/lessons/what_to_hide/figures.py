"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cloze.teaching.charts import DASHED, baseline_lines, grouped_bars
from cloze.teaching.figures import Drawn, listed, listed_by_group, new_figure, panels, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, PAPER, RED, SHADE

Measured = Mapping[float, tuple[float, float]]
"""By rate of training, a mean over seeds and its spread, in nats."""


@picture
def by_rate(measured: Mapping[str, Measured], what: str, bottom: float | None = None) -> Drawn:
    """Draw what models trained at several rates pay, a line per exam.

    Args:
        measured: what they pay, by exam.
        what: what is drawn, for the axis.
        bottom: where the axis begins.
    """
    figure, axes = new_figure(7.2, 3.0)
    looks = zip(measured.items(), (BLUE, INK), ("o-", "s--"), strict=False)
    for (exam, by_rate), colour, line in looks:
        means, spreads = zip(*by_rate.values(), strict=True)
        places = range(len(by_rate))
        axes.errorbar(places, means, spreads, fmt=line, color=colour, capsize=3, label=exam)
        axes.set(xticks=places, xticklabels=[f"{100 * rate:.0f}" for rate in by_rate])
    axes.set(xlabel="rate in training, %", ylabel=what, ylim=(bottom, None))
    axes.legend()
    described = listed_by_group(measured, "{0:.0%} {1[0]:.3f}")
    return figure, f"Lines of {what} by the rate of training. {described}."


@picture
def bars(
    groups: Mapping[str, Mapping[str, tuple[float, float]]],
    what: str,
    decimals: int = 2,
    lines: Mapping[str, float] | None = None,
) -> Drawn:
    """Draw groups of bars with the spread between seeds.

    Args:
        groups: by group, by bar: a mean and its spread.
        what: what is drawn, for the axis.
        decimals: of the numbers on the bars.
        lines: what to compare them with, by name.
    """
    figure, axes = new_figure(7.2, 3.1)
    names = [*next(iter(groups.values()))]
    means, spreads = (
        {name: [group[name][k] for group in groups.values()] for name in names} for k in (0, 1)
    )
    looks = ((BLUE, ""), (GREY, "//"), (INK, ".."))
    for drawn in grouped_bars(axes.bar, means, looks, 0.92, spreads):
        axes.bar_label(drawn, fmt=f"%.{decimals}f", fontsize=9, padding=3)
    most = max(max(values) for values in means.values())
    axes.set(xticks=range(len(groups)), xticklabels=[*groups], ylabel=what, ylim=(0, 1.2 * most))
    if len(names) > 1:
        figure.legend(loc="outside upper left", ncols=len(names))
    if lines:
        baseline_lines(axes, lines)
        axes.set(xlim=(-0.6, len(groups)))  # the names stand behind the bars
    described = listed_by_group(groups, f"{{0}} {{1[0]:.{decimals}f}}")
    beside = f" Lines: {listed(lines)}." if lines else ""
    return figure, f"Bars of {what}. {described}.{beside}"


@picture
def growing_gap(means: Sequence[float], word: str) -> Drawn:
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
    described = listed(dict(zip(hidden, means, strict=True)), "{}: {:.2f}")
    text = f"A rising curve of nats per hidden letter of {word}, by how many are hidden."
    return figure, f"{text} {described}."


@picture
def separation(typos: Sequence[float], clean: Sequence[float]) -> Drawn:
    """Draw how two kinds of costs are spread, and the ROC curve of all thresholds between them.

    Args:
        typos: costs of wrong characters, nats.
        clean: costs of correct ones, nats.
    """
    figure, (spread, roc) = panels(("", ""), 7.2, 3.0, width_ratios=(3, 2))
    bins = np.linspace(0, max(*typos, *clean), 16).tolist()
    for name, costs, colour in (("correct", clean, GREEN), ("typos", typos, RED)):
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
