"""The figures of this lesson, from plain data."""

import math
from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle

from cloze.teaching.charts import named_bars, note, shaded_table
from cloze.teaching.figures import Drawn, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, INK


@picture
def probability_table(
    rows: Sequence[str],
    columns: Sequence[str],
    probabilities: Sequence[Sequence[float]],
    true_columns: Sequence[int],
    marked_rows: Sequence[int],
) -> Drawn:
    """Draw one distribution per row as shaded numbers.

    Args:
        rows: the label of each position.
        columns: the characters.
        probabilities: shape ``(len(rows), len(columns))``.
        true_columns: by row, the column that is right; it gets a frame where the row is marked.
        marked_rows: the rows that enter the loss; their labels are bold.
    """
    figure, axes = new_figure(7.2, 0.7 + 0.42 * len(rows))
    shaded_table(axes, probabilities, rows, columns)
    axes.set_aspect("auto")
    for i in marked_rows:
        corner = (true_columns[i] - 0.46, i - 0.44)
        axes.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, edgecolor=GREEN, linewidth=2.5))
        axes.get_yticklabels()[i].set_fontweight("bold")
    axes.xaxis.tick_top()
    framed = {f"row {rows[i]}": probabilities[i][true_columns[i]] for i in marked_rows}
    return figure, (
        "A table of probabilities, with a row per position and a column per character. "
        f"Frames mark what the right characters of hidden positions get: {listed(framed)}."
    )


@picture
def cost_of_probability(points: Sequence[float]) -> Drawn:
    """Draw −log P over P in nats, and mark what some probabilities cost."""
    figure, axes = new_figure(7.2, 3.4)
    ps = [0.004 + 0.996 * k / 400 for k in range(401)]
    axes.plot(ps, [-math.log(p) for p in ps], color=BLUE, linewidth=2)
    texts = [f"P = {p:g} costs {abs(math.log(p)):.2f}" for p in points]
    for p, text in zip(points, texts, strict=True):
        at = (p, -math.log(p))
        offset, side = ((10, 8), "left") if p < 0.9 else ((-6, 14), "right")
        axes.plot(*at, marker="o", color=INK, markersize=7, clip_on=False)
        note(axes, text, at, offset, ha=side)
    axes.set(xlabel="P, the probability given to the right character", xlim=(0, 1))
    axes.set(ylabel="−log P in nats", ylim=(0, 5.5))
    marked = ", ".join(texts)
    return figure, f"A curve of −log P in nats, steep near P = 0 and flat near P = 1: {marked}."


@picture
def loss_bars(losses: Mapping[str, float]) -> Drawn:
    """Draw losses in nats as horizontal bars, the first at the top."""
    figure, axes = new_figure(7.2, 0.7 + 0.5 * len(losses))
    named_bars(axes, losses, BLUE)
    axes.margins(x=0.1)
    axes.set(xlabel="mean loss in nats per selected character")
    return figure, f"Bars of the mean loss in nats per selected character: {listed(losses)}."
