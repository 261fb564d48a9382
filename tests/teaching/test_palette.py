"""The palette: every colour stands in it and nowhere else, and texts stand out."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.typing import ColorType

import cloze
from cloze.teaching import palette
from cloze.widgets.markup import BROWSER
from cloze.widgets.widget import Widget

HOUSE = Path(cloze.__file__).parent
COLOUR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8}|[0-9a-fA-F]{3,4})\b|\b(?:rgb|hsl)a?\(")
FIGURES = {getattr(palette, name) for name in ("BLUE", "ORANGE", "GREEN", "RED", "VIOLET", "GREY")}


def luminance(colour: ColorType) -> float:
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in to_rgb(colour)]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def contrast(one: ColorType, other: ColorType) -> float:
    dark, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dark + 0.05)


def test_no_colour_stands_anywhere_else() -> None:
    benchmarks = (HOUSE.parents[1] / "benchmarks").glob("*.py")
    files = [path for end in ("py", "css", "js") for path in HOUSE.rglob(f"*.{end}")]
    found = {
        path.name: colours
        for path in [*files, *benchmarks]
        if (colours := COLOUR.findall(path.read_text(encoding="utf-8")))
    }
    assert list(found) == ["palette.py"]


def test_the_view_has_every_colour_that_it_uses_in_both_themes() -> None:
    sheets = [path.read_text(encoding="utf-8") for path in BROWSER.parents[1].rglob("*.css")]
    style = "\n".join(sheets)
    used = set(re.findall(r"var\(--([a-z-]+)", style))
    by_markup = {"p", "heat", "high", "unit", "units", "least", "before", "after", "wide", *"nxy"}
    set_there = set(re.findall(r"--([a-z-]+):", style)) | by_markup
    others = {name for name in used if name.startswith("jp-")} | set_there
    assert used - others == set(palette.LIGHT) == set(palette.DARK)
    for colours in (palette.LIGHT, palette.DARK):
        for name, colour in colours.items():
            assert f"--{name}: {colour};" in Widget._css


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_text_stands_out(theme: dict[str, str]) -> None:
    pairs = [(ink, "paper") for ink in ("ink", "quiet", "both", "left", "right", "good", "bad")]
    for ink, ground in [*pairs, ("ink", "raised"), ("ink", "gap")]:
        assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)


@pytest.mark.parametrize("theme", [palette.PICTURE_LIGHT, palette.PICTURE_DARK])
def test_the_colours_of_figures_stand_out_in_both_themes(theme: dict[str, str]) -> None:
    for colour in FIGURES:
        assert contrast(colour, palette.PAPER) >= 4.5
        assert contrast(colour, theme["paper"]) >= 3
    paper, blue = (np.array(to_rgb(colour)) for colour in (theme["paper"], palette.BLUE))
    for share in (0.0, 0.7):  # of blue, as deep as the numbered tables go
        assert contrast(theme["ink"], tuple(share * blue + (1 - share) * paper)) >= 4.5
