"""The palette: every colour stands in it and nowhere else, and texts stand out."""

import re
from pathlib import Path

import pytest

import cloze
from cloze.teaching import palette
from cloze.widgets.markup import BROWSER
from cloze.widgets.widget import Widget

HOUSE = Path(cloze.__file__).parent
COLOUR = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8}|[0-9a-fA-F]{3,4})\b|\b(?:rgb|hsl)a?\(")


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
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
    by_markup = {"p", "heat", "high", "unit", "units", "least"}
    set_there = set(re.findall(r"--([a-z-]+):", style)) | by_markup
    others = {name for name in used if name.startswith("jp-")} | set_there
    assert used - others == set(palette.LIGHT) == set(palette.DARK)
    for colours in (palette.LIGHT, palette.DARK):
        for name, colour in colours.items():
            assert f"--{name}: {colour};" in Widget._css


@pytest.mark.parametrize("theme", [palette.LIGHT, palette.DARK], ids=["light", "dark"])
def test_text_stands_out(theme: dict[str, str]) -> None:
    for ink in ("ink", "quiet", "both", "left", "right", "good", "bad"):
        assert contrast(theme[ink], theme["paper"]) >= 4.5, ink
    for ground in ("raised", "gap"):
        assert contrast(theme["ink"], theme[ground]) >= 4.5, ground


@pytest.mark.parametrize("theme", [palette.PICTURE_LIGHT, palette.PICTURE_DARK])
def test_the_colours_of_figures_stand_out_in_both_themes(theme: dict[str, str]) -> None:
    assert contrast(theme["ink"], theme["paper"]) >= 4.5
    colours = (palette.BLUE, palette.ORANGE, palette.GREEN, palette.RED, palette.VIOLET)
    for colour in (*colours, palette.GREY):
        assert contrast(colour, palette.PAPER) >= 4.5
        assert contrast(colour, theme["paper"]) >= 3
    for share in (0.0, 0.35, 0.7):  # of blue, as deep as the numbered tables go
        channels = [
            share * int(palette.BLUE[i : i + 2], 16)
            + (1 - share) * int(theme["paper"][i : i + 2], 16)
            for i in (1, 3, 5)
        ]
        assert contrast(theme["ink"], "#{:02x}{:02x}{:02x}".format(*map(round, channels))) >= 4.5
