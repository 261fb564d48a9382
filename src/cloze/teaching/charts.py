"""What the figures of several lessons are made of: bars, tables, lines to compare with, notes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.container import BarContainer
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Annotation

from cloze.teaching.palette import BLUE, GREY, ORANGE, PAPER, RED, VIOLET
from cloze.vocabulary import visible

DASHED: Any = {"color": GREY, "linewidth": 1, "linestyle": (0, (4, 3))}
"""A line that something is compared with."""


READERS = {"left": (ORANGE, "//"), "right": (VIOLET, "\\\\"), "both": (BLUE, "")}
"""By what a reader reads, colour and hatching of its bars, in the order from left to right."""


def fading(low: str, high: str) -> LinearSegmentedColormap:
    """Make a colour map from one colour over transparent to another."""
    stops: list[Any] = [(0, low), (0.5, to_rgba(low, 0)), (0.5, to_rgba(high, 0)), (1, high)]
    return LinearSegmentedColormap.from_list("fading", stops)


def note(
    axes: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **look: Any
) -> Annotation:
    """Write beside a point of the axes; the offset from it is in points of type."""
    return axes.annotate(text, at, offset, textcoords="offset points", **look)


def box(axes: Axes, corner: tuple[float, float], width: float, height: float, **look: Any) -> None:
    """Draw a box; its corner is the lower left one."""
    look = {"boxstyle": "round,pad=0", "facecolor": "none", "edgecolor": GREY} | look
    axes.add_patch(FancyBboxPatch(corner, width, height, **look))


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], **look: Any) -> None:
    """Draw an arrow from one point to another."""
    look = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0} | look
    axes.annotate("", end, start, arrowprops=look)


def log_ticks(axes: Axes, ticks: Sequence[int]) -> None:
    """Make the x axis logarithmic, with these ticks and no others."""
    axes.set(xscale="log")
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()


def first_at_the_top(axes: Axes) -> None:
    """Order rows of bars as they are read, with names but without ticks."""
    axes.yaxis.set_inverted(True)
    axes.tick_params(axis="y", length=0)


def named_bars(
    axes: Axes,
    values: Mapping[str, float],
    colour: str | Sequence[str],
    height: float = 0.6,
    **label: Any,
) -> None:
    """Draw a bar per name to the right, the first at the top, each with its number at its end."""
    bars = axes.barh([*map(visible, values)], [*values.values()], color=colour, height=height)
    axes.bar_label(bars, fmt="%.2f", **{"padding": 4, **label})
    first_at_the_top(axes)


def grouped_bars(
    draw: Callable[..., BarContainer],
    bars: Mapping[str, Sequence[float]],
    looks: Iterable[tuple[str, str]],
    fill: float = 1,
    spreads: Mapping[str, Sequence[float]] | None = None,
    edge: str = PAPER,
) -> list[BarContainer]:
    """Draw groups of bars side by side.

    Args:
        draw: the method of the axes, ``bar`` or ``barh``.
        bars: by name, how long its bar is in each group.
        looks: by name, colour and hatching.
        fill: the part of its place that a bar fills.
        spreads: like ``bars``, the spread between seeds.
        edge: the colour of the edges.
    """
    width = 0.8 / len(bars)
    drawn = []
    for n, ((name, lengths), (colour, hatch)) in enumerate(zip(bars.items(), looks, strict=False)):
        places = [i + (n - (len(bars) - 1) / 2) * width for i in range(len(lengths))]
        look = {"color": colour, "hatch": hatch, "edgecolor": edge, "ecolor": GREY, "label": name}
        yerr = spreads[name] if spreads else None
        drawn.append(draw(places, lengths, fill * width, yerr=yerr, **look))
    return drawn


def named_cells(axes: Axes, rows: Sequence[str], columns: Sequence[str], **look: Any) -> None:
    """Name the rows and columns of a table, which has no frame."""
    axes.set_yticks(range(len(rows)), [*map(visible, rows)], **look)
    axes.set_xticks(range(len(columns)), [*map(visible, columns)], **look)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def shaded_table(
    axes: Axes,
    numbers: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    most: float = 1.45,
    write: Callable[[float], str] = "{:.2f}".format,
    **look: Any,
) -> None:
    """Draw numbers in a table without a frame, shaded by their size.

    Args:
        axes: where to draw.
        numbers: a row of numbers for each row.
        rows: their names.
        columns: the names of the columns.
        most: the number whose cell would be quite blue; the negative of it would be red.
        write: how a number is written.
        look: of the numbers.
    """
    axes.imshow(numbers, fading(RED, BLUE), vmin=-most, vmax=most)
    for (row, column), number in np.ndenumerate(numbers):
        axes.text(column, row, write(number), ha="center", va="center", **look)
    named_cells(axes, rows, columns)


def baseline_lines(axes: Axes, losses: Mapping[str, float]) -> None:
    """Draw the losses of the baselines, in nats by name, as labelled horizontal lines."""
    for name, nats in losses.items():
        axes.axhline(nats, **DASHED)
        end, look = ("axes fraction", "data"), {"ha": "right", "va": "bottom", "fontsize": 9}
        note(axes, f"{name} {nats:.2f}", (1, nats), (-2, 2), xycoords=end, **look)
