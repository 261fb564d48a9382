"""The figures of this lesson, from plain data."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Rectangle

from cloze.teaching.charts import fading, named_bars, named_cells, note
from cloze.teaching.figures import Drawn, listed, new_figure, picture
from cloze.teaching.palette import BLUE, GREY, INK, RED
from cloze.vocabulary import visible


@picture
def found_again(at_1: Mapping[str, float], chance: float) -> Drawn:
    """Draw precision at 1 of several ways as bars, best above, and what chance gives."""
    figure, axes = new_figure(7.2, 0.6 + 0.3 * len(at_1))
    ordered = dict(sorted(at_1.items(), key=lambda one: -one[1]))
    colours = [GREY if "tf-idf" in name else BLUE for name in ordered]
    named_bars(axes, ordered, colours, 0.8, padding=3)
    axes.axvline(chance, color=INK, linestyle=(0, (4, 3)), linewidth=1)
    bottom = ("data", "axes fraction")
    note(axes, f"chance {chance:.2f}", (chance, 0), (3, 3), xycoords=bottom, fontsize=9)
    axes.margins(x=0.12)
    axes.set(xlabel="precision at 1", ylim=(len(ordered) - 0.1, -0.6))  # below, room for chance
    bars = f"Bars of precision at 1: {listed(ordered)}"
    return figure, f"{bars}; a dashed line at chance, {chance:.2f}."


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
    axes.imshow(table, cmap=fading(RED, BLUE), vmin=-1.3, vmax=1.3)
    best = table.argmax(axis=1)
    for row, column in enumerate(best):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK))
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
