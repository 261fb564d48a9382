"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cloze.teaching.figures import baseline_lines, empty_figure, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, PAPER, RED, SHADE

Measured = Mapping[float, tuple[float, float]]
"""By rate of training, a mean over seeds and its spread, in nats."""


def _over_rates(axes: Axes, measured: Measured, colour: str, name: str, line: str = "o-") -> None:
    rates = list(measured)
    means, spreads = zip(*measured.values(), strict=True)
    axes.errorbar(
        range(len(rates)),
        means,
        spreads,
        fmt=line,
        color=colour,
        markersize=5,
        capsize=3,
        label=name,
    )
    axes.set(xticks=range(len(rates)), xticklabels=[f"{100 * rate:.0f}" for rate in rates])


def _told(measured: Measured) -> str:
    return ", ".join(f"{rate:.0%} {mean:.3f}" for rate, (mean, _) in measured.items())


@picture
def by_rate(
    common: Measured, own: Measured, baselines: Mapping[str, float], title: str = ""
) -> tuple[Figure, str]:
    """Draw what models trained at several rates pay, at 15% and at their own rate.

    Args:
        common: what each pays at 15%.
        own: what each pays at the rate that it was trained with.
        baselines: losses to draw as lines, nats.
        title: what was trained on.
    """
    figure = empty_figure(7.2, 3.3)
    left, right = figure.subplots(1, 2)
    _over_rates(left, common, BLUE, "all judged at 15%")
    left.set_title("all judged at 15%")
    _over_rates(right, own, ORANGE, "each at its own rate", "s-")
    right.set_title("each judged at its own rate")
    baseline_lines(right, baselines)
    most = max([mean for mean, _ in own.values()] + list(baselines.values()))
    right.set(ylim=(0, 1.15 * most))
    for axes in (left, right):
        axes.set(xlabel="rate in training, %")
    left.set(ylabel="nats per character")
    figure.suptitle(title, fontsize=11, x=0.02, ha="left")
    lines = f" Lines: {listed(baselines)}." if baselines else ""
    return figure, (
        f"{title}: nats per character by the rate of training. Judged at 15%: {_told(common)}. "
        f"Each at its own rate: {_told(own)}.{lines}"
    )


@picture
def above_the_floor(above: Measured, own: Measured) -> tuple[Figure, str]:
    """Draw what models pay above the least that any can, at 15% and at their own rate."""
    figure, axes = new_figure(7.2, 3.0)
    _over_rates(axes, above, BLUE, "judged at 15%")
    _over_rates(axes, own, ORANGE, "judged at its own rate", "s--")
    axes.set(xlabel="rate in training, %", ylabel="nats above the floor", ylim=(0, None))
    axes.legend()
    return figure, (
        f"Nats above the floor by the rate of training. Judged at 15%: {_told(above)}. Each at "
        f"its own rate: {_told(own)}."
    )


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
    said = "; ".join(
        f"{group}: " + ", ".join(f"{name} {mean:.{decimals}f}" for name, (mean, _) in those.items())
        for group, those in groups.items()
    )
    beside = f" Lines: {listed(lines)}." if lines else ""
    return figure, f"Bars of {what}. {said}.{beside}"


@picture
def growing_gap(means: Sequence[float], word: str) -> tuple[Figure, str]:
    """Draw what a word costs when more and more of its letters are hidden.

    Args:
        means: for 1, 2, … hidden letters, what one of them costs on average, in nats.
        word: the word.
    """
    figure = empty_figure(7.2, 3.0)
    left, right = figure.subplots(1, 2)
    hidden = range(1, len(means) + 1)
    totals = [n * mean for n, mean in zip(hidden, means, strict=True)]
    for axes, values, title in (
        (left, means, "nats per hidden letter"),
        (right, totals, "nats for all of them"),
    ):
        axes.plot(hidden, values, "o-", color=BLUE)
        axes.set(xlabel=f"hidden letters of {word}", xticks=hidden, ylim=(0, 1.15 * max(values)))
        axes.set_title(title)
        axes.grid(axis="y", color=SHADE)
    said = ", ".join(
        f"{n}: {mean:.2f} each, {total:.2f} in all"
        for n, mean, total in zip(hidden, means, totals, strict=True)
    )
    return figure, f"Two curves over the number of hidden letters of {word}. {said}."
