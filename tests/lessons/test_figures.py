"""The figures of the lessons: each is drawn by its own notebook, from plain data."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import nbformat
import pytest

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
    cells = nbformat.read(NOTEBOOKS[lesson], as_version=4).cells
    source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert own
    assert [name for name in own if f"figures.{name}(" not in source] == []
