"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from cloze.teaching.charts import fading, named_bars, named_cells, note
from cloze.teaching.figures import Drawn, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREEN, GREY, INK, ORANGE, RED, VIOLET
from cloze.vocabulary import visible

LOOKS = [
    (BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (VIOLET, "D"), (RED, "v"), (GREY, "P"), (BLUE, "x"),
]  # fmt: skip
"""By group a colour and a sign, so that colour is never the only one."""
Point = tuple[float, float]


@picture
def found_again(at_1: Mapping[str, float], chance: float) -> Drawn:
    """Draw precision at 1 of several ways as bars, best above, and what chance gives."""
    figure, axes = new_figure(7.2, 0.6 + 0.3 * len(at_1))
    ordered = dict(sorted(at_1.items(), key=lambda one: -one[1]))
    colours = [ORANGE if "tf-idf" in name else BLUE for name in ordered]
    named_bars(axes, ordered, colours, 0.8, padding=3)
    axes.axvline(chance, color=INK, linestyle=(0, (4, 3)), linewidth=1)
    bottom = ("data", "axes fraction")
    note(axes, f"chance {chance:.2f}", (chance, 0), (3, 3), xycoords=bottom, fontsize=9)
    axes.margins(x=0.12)
    axes.set(xlabel="precision at 1", ylim=(len(ordered) - 0.1, -0.6))  # below, room for chance
    bars = f"Bars of precision at 1: {listed(ordered)}"
    return figure, f"{bars}; a dashed line at chance, {chance:.2f}."


@picture
def plane(
    points: Sequence[Point], groups: Sequence[str], labels: Sequence[str], title: str
) -> Drawn:
    """Draw points in two dimensions, each group in its colour and sign.

    Args:
        points: where each is.
        groups: the group of each.
        labels: written beside the points where there is room.
        title: what is shown.
    """
    figure, axes = new_figure(7.2, 4.4)
    centres = {}
    for group, (colour, sign) in zip(dict.fromkeys(groups), LOOKS, strict=True):
        own = [p for p, g in zip(points, groups, strict=True) if g == group]
        xs, ys = zip(*own, strict=True)
        axes.scatter(xs, ys, color=colour, marker=sign, s=26, alpha=0.8, label=group)
        centres[group] = (sum(xs) / len(xs), sum(ys) / len(ys))
    axes.set(title=title, xlabel="first direction", ylabel="second direction")
    axes.set_aspect("equal", "datalim")  # a unit is as long across as up, or heaps look torn
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=9)
    figure.draw_without_rendering()  # only then it is known where everything stands
    _beside(axes, points, labels)
    described = ", ".join(f"{group} at ({x:.1f}, {y:.1f})" for group, (x, y) in centres.items())
    return figure, f"Points in a plane, {title}. Centres: {described}."


PLACES = [
    (4, 2, "left"), (-4, 2, "right"), (0, 6, "center"), (0, -12, "center"),
    (9, 10, "left"), (-9, 10, "right"), (9, -14, "left"), (-9, -14, "right"),
]  # fmt: skip
"""Where a label may stand beside its point, the best place first: points across and up."""
MARK = 3
"""Half the width of a point's sign, in pixels."""


def _beside(axes: Axes, points: Sequence[Point], labels: Sequence[str]) -> None:
    """Write labels beside their points, and leave out those that would cover something."""
    marks = axes.transData.transform(points)
    taken = [Bbox.from_bounds(x - MARK, y - MARK, 2 * MARK, 2 * MARK) for x, y in marks]
    for point, label in zip(points, labels, strict=True):
        for across, up, side in PLACES:
            written = axes.annotate(
                label, point, (across, up), textcoords="offset points", ha=side, fontsize=9
            )
            box = written.get_window_extent()
            if box.count_overlaps(taken) == 0:
                taken.append(box)
                break
            written.remove()


@picture
def closest_states(cosines: Sequence[Sequence[float]], query: str, document: str) -> Drawn:
    """Draw the cosines of two lines' hidden states, and frame the largest one of each row.

    Args:
        cosines: a row for each character of the query, a column for each of the document.
        query: the line that looks.
        document: the line in which it looks.
    """
    figure, axes = new_figure(7.2, 0.24 * len(query) + 0.6)
    table = np.array(cosines)
    axes.imshow(table, cmap=fading(ORANGE, BLUE), vmin=-1.3, vmax=1.3)
    best = table.argmax(axis=1)
    for row, column in enumerate(best):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=ORANGE))
    named_cells(axes, query, document)
    score = table.max(axis=1).sum()
    pairs = ", ".join(
        f"{visible(letter)} to {visible(document[column])} at {column} ({table[row, column]:.2f})"
        for row, (letter, column) in enumerate(zip(query, best, strict=True))
    )
    return figure, (
        f"Cosines of the states of {query!r} (rows) and {document!r} (columns). The closest to "
        f"each row: {pairs}. Their sum is the score, {score:.2f}."
    )
