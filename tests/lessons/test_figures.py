"""The figures of the lessons: drawn by their own notebooks, readable in both themes, and said."""

from __future__ import annotations

import base64
import html
import importlib
import inspect
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import nbformat
import pytest

from cloze.lessons.the_loss.figures import loss_bars
from tests.teaching.test_palette import FIGURES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = {path.stem[3:]: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
LESSONS = [path.parent.name for path in sorted((ROOT / "src/cloze/lessons").glob("*/figures.py"))]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_draws_every_figure_of_its_lesson(lesson: str) -> None:
    module = importlib.import_module(f"cloze.lessons.{lesson}.figures")
    own = [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]
    source = code("start_here" if lesson == "the_series" else lesson)
    assert own
    assert [name for name in own if f"{name}(" not in source] == []


def code(lesson: str) -> str:
    cells = nbformat.read(NOTEBOOKS[lesson], as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def pictures() -> list[tuple[str, dict[str, str]]]:
    """Find what every cell shows that draws a figure, and whatever else is an image."""
    found = []
    for name, path in NOTEBOOKS.items():
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                image = any(kind.startswith("image/") for kind in data)
                if image or "<img" in data.get("text/html", ""):
                    found.append((f"{name}-{cell.execution_count}", data))
    return found


PICTURES = pytest.mark.parametrize("data", [pytest.param(d, id=name) for name, d in pictures()])


def svg_in(data: dict[str, str]) -> str:
    code = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', data["text/html"])
    assert code
    return base64.b64decode(code[1]).decode()


@PICTURES
def test_every_picture_is_an_svg_and_says_what_it_shows(data: dict[str, str]) -> None:
    assert set(data) == {"text/html", "text/plain"}
    alt = re.search(r'alt="([^"]*)"', data["text/html"])
    assert alt
    assert html.unescape(alt[1]) == data["text/plain"]
    assert re.fullmatch(r"[A-Z].{40,}\.", data["text/plain"])
    assert re.search(r"\d", data["text/plain"])
    ET.fromstring(svg_in(data))


@PICTURES
def test_every_colour_of_a_picture_is_seen_on_light_and_on_dark_pages(data: dict[str, str]) -> None:
    drawn = re.sub(r"base64,[^\"]*", "", svg_in(data))
    colours = set(re.findall(r"(?:fill|stroke)(?::|=\")(?!url|none)([^;}\"]+)", drawn))
    assert colours - {"var(--ink)", "var(--paper)"} <= FIGURES
    texts = re.findall(r'<g transform="scale\([^)]*\)" class="(\w+)"><g transform', drawn)
    assert len(texts) == drawn.count('<g transform="scale') > 0
    assert all(f".{look}{{fill:var(--ink)}}" in drawn for look in texts)


def test_a_picture_is_the_same_every_time() -> None:
    first, second = (loss_bars({"unigram": 2.8}).svg for _ in range(2))
    assert first == second
    assert "matplotlib" not in first
