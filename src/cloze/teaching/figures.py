"""What the figures of all lessons share: style, pictures of both themes, the strip.

Every figure is drawn from plain data and has a text twin: the sentence that says what it shows.
"""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure

from cloze.teaching.palette import (
    EDGE,
    GREY,
    INK,
    ON_COLOUR,
    PAPER,
    PICTURE_DARK,
    PICTURE_LIGHT,
    properties,
)
from cloze.teaching.svg import shortened
from cloze.vocabulary import visible

STYLE: Any = {
    "figure.figsize": (7.2, 3.2),
    "figure.dpi": 110,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
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
    "image.interpolation": "none",  # a value is a pixel, however large it is shown
    "lines.linewidth": 2,
    "savefig.bbox": "tight",
    "svg.fonttype": "path",  # alike on every machine, whatever fonts it has
    "svg.hashsalt": "cloze",  # the same figure is the same text
}

DASHED: Any = {"color": GREY, "linewidth": 1, "linestyle": (0, (4, 3))}
"""A line that something is compared with."""


@contextmanager
def series_style() -> Iterator[None]:
    """Draw in the style of the series inside the block."""
    with rc_context(STYLE):
        yield


def empty_figure(width: float = 7.2, height: float = 3.2) -> Figure:
    """Make a figure without axes; its size is in inches."""
    with series_style():
        return Figure(figsize=(width, height), layout="constrained")


def new_figure(width: float = 7.2, height: float = 3.2) -> tuple[Figure, Axes]:
    """Make an empty figure in the style of the series."""
    with series_style():
        figure = empty_figure(width, height)
        return figure, figure.subplots()


def fading(low: str, high: str = "") -> LinearSegmentedColormap:
    """Make a colour map from transparent to one colour, or from one over transparent to another."""
    stops: list[Any] = [(0, to_rgba(low, 0)), (1, low)]
    if high:
        stops = [(0, low), (0.5, to_rgba(low, 0)), (0.5, to_rgba(high, 0)), (1, high)]
    return LinearSegmentedColormap.from_list("fading", stops)


THEMES = (
    f":root{{{properties(PICTURE_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{properties(PICTURE_DARK)}}}}}"
    "*{stroke-linejoin:round}.halo{stroke:var(--paper);stroke-width:19}"
)
"""The style of each SVG. A halo is wider than a glyph by a tenth of the type, which is 100 high."""

PAGE = (
    '<style>[data-jp-theme-light="true"] .cloze-picture{color-scheme:light}'
    '[data-jp-theme-light="false"] .cloze-picture{color-scheme:dark}</style>'
)
"""The picture follows its page, not the system: JupyterLab says so itself, static pages do not."""


def _pixels(points: re.Match[str]) -> str:
    return f'{points[1]}="{float(points[2]) * STYLE["figure.dpi"] / 72:.0f}"'


def svg_of(figure: Figure) -> str:
    """Write a figure as SVG that reads on light and on dark pages.

    The ground is transparent; ink and paper are the theme's. Text has a thin edge of paper below
    it, seen only where the page is not of the theme that the browser believes.
    """
    sink = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with series_style():
        figure.savefig(sink, format="svg", transparent=True, metadata=nothing)
    svg = re.sub(r'(width|height)="([\d.]+)pt"', _pixels, sink.getvalue(), count=2)
    return shortened(svg.replace(INK, "var(--ink)").replace(PAPER, "var(--paper)"), THEMES)


class Picture:
    """A figure as a notebook shows it: an image for pages of both themes, and its text twin.

    JupyterLab shows neither SVG nor SVG inside HTML before a notebook is trusted, and gives an SVG
    no text alternative; an ``<img>`` it shows at once, with its ``alt``, and so do static pages.

    Args:
        figure: what was drawn.
        text: sentences that say what there is to see.
    """

    def __init__(self, figure: Figure, text: str) -> None:
        self.svg = svg_of(figure)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        code = base64.b64encode(self.svg.encode()).decode()
        return (
            f'{PAGE}<img class="cloze-picture" style="max-width:100%" '
            f'alt="{html.escape(self.text)}" src="data:image/svg+xml;base64,{code}">'
        )


Given = ParamSpec("Given")


def picture(draw: Callable[Given, tuple[Figure, str]]) -> Callable[Given, Picture]:
    """Make a function that returns a figure and its text return a picture in the series' style."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Picture:
        with series_style():
            return Picture(*draw(*args, **kwargs))

    return drawn


def listed(values: Mapping[str, float]) -> str:
    """Name each value in a text: ``unigram 2.80, bigram 2.32``."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def named_bars(axes: Axes, values: Mapping[str, float], colour: str | Sequence[str]) -> None:
    """Draw a bar per name to the right, the first at the top, each with its number at its end."""
    bars = axes.barh([*values], [*values.values()], color=colour, height=0.6)
    axes.bar_label(bars, fmt="%.2f", padding=4)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)


def baseline_lines(axes: Axes, losses: Mapping[str, float]) -> None:
    """Draw the losses of the baselines, in nats by name, as labelled horizontal lines."""
    for name, nats in losses.items():
        axes.axhline(nats, **DASHED)
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
