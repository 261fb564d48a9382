"""The picture by which links to the site are shown: a question, a line, and three bars."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from cloze.explorer import MaskExplorer
from cloze.teaching.palette import LIGHT
from web.build import TITLE

WIDE, HIGH = 1200, 630
"""In pixels, as those who show links ask for."""
EDGE = 70
BARS = 350
"""Where the bars begin."""
LONGEST = 680

TITLES = {"left": "from the left", "right": "from the right", "both": "from both sides"}


def png() -> bytes:
    """Draw how much each model gives the letter that the explorer opens with, without naming it."""
    explorer = MaskExplorer()
    [at] = explorer.masked
    truth = explorer.predictions.symbols.known.index(explorer.truth[at])
    shares = {name: answer[at][truth].item() for name, answer in explorer.predictions.items()}
    figure = Figure(figsize=(WIDE / 100, HIGH / 100), dpi=100, facecolor=LIGHT["paper"])
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDE), ylim=(HIGH, 0))
    axes.axis("off")
    ink = LIGHT["ink"]
    words: dict[str, Any] = {"va": "center_baseline", "color": ink}
    axes.text(EDGE, 110, TITLE, size=44, weight="bold", **words)
    step = (WIDE - 2 * EDGE) / len(explorer.truth)
    for i, symbol in enumerate(explorer.truth):
        left = EDGE + i * step
        colour = LIGHT["left" if i < at else "right"]
        ground: dict[str, Any] = {"facecolor": f"{colour}22", "linewidth": 0}
        if i == at:
            ground = {"facecolor": LIGHT["gap"], "edgecolor": ink, "linewidth": 3}
        corners = "round,pad=0,rounding_size=5"
        axes.add_patch(FancyBboxPatch((left + 2, 190), step - 4, 78, boxstyle=corners, **ground))
        letter = "?" if i == at else symbol
        axes.text(left + step / 2, 229, letter, size=34, family="monospace", ha="center", **words)
    for i, (name, share) in enumerate(shares.items()):
        y, long = 360 + 90 * i, share * LONGEST
        axes.text(
            EDGE,
            y,
            TITLES[name],
            size=24,
            **words,
        )
        axes.add_patch(Rectangle((BARS, y - 26), long, 52, color=LIGHT[name]))
        axes.text(BARS + long + 16, y, f"{share:.2f}", size=26, weight="bold", **words)
    into = BytesIO()
    figure.savefig(into, format="png", metadata={"Software": None})
    return into.getvalue()
