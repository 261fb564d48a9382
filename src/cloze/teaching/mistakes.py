"""Mistakes: wrong answers to the exercises of a lesson, written in its ``mistakes.md``.

A heading of the first level names an exercise, one of the second level is the sentence that a
learner reads. Below it is the place in the solution that is wrong, right → wrong::

    # summed_loss

    ## You count the positions from 1.

    `x[i]` → `x[i - 1]`

If the place occurs twice, its line is named: ``in line 2``, counted in the body of the solution,
after its docstring. A mistake that differs in more than one place is written as a learner would
write it, indented by four spaces: the body of the function, without its ``def``. For an exercise
whose answer is a value, that value.

The code has ``math``, ``np``, ``torch`` and ``F`` at hand, and what the lesson's ``checks.py`` has.
It is read and run only if an answer is wrong.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
import re
import sys
import textwrap
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from cloze.teaching.results import Function

AT_HAND = {"math": math, "np": np, "torch": torch, "F": F}
"""What the code of every mistake may use, as the notebooks import it."""

PLACE = re.compile(r"`(?P<right>[^`]+)` → `(?P<wrong>[^`]+)`(?: in line (?P<line>\d+))?")
"""The one place in which a mistake differs from the solution."""

ENTRY = re.compile(
    r"^# (?P<exercise>.+)\n|^## (?P<sentence>.+)\n\s*^(?P<code>`.+`.*\n|(?:(?: {4}.*)?\n)+)", re.M
)


def parse_mistakes(text: str) -> dict[str, dict[str, str]]:
    """Return the code below every sentence, by exercise and by sentence.

    Raises:
        ValueError: something is not in the form of a mistake; the message says what.
    """
    rest = ENTRY.sub(lambda entry: "\n" * entry[0].count("\n"), text).split("\n")
    for number, stray in enumerate(rest, 1):
        if stray.strip():
            raise ValueError(
                f"Line {number}, {stray!r}, belongs to no mistake: a mistake is a heading '## ' "
                "with its sentence on one line, and below it `right` → `wrong` or indented code."
            )
    mistakes: dict[str, dict[str, str]] = {}
    exercise = ""
    for entry in ENTRY.finditer(text):
        exercise = (entry["exercise"] or exercise).strip()
        known = mistakes.setdefault(exercise, {})
        if entry["sentence"]:
            known[entry["sentence"].strip()] = entry["code"].rstrip() + "\n"
    return mistakes


def body_of(function: Function) -> str:
    """Return the source of a function below its ``def`` and its docstring, indented once."""
    source = textwrap.dedent(inspect.getsource(function))
    [definition] = ast.parse(source).body
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[ast.get_docstring(definition) is not None]
    return "\n".join(source.split("\n")[first.lineno - 1 :])


def changed(body: str, place: re.Match[str]) -> str:
    """Return the body of a solution with one place in it exchanged.

    Raises:
        ValueError: the place is not there, or more than once.
    """
    right, line = place["right"], int(place["line"] or 0)
    pattern = r"\s+".join(map(re.escape, right.split()))  # a place may span lines
    before, after = (r"\b" if re.match(r"\w", right[i]) else "" for i in (0, -1))
    there = [
        match
        for match in re.finditer(before + pattern + after, body)
        if not line or body.count("\n", 0, match.start()) + 1 == line
    ]
    if len(there) != 1:
        raise ValueError(
            f"`{right}` occurs {len(there)} times in the solution: it must occur just once, or "
            "once in the line that is named."
        )
    return body[: there[0].start()] + place["wrong"] + body[there[0].end() :]


def as_function(code: str, solution: Function) -> str:
    """Return the source of a wrong function from what is written below its sentence."""
    if place := PLACE.fullmatch(code.strip()):
        code = changed(body_of(solution), place)
    bare = [
        str(parameter.replace(annotation=inspect.Parameter.empty))
        for parameter in inspect.signature(solution).parameters.values()
    ]
    return f"def {solution.__name__}({', '.join(bare)}):\n{code}"


def place_of(exercise: object) -> tuple[str, str]:
    """Return the module of an exercise, and what its check is called there without ``check_``."""
    return next(
        (
            (module, name.removeprefix("check_"))
            for module in [*sys.modules]
            if re.fullmatch(r"cloze\.lessons\.\w+\.checks", module)
            for name, value in vars(sys.modules[module]).items()
            if value is exercise
        ),
        ("", ""),
    )


@cache
def mistakes_of(exercise: Any) -> dict[str, Any]:
    """Return the mistakes of an exercise: each sentence with the wrong function, or value.

    Raises:
        ValueError: the file, or a mistake in it, is malformed.
    """
    lesson, names, known = _read(exercise)
    try:
        return {
            sentence: _run(sentence, code, exercise.solution, names.copy())
            for sentence, code in known.items()
        }
    except ValueError as error:
        raise ValueError(f"mistakes.md of {lesson}: {error}") from None


@cache
def pairs_of(exercise: Any) -> dict[tuple[str, str], Any]:
    """Return wrong functions with two mistakes at once, for all that name a place of their own."""
    _, names, known = _read(exercise)
    places = {
        text: place for text, code in known.items() if (place := PLACE.fullmatch(code.strip()))
    }
    pairs = {}
    for one, other in combinations(places, 2):
        with contextlib.suppress(ValueError):  # they overlap, or do not run together
            code = changed(changed(body_of(exercise.solution), places[one]), places[other])
            pairs[one, other] = _run(one, code, exercise.solution, names.copy())
    return pairs


def _read(exercise: Any) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Return an exercise's lesson, what the code of its mistakes may use, and that code."""
    module, name = place_of(exercise)
    lesson = module.rpartition(".")[0]
    if not module:
        return "", {}, {}
    # A mistake sees what the checks see, but not the solution.
    names = AT_HAND | getattr(exercise.solution, "__globals__", {}) | vars(sys.modules[module])
    names["__name__"] = "mistake"
    names.pop(name, None)
    try:
        known = parse_mistakes(files(lesson).joinpath("mistakes.md").read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"mistakes.md of {lesson}: {error}") from None
    return lesson, names, known.get(name, {})


def _run(sentence: str, code: str, solution: Any, names: dict[str, Any]) -> Any:
    try:
        if callable(solution):
            exec(as_function(code, solution), names)  # noqa: S102 - a file of the package
            return names[solution.__name__]
        *before, last = ast.parse(textwrap.dedent(code)).body
        if not isinstance(last, ast.Expr):
            raise SyntaxError("the last line has to be the value")
        exec(compile(ast.Module(before, []), "mistakes.md", "exec"), names)  # noqa: S102
        return eval(compile(ast.Expression(last.value), "mistakes.md", "eval"), names)  # noqa: S307
    except Exception as error:
        raise ValueError(f"The code under {sentence!r} does not run: {error!r}.") from None
