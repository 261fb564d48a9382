"""The notebooks as they are committed, for the tests of what is written in them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LECTURES = sorted((ROOT / "lecture").glob("*.ipynb"))

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@cache
def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def prose(path: Path) -> str:
    """Return the text of a notebook: its markdown, without blocks of code."""
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    return re.sub(r"```.*?```", "", "\n\n".join(texts), flags=re.DOTALL)
