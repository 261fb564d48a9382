"""The page's icon: a gap, the readers' bars beside it, and that of both sides below."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cloze.teaching.palette import DARK, LIGHT

SIDE = 100
GROUND = DARK["paper"]
BARS = [
    # x, y from above, width, height: within the circle that systems may cut out of an icon
    (38, 24, 24, 26, LIGHT["gap"]),
    (16, 32, 17, 10, DARK["left"]),
    (67, 32, 17, 10, DARK["right"]),
    (24, 62, 52, 14, DARK["both"]),
]


def svg() -> str:
    """Write the icon as SVG."""
    bars = "".join(
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="2" fill="{colour}"/>'
        for x, y, width, height, colour in BARS
    )
    ground = f'<rect width="{SIDE}" height="{SIDE}" fill="{GROUND}"/>'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">'
    return f"{start}{ground}{bars}</svg>\n"


def png(pixels: int) -> bytes:
    """Draw the icon as a PNG of so many pixels on each side."""
    figure = Figure(figsize=(1, 1), dpi=pixels, facecolor=GROUND)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, SIDE), ylim=(SIDE, 0))
    axes.axis("off")
    for x, y, width, height, colour in BARS:
        axes.add_patch(Rectangle((x, y), width, height, color=colour, linewidth=0))
    into = BytesIO()
    figure.savefig(into, format="png", metadata={"Software": None})
    return into.getvalue()
