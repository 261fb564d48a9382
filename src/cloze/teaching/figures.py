"""What the figures of all lessons share: style, the lines of the baselines, the strip.

Every figure is drawn from plain data and has a text twin, which a notebook prints beside it.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cloze.teaching.palette import EDGE, GREY, INK, ON_COLOUR
from cloze.vocabulary import visible

STYLE: Any = {
    "figure.figsize": (7.2, 3.2),
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "savefig.bbox": "tight",
}


@contextmanager
def series_style() -> Iterator[None]:
    """Draw in the style of the series inside the block."""
    with plt.rc_context(STYLE):
        yield
        interactive = plt.isinteractive()
    # The first figure of a notebook starts the inline backend, which switches this on; leaving the
    # context would switch it off again, and only that first figure would ever be shown.
    plt.rcParams["interactive"] = interactive


def new_figure(width: float = 7.2, height: float = 3.2) -> tuple[Figure, Axes]:
    """Make an empty figure in the style of the series."""
    with series_style():
        figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return figure, axes


def baseline_lines(axes: Axes, losses: Mapping[str, float]) -> None:
    """Draw the losses of the baselines, in nats by name, as labelled horizontal lines."""
    for name, nats in losses.items():
        axes.axhline(nats, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate(
            f"{name} {nats:.2f}",
            (1, nats),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=INK,
            fontsize=9,
        )


class Strip:
    """A line of characters as a coloured strip, with a text twin in two rows.

    Args:
        text: the characters.
        notes: by position, a short sign shown below the character (and in the text twin), so that
            colour is never the only sign.
        colours: by position, a background colour.
    """

    def __init__(
        self,
        text: Sequence[str],
        notes: Mapping[int, str] | None = None,
        colours: Mapping[int, str] | None = None,
    ) -> None:
        self.text = [visible(character) for character in text]
        self.notes = dict(notes or {})
        self.colours = dict(colours or {})

    def __repr__(self) -> str:
        widths = [max(len(c), len(self.notes.get(i, ""))) for i, c in enumerate(self.text)]
        rows = [self.text, [self.notes.get(i, "") for i in range(len(self.text))]]
        return "\n".join(
            " ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ).rstrip()

    def _repr_html_(self) -> str:
        cells = []
        for i, character in enumerate(self.text):
            colour = self.colours.get(i)
            look = f"background:{colour};color:{ON_COLOUR};" if colour else ""
            cells.append(
                '<span style="display:inline-block;min-width:1.3em;text-align:center;'
                f"margin:1px;padding:2px 1px;border:1px solid {EDGE};border-radius:3px;{look}"
                f'font-family:monospace;line-height:1.2">{html.escape(character)}<br>'
                f"<small>{html.escape(self.notes.get(i, '')) or '&nbsp;'}</small></span>"
            )
        return f'<div role="img" aria-label="{html.escape(repr(self))}">{"".join(cells)}</div>'
