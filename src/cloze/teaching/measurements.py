"""Results that a command in ``measured/`` wrote into a lesson's folder, as JSON."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def load_results(lesson: str, name: str) -> dict[str, Any]:
    """Read the results of a command, such as ``load_results("training", "plateau")``."""
    path = files("cloze.lessons").joinpath(lesson, f"{name}.json")
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results
