"""The figures of the lessons: drawn by their own notebooks, readable in both themes, in words."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import nbformat
import pytest

from cloze.lessons.the_loss.figures import loss_bars
from tests.teaching.test_palette import FIGURES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = {path.stem[3:]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
LESSONS = {path.parent.name: path for path in (ROOT / "src/cloze/lessons").glob("*/figures.py")}


@pytest.mark.parametrize("lesson", sorted(LESSONS))
def test_the_notebook_draws_every_figure_of_its_lesson(lesson: str) -> None:
    notebook = NOTEBOOKS["start_here" if lesson == "the_series" else lesson]
    cells = nbformat.read(notebook, as_version=4).cells
    source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    code = LESSONS[lesson].read_text(encoding="utf-8")
    own = re.findall(r"^def ([a-z]\w+)\(", code, re.MULTILINE)
    assert own
    assert [name for name in own if f"{name}(" not in source] == []


def pictures() -> Iterator[Any]:
    """Find what every cell shows that draws a figure, and whatever else is an image."""
    for name, path in NOTEBOOKS.items():
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                image = any(kind.startswith("image/") for kind in data)
                if image or "<img" in data.get("text/html", ""):
                    yield pytest.param(data, id=f"{name}-{cell.execution_count}")


@pytest.mark.parametrize("data", [*pictures()])
def test_every_picture_is_an_svg_with_a_text_in_colours_for_both_themes(
    data: dict[str, str],
) -> None:
    assert set(data) == {"text/html", "text/plain"}
    image = re.search(r'alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]+)"', data["text/html"])
    assert image
    assert html.unescape(image[1]) == data["text/plain"]
    assert re.fullmatch(r"(?=.*\d)[A-Z].{40,}\.", data["text/plain"])
    svg = base64.b64decode(image[2]).decode()
    ET.fromstring(svg)
    drawn = re.sub(r"base64,[^\"]*", "", svg)
    colours = set(re.findall(r"(?:fill|stroke)(?::|=\")(?!url|none)([^;}\"]+)", drawn))
    assert colours - {"var(--ink)", "var(--paper)"} <= FIGURES


def test_a_picture_is_the_same_every_time() -> None:
    first, second = (loss_bars({"unigram": 2.8}).svg for _ in range(2))
    assert first == second
    assert "matplotlib" not in first
