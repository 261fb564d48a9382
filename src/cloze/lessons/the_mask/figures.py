"""The figures of this lesson, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from cloze.teaching.figures import (
    Strip,
    baseline_lines,
    empty_figure,
    listed,
    new_figure,
    picture,
)
from cloze.teaching.palette import BLUE, GREEN, GREY, ORANGE, PAPER, RED, SHADE, VIOLET

FATES = {"M": BLUE, "R": ORANGE, "K": GREEN}
"""Colours of what becomes of a selected character: [MASK], a random one, kept."""


def fate_strip(symbols: Sequence[str], fates: Mapping[int, str]) -> Strip:
    """Show a corrupted line with M, R or K below each selected position, in their colours."""
    return Strip(symbols, fates, {i: FATES[sign] for i, sign in fates.items()})


@picture
def deviations(rows: Mapping[str, Mapping[str, float]], bound: float = 5) -> tuple[Figure, str]:
    """Draw how far counts lie from what was expected, in standard deviations.

    Args:
        rows: by name of a counted function, the deviation of each share.
        bound: where chance stops being an excuse.
    """
    figure, axes = new_figure(7.2, 3.0)
    shares = list(next(iter(rows.values())))
    axes.axvspan(-bound, bound, color=SHADE, zorder=0)
    axes.axvline(0, color=GREY, linewidth=1)
    styles = zip(rows.items(), (BLUE, GREEN, RED, VIOLET), "oDs^", strict=False)
    for n, ((name, values), colour, marker) in enumerate(styles):
        shift = 0.2 * (n - (len(rows) - 1) / 2)
        axes.plot(
            [values[share] for share in shares],
            [row + shift for row in range(len(shares))],
            marker,
            color=colour,
            markersize=7,
            label=name,
        )
    axes.set(
        yticks=range(len(shares)),
        yticklabels=shares,
        ylim=(len(shares) - 0.5, -0.5),
        xlabel=f"standard deviations from 80/10/10 (grey: chance, up to {bound:g})",
    )
    figure.legend(loc="outside upper left", ncols=len(rows))
    far = "; ".join(
        f"{name}: " + ", ".join(f"{share} {sigmas:+.1f}" for share, sigmas in row.items())
        for name, row in rows.items()
    )
    return figure, f"How many standard deviations shares lie from 80/10/10. {far}."


@picture
def masking_rates(
    rates: Sequence[float],
    targets: Sequence[float],
    losses: Sequence[float],
    bigram: Sequence[float],
    baselines: Mapping[str, float],
) -> tuple[Figure, str]:
    """Draw what a rate of selection gives (questions) beside what it takes (context).

    Args:
        rates: ``mask_prob`` values.
        targets: predicted positions per 1000 characters.
        losses: held-out loss of one model at each rate, nats.
        bigram: the same for counts of neighbours.
        baselines: losses that no rate changes, to draw as lines, nats.
    """
    figure = empty_figure()
    left, right = figure.subplots(1, 2)
    ticks = range(len(rates))
    names = [f"{rate:g}" for rate in rates]
    left.bar(ticks, targets, color=BLUE, width=0.7)
    left.bar_label(left.containers[0], fmt="%.0f", fontsize=9, padding=2)
    left.set_ylim(0, 1.15 * max(targets))
    left.set_title("given: questions per 1000 characters", fontsize=11)
    baseline_lines(right, baselines)
    right.plot(ticks, losses, "o-", color=RED)
    right.plot(ticks, bigram, "s--", color=ORANGE, markersize=5)
    right.annotate("bigram", (0, bigram[0]), (-8, 10), textcoords="offset points")
    right.annotate("model", (0, losses[0]), (-8, 10), textcoords="offset points")
    for x, loss in zip(ticks, losses, strict=True):
        right.annotate(f"{loss:.2f}", (x, loss), (6, -12), textcoords="offset points", fontsize=9)
    right.set_title("taken: price of one answer, nats", fontsize=11)
    right.set(ylim=(0, 3.4), xlim=(-0.4, len(rates) - 0.4))
    for axes in (left, right):
        axes.set(xticks=ticks, xticklabels=names, xlabel="mask_prob")
    text = "Two panels over mask_prob: the questions that 1000 characters give, and what one answer"
    columns = zip(names, targets, losses, bigram, strict=True)
    rows = "; ".join(
        f"{name}: {count:.0f} questions, model {loss:.2f}, bigram {pairs:.2f}"
        for name, count, loss, pairs in columns
    )
    return figure, f"{text} costs in nats. {rows}. Lines: {listed(baselines)}."


@picture
def beliefs(rows: Mapping[str, Sequence[float]]) -> tuple[Figure, str]:
    """Draw the mean probability of the original and of the shown character, by kind of position."""
    figure, axes = new_figure(7.2, 2.9)
    for shift, which, colour, name in (
        (-0.2, 0, GREEN, "the original character"),
        (0.2, 1, ORANGE, "the character it is shown"),
    ):
        bars = axes.bar(
            [x + shift for x in range(len(rows))],
            [pair[which] for pair in rows.values()],
            width=0.38,
            color=colour,
            hatch="" if which == 0 else "//",
            edgecolor=PAPER,
            label=name,
        )
        axes.bar_label(bars, fmt="%.2f", fontsize=9, padding=2)
    axes.set(xticks=range(len(rows)), xticklabels=list(rows), ylim=(0, 1.1), ylabel="mean P")
    figure.legend(loc="outside upper left", ncols=2)
    pairs = "; ".join(f"{kind}: {true:.2f} and {shown:.2f}" for kind, (true, shown) in rows.items())
    return figure, f"Bars of mean P for the original and for the shown character. {pairs}."


@picture
def coverage_curves(
    epochs: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    formulas: Mapping[str, Sequence[float]],
) -> tuple[Figure, str]:
    """Draw the share of positions selected at least once: measured as dots, formulas as lines."""
    figure, axes = new_figure()
    styles = list(zip((RED, ORANGE, BLUE, VIOLET), "s^oD", strict=True))
    for (name, shares), (colour, marker) in zip(measured.items(), styles, strict=False):
        axes.plot(epochs, formulas[name], color=colour, linewidth=1)
        axes.plot(epochs, shares, marker, color=colour, markersize=5)
        axes.annotate(
            f"{name} {100 * shares[-1]:.1f} %",
            (epochs[-1], shares[-1]),
            (8, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
    axes.set(
        xlabel="epochs",
        ylabel="selected at least once",
        ylim=(0, 1.05),
        yticks=[0, 0.5, 1],
        yticklabels=["0 %", "50 %", "100 %"],
    )
    last = listed({name: shares[-1] for name, shares in measured.items()})
    text = (
        "Share of positions selected at least once, measured as dots on the lines of the formulas."
    )
    return figure, f"{text} After {epochs[-1]} epochs: {last}."
