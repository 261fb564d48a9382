"""Every exercise of every lesson, and the answers that learners have given to them."""

from __future__ import annotations

import ast
import json
import linecache
import math
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

import cloze.lessons
from cloze.teaching.exercise import Exercise
from notebooks import colab
from notebooks.minutes import exercises_of

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def exercises() -> dict[str, Exercise]:
    """Find every exercise, by the name that its check has without ``check_``."""
    lessons = (module.name for module in pkgutil.iter_modules(cloze.lessons.__path__))
    return {name: each for lesson in lessons for name, each in exercises_of(lesson).items()}


def by_learner(solution: Any) -> Any:
    """Return a solution as a learner would hand it in: a function of the notebook."""
    if not isinstance(solution, FunctionType):
        return solution
    return FunctionType(solution.__code__, solution.__globals__ | {"__name__": "__main__"})


@dataclass(frozen=True)
class Answer:
    """An answer as a learner has given it: the code of a cell that assigns ``answer``."""

    exercise: str
    right: bool
    symptom: str
    answer: str

    def value(self) -> Any:
        """Run the cell, with everything that the notebook of its exercise has imported."""
        names = {"math": math, "np": np, "torch": torch, "F": F} | imported_for(self.exercise)
        cell = f"<answer {hash(self.answer)}>"  # a notebook keeps the source of its cells, too
        linecache.cache[cell] = (len(self.answer), None, self.answer.splitlines(True), cell)
        exec(compile(self.answer, cell, "exec"), names)
        return names["answer"]

    def __str__(self) -> str:
        return f"{self.exercise} | {self.symptom}"


def answers() -> list[Answer]:
    """Read the answers to the exercises that there are."""
    stored = json.loads(Path(__file__).with_name("answers.json").read_text("utf-8"))
    known = exercises()
    return [Answer(**entry) for entry in stored if entry["exercise"] in known]


@cache
def imported_for(exercise: str) -> dict[str, Any]:
    """Run the imports of the notebook that an exercise is in, apart from those of its checks."""
    names: dict[str, Any] = {}
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = [
            "".join(cell["source"])
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            if cell["cell_type"] == "code" and colab.TAG not in cell["metadata"].get("tags", [])
        ]
        if not any(f"check_{exercise}(" in cell for cell in cells):
            continue
        for cell in cells:
            for line in ast.parse(cell).body:
                if isinstance(line, ast.Import | ast.ImportFrom) and "checks" not in str(
                    getattr(line, "module", "")
                ):
                    exec(ast.unparse(line), names)
    return names


if __name__ == "__main__":  # python -m tests.lessons.answers units: what is said, to be read
    for one in answers():
        if one.exercise in (sys.argv[1:] or exercises()):
            verdict = exercises()[one.exercise](one.value())
            fault = "" if verdict.solved == one.right else "  <-- WRONG VERDICT"
            print(f"{one} | {verdict}{fault}")
