"""The figures of this lesson, from plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.figures import fading, listed, named_bars, new_figure, picture
from cloze.teaching.palette import BLUE, ORANGE
from cloze.vocabulary import visible


@picture
def probability_table(
    rows: Sequence[str],
    columns: Sequence[str],
    probabilities: Sequence[Sequence[float]],
    true_columns: Sequence[int],
    marked_rows: Sequence[int],
) -> tuple[Figure, str]:
    """Draw one distribution per row as shaded numbers.

    Args:
        rows: the label of each position.
        columns: the characters.
        probabilities: shape ``(len(rows), len(columns))``.
        true_columns: by row, the column that is right; it gets a frame where the row is marked.
        marked_rows: the rows that enter the loss; their labels are bold.
    """
    figure, axes = new_figure(7.2, 0.7 + 0.42 * len(rows))
    axes.imshow(probabilities, cmap=fading(BLUE), vmin=0, vmax=1.45, aspect="auto")
    for i, row in enumerate(probabilities):
        for j, p in enumerate(row):
            axes.text(j, i, f"{p:.2f}", ha="center", va="center")
    for i in marked_rows:
        corner = (true_columns[i] - 0.46, i - 0.44)
        axes.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, edgecolor=ORANGE, linewidth=2.5))
    axes.set_xticks(range(len(columns)), [visible(c) for c in columns])
    axes.set_yticks(range(len(rows)), rows)
    for i in marked_rows:
        axes.get_yticklabels()[i].set_fontweight("bold")
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    framed = {f"row {rows[i]}": probabilities[i][true_columns[i]] for i in marked_rows}
    text = "A table of probabilities, with a row per position and a column per character. "
    return (
        figure,
        f"{text}Frames mark what the right characters of hidden positions get: {listed(framed)}.",
    )


@picture
def cost_of_probability(points: Sequence[float]) -> tuple[Figure, str]:
    """Draw −log P over P in nats, and mark what some probabilities cost."""
    figure, axes = new_figure(7.2, 3.4)
    ps = [0.004 + 0.996 * k / 400 for k in range(401)]
    axes.plot(ps, [-math.log(p) for p in ps], color=BLUE, linewidth=2)
    for p in points:
        axes.plot(p, -math.log(p), marker="o", color=ORANGE, markersize=7, clip_on=False)
        axes.annotate(
            f"P = {p:g} costs {abs(math.log(p)):.2f}",
            (p, -math.log(p)),
            xytext=(10, 8) if p < 0.9 else (-6, 14),
            textcoords="offset points",
            ha="left" if p < 0.9 else "right",
        )
    axes.set(
        xlabel="P, the probability given to the right character",
        ylabel="−log P in nats",
        xlim=(0, 1),
        ylim=(0, 5.5),
    )
    marked = ", ".join(f"P = {p:g} costs {abs(math.log(p)):.2f}" for p in points)
    return figure, f"A curve of −log P in nats, steep near P = 0 and flat near P = 1: {marked}."


@picture
def loss_bars(losses: Mapping[str, float]) -> tuple[Figure, str]:
    """Draw losses in nats as horizontal bars, the first at the top."""
    figure, axes = new_figure(7.2, 0.7 + 0.5 * len(losses))
    named_bars(axes, losses, BLUE)
    axes.margins(x=0.1)
    axes.set(xlabel="mean loss in nats per selected character")
    return figure, f"Bars of the mean loss in nats per selected character: {listed(losses)}."
