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
from cloze.teaching.palette import BLUE, GREEN, ORANGE, RED, VIOLET

FATES = {"M": BLUE, "R": ORANGE, "K": GREEN}
"""Colours of what becomes of a selected character: [MASK], a random one, kept."""


def fate_strip(symbols: Sequence[str], fates: Mapping[int, str]) -> Strip:
    """Show a corrupted line with M, R or K below each selected position, in their colours."""
    return Strip(symbols, fates, {i: FATES[sign] for i, sign in fates.items()})


@picture
def masking_rates(
    rates: Sequence[float],
    targets: Sequence[float],
    losses: Sequence[float],
    baselines: Mapping[str, float],
) -> tuple[Figure, str]:
    """Draw what a higher rate gives (questions) beside what it takes (clues).

    Args:
        rates: ``mask_prob`` values.
        targets: predicted positions per 1000 characters.
        losses: held-out loss of one model at each rate, nats.
        baselines: losses that no rate changes, to draw as lines, nats.
    """
    figure = empty_figure()
    left, right = figure.subplots(1, 2)
    names = [f"{rate:g}" for rate in rates]
    left.bar(rates, targets, color=BLUE, width=0.1)
    left.bar_label(left.containers[0], fmt="%.0f", fontsize=9, padding=2)
    left.set_ylim(0, 1.15 * max(targets))
    left.set_title("questions per 1000 characters", fontsize=11)
    baseline_lines(right, baselines)
    right.plot(rates, losses, "o-", color=RED)
    right.annotate("model", (rates[0], losses[0]), (-8, 10), textcoords="offset points")
    for x, loss in zip(rates, losses, strict=True):
        right.annotate(f"{loss:.2f}", (x, loss), (6, -12), textcoords="offset points", fontsize=9)
    right.set_title("cost of one answer, in nats", fontsize=11)
    right.set(ylim=(0, 3.4), xlim=(-0.08, 0.95))
    for axes in (left, right):
        axes.set(xticks=rates, xticklabels=names, xlabel="mask_prob")
    text = "Two panels over mask_prob: the questions that 1000 characters give, and what one answer"
    rows = "; ".join(
        f"{name}: {count:.0f} questions, model {loss:.2f}"
        for name, count, loss in zip(names, targets, losses, strict=True)
    )
    return figure, f"{text} costs in nats. {rows}. Lines: {listed(baselines)}."


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
            f"{name} {100 * shares[-1]:.1f}%",
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
        yticklabels=["0%", "50%", "100%"],
    )
    last = listed({name: shares[-1] for name, shares in measured.items()})
    text = (
        "Share of positions selected at least once, measured as dots on the lines of the formulas."
    )
    return figure, f"{text} After {epochs[-1]} epochs: {last}."
