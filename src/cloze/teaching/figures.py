"""What the figures of all lessons share: style, pictures of both themes, the strip.

Every figure is drawn from plain data and has a text twin: the sentence that says what it shows.
"""

import base64
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cloze.teaching import palette
from cloze.teaching.palette import GREY, INK, PAPER
from cloze.teaching.svg import shortened
from cloze.vocabulary import visible

STYLE: Any = {
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


def panels(
    titles: Sequence[str],
    width: float = 7.2,
    height: float = 3.2,
    down: bool = False,
    **sharing: Any,
) -> tuple[Figure, list[Axes]]:
    """Make axes side by side or, going down, one below the other, each with its title.

    The size of the figure is in inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    shape = (len(titles), 1) if down else (1, len(titles))
    row = [*figure.subplots(*shape, squeeze=False, **sharing).flat]
    for axes, title in zip(row, titles, strict=True):
        axes.set_title(title)
    return figure, row


def new_figure(width: float = 7.2, height: float = 3.2) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes; its size is in inches."""
    figure, [axes] = panels([""], width, height)
    return figure, axes


THEMES = (
    f":root{{{palette.properties(palette.PICTURE_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{:root{{{palette.properties(palette.PICTURE_DARK)}}}}}"
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
    with rc_context(STYLE):
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
Drawn = tuple[Figure, str]
"""What a lesson draws: a figure, and the sentences that say what there is to see."""


def picture(draw: Callable[Given, Drawn]) -> Callable[Given, Picture]:
    """Make a function that returns a figure and its text return a picture in the series' style."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Picture:
        with rc_context(STYLE):
            return Picture(*draw(*args, **kwargs))

    return drawn


def listed(values: Mapping[str, float], digits: str = ".2f") -> str:
    """Name each value in a text: ``unigram 2.80, bigram 2.32``."""
    return ", ".join(f"{name} {value:{digits}}" for name, value in values.items())


def listed_by_group(groups: Mapping[str, Mapping[str, float]], digits: str = ".2f") -> str:
    """Name the values of each group: ``masked: a 0.48, o 0.14; causal: a 0.97, o 0.00``."""
    return "; ".join(f"{group}: {listed(values, digits)}" for group, values in groups.items())


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
        notes, colours = notes or {}, colours or {}
        self.cells = [
            (visible(character), notes.get(i, ""), colours.get(i, ""))
            for i, character in enumerate(text)
        ]

    def __repr__(self) -> str:
        columns = [(cell[:2], max(map(len, cell[:2]))) for cell in self.cells]
        rows = (" ".join(f"{pair[n]:<{width}}" for pair, width in columns) for n in (0, 1))
        return "\n".join(row.rstrip() for row in rows).rstrip()

    def _repr_html_(self) -> str:
        cells = []
        for character, note, colour in self.cells:
            look = f"background:{colour};color:{palette.ON_COLOUR};" if colour else ""
            cells.append(
                '<span style="display:inline-block;min-width:1.3em;text-align:center;'
                f"margin:1px;padding:2px 1px;border:1px solid {palette.EDGE};border-radius:3px;"
                f'{look}font-family:monospace;line-height:1.2">{html.escape(character)}<br>'
                f"<small>{html.escape(note) or '&nbsp;'}</small></span>"
            )
        return f'<div role="img" aria-label="{html.escape(repr(self))}">{"".join(cells)}</div>'
