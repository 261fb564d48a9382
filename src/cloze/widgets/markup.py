"""Markup that stays in a notebook below a widget; all text in it is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup, escape

BROWSER = Path(__file__).with_name("browser")
ASLEEP = Markup(
    "<p>To use this widget, run its cell: <b>Shift + Enter</b>.</p>"
    "<style>.jp-OutputArea:has(.cloze-asleep) .jupyter-widgets:not(:has(*)) { display: none }"
    "</style>"
)
"""What is below every widget, for when nothing runs. While the widget is there, ``view.css`` hides
these words; when it is not, they hide Jupyter's "model not found"."""


def element(tag: str, /, *children: object, **attributes: object) -> Markup:
    """Write one element; anything that is not markup already is escaped.

    Args:
        tag: its name.
        children: text, numbers and other elements; None is left out.
        attributes: an underscore becomes a hyphen and one at the end falls away (``class_``);
            True writes the bare name, None and False leave the attribute out, except that ARIA
            attributes say ``true`` and ``false``.
    """
    written = []
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if isinstance(value, bool) and key.startswith("aria-"):
            value = str(value).lower()
        if value is True:
            written.append(f" {escape(key)}")
        elif value is not None and value is not False:
            written.append(f' {escape(key)}="{escape(value)}"')
    start = f"<{tag}{''.join(written)}>"
    if tag in ("input", "br"):
        return Markup(start)  # noqa: S704 - all parts are escaped
    inside = "".join(escape(child) for child in children if child is not None)
    return Markup(f"{start}{inside}</{tag}>")  # noqa: S704 - all parts are escaped


def join(parts: Iterable[Markup]) -> Markup:
    """Write one part after the other."""
    return Markup("").join(parts)


def still_lines(*lines: object) -> Markup:
    """Write what a widget shows line by line where nothing runs."""
    return element("div", *(element("p", line) for line in lines), class_="cloze still")


def in_nats(cost: float) -> str:
    """Write a cost, which may be infinite."""
    return "∞" if math.isinf(cost) else f"{cost + 0.0:.2f}"  # no "-0.00"
