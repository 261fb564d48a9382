"""Every colour of the series, once: the figures take theirs from here, and so does the view.

None is the only sign of anything. Text in them has a contrast of at least 4.5 : 1 on its ground.
"""

from collections.abc import Mapping

INK, PAPER = "#1f2933", "#ffffff"
BLUE, ORANGE, GREEN = "#2a6ab3", "#c2570c", "#2f7d4f"
RED, VIOLET, GREY = "#c02b22", "#7852b0", "#6b7280"
"""Each has a contrast of at least 4.5 : 1 on white and of 3 : 1 on a dark page."""
SHADE = f"{GREY}33"
"""Behind a part of a figure that is spoken of: a fifth of the grey, whatever is below it."""
ON_COLOUR, EDGE = "#fff", "#8886"
"""Text on one of the colours above, and the thin line around a character, on pages of any theme."""

LIGHT = {
    "ink": INK,
    "quiet": "#55606e",
    "paper": PAPER,
    "raised": "#f1f4f7",
    "line": "#76808d",
    "both": BLUE,
    "left": ORANGE,
    "right": VIOLET,
    "good": GREEN,
    "bad": RED,
    "gap": "#fff3c4",
    "focus": BLUE,
    "heat-colour": "#f2a097",
    "occlusion": "#9cc3ee",
}
"""The colours of widgets by what they are for."""
DARK = {
    "ink": "#e6e9ed",
    "quiet": "#b3bcc7",
    "paper": "#16191d",
    "raised": "#262b31",
    "line": "#7d8794",
    "both": "#7db4f0",
    "left": "#f59e5b",
    "right": "#bda2ee",
    "good": "#6fcf97",
    "bad": "#ff8a80",
    "gap": "#4a3d0e",
    "focus": "#7db4f0",
    "heat-colour": "#8a2e26",
    "occlusion": "#1d5590",
}
"""The same where the page is dark: lighter on dark."""

PICTURE_LIGHT = {"ink": INK, "paper": PAPER}
PICTURE_DARK = {"ink": DARK["ink"], "paper": "#111111"}
"""What differs between the themes in a figure: its text, and the page (JupyterLab's) below it."""


def properties(colours: Mapping[str, str]) -> str:
    """Write colours as custom properties, which CSS then calls ``var(--ink)`` and so on."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def css() -> str:
    """Write the colours of widgets for both themes."""
    themes = {".cloze": LIGHT, '[data-jp-theme-light="false"] .cloze': DARK}
    return "\n".join(f"{page} {{ {properties(colours)} }}" for page, colours in themes.items())
