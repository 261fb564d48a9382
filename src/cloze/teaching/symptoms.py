"""Symptoms of any answer: nothing returned, an error, a twist, a parameter never read."""

from __future__ import annotations

import builtins
import difflib
import dis
import math
import numbers as abstract
import re
import sys
import traceback
import types
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import torch

from cloze.teaching.results import Function, Outcome, Symptom, as_plain, in_short, run, text_of

REPLACE = "Replace the ... by your answer and run the cell again."


def unfilled(value: Any) -> bool:
    """Whether a value is ``...``, or a collection that holds it."""
    entries = value.values() if isinstance(value, dict) else value
    inside = isinstance(value, list | tuple | dict) and any(entry is ... for entry in entries)
    return value is ... or inside


def nothing_in_words(outcome: Outcome) -> str:
    """Say why a function returned nothing; return nothing if it did return something."""
    if unfilled(outcome.value) or "ellipsis" in text_of(outcome.error):
        return REPLACE
    if outcome.value is not None or outcome.error is not None:
        return ""
    if outcome.printed.strip():
        return (
            f"Your function prints {in_short(outcome.printed.strip())} and returns nothing: "
            "`print` only shows a result; `return` hands it back."
        )
    return "Your function returns nothing: is a `return` missing?"


def ask(function: Function, *arguments: Any) -> Any:
    """Call a learner's function on the arguments themselves, for a ``judge`` that looks closer.

    Raises:
        Symptom: it raised, or returned nothing.
    """
    outcome = run(function, arguments)
    if outcome.error is not None:
        raise Symptom(f"Your function raised {error_in_words(outcome.error)}")
    if nothing := nothing_in_words(outcome):
        raise Symptom(nothing)
    return outcome.value


ROW = re.compile(r"^- (?P<type>\w+)(?: `(?P<pattern>.+?)`)?: (?P<direction>.+)$", re.M)
"""An error and what to do about it, in ``errors.md``."""

LONG_ERROR = 160
"""Characters of what an error says that are shown."""

IMPORTS = {
    "np": "import numpy as np",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
}
"""How notebooks import what does not come with Python."""


@cache
def errors() -> list[tuple[type[BaseException], str, str]]:
    """Read what to do about what an answer raised: the type of an error, a pattern, a sentence."""
    rows = ROW.finditer(files("cloze.teaching").joinpath("errors.md").read_text("utf-8"))
    return [
        (getattr(builtins, row["type"]), row["pattern"] or "", row["direction"]) for row in rows
    ]


def names_at(error: BaseException) -> dict[str, Any]:
    """Return the names in scope where an error was raised."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return {**frame.f_globals, **frame.f_locals}


def nearest(error: BaseException) -> str:
    """Suggest the name in scope that is most like an unknown one."""
    if not isinstance(error, NameError | AttributeError) or error.name is None:
        return ""
    known = dir(error.obj) if isinstance(error, AttributeError) else names_at(error)
    public = [name for name in known if not name.startswith("_")]
    near = difflib.get_close_matches(error.name, public, 1, 0.7)
    return f" Did you mean `{near[0]}`?" if near else ""


def missing_import(error: BaseException) -> str:
    """Say how to import a name that is unknown: a module, or a function of ``math`` or torch."""
    name = error.name if type(error) is NameError else None
    if name in IMPORTS or name in sys.stdlib_module_names:
        return f"Write `{IMPORTS.get(name, f'import {name}')}` at the top of your cell."
    for module in (math, torch):
        if name and callable(getattr(module, name, None)):
            there = module.__name__ in names_at(error)
            above = "" if there else f", and `import {module.__name__}` at the top of your cell"
            return f"Write {module.__name__}.{name}{above}."
    return ""


def error_in_words(error: BaseException) -> str:
    """Name an error and say what to do about it, in one or two sentences."""
    text = re.sub(r"\s+", " ", text_of(error))
    if len(text) > LONG_ERROR:
        text = f"{text[:LONG_ERROR].rpartition(' ')[0]} …"
    name = f"{type(error).__name__}: {text}" if text else type(error).__name__
    name = name if text.endswith("…") else f"{name.rstrip('.')}."
    if advice := missing_import(error):
        return f"{name} {advice}"
    for kind, pattern, direction in errors():
        if isinstance(error, kind) and re.search(pattern, text):
            return f"{name} {direction}{nearest(error)}"
    return f"{name} Try it in a separate cell."


@cache
def twists() -> dict[str, Function]:
    """Read what learners do to a right result, under the sentence for it."""
    text = files("cloze.teaching").joinpath("twists.md").read_text("utf-8")
    rows = re.findall(r"^- `(.+?)`: (.+)$", text, re.M)
    return {said: eval(f"lambda x: {code}", {"np": np}) for code, said in rows}  # noqa: S307 - ours


PLAIN = "rounded|cut off|other sign|per cent;|tensor"
"""Twists safe to report together with a known mistake."""


def after(twist: Function, value: Any) -> Any:
    """Apply a twist to a plain value, to each of several numbers.

    Raises:
        TypeError: it has no meaning there; other errors say the same.
    """
    if isinstance(value, dict):
        return {name: after(twist, part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(after(twist, part) for part in value)
    if isinstance(value, bool) or not isinstance(value, abstract.Real | np.ndarray):
        raise TypeError(f"{value!r} is not a number.")
    with np.errstate(all="ignore"):
        return as_plain(twist(np.asarray(value) * 1.0))


def codes_of(function: Any) -> Iterator[types.CodeType]:
    """Walk through the code of a function and of what is defined inside it."""
    waiting = [code] if (code := getattr(function, "__code__", None)) else []
    while waiting:
        yield (code := waiting.pop())
        waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]


def neglected(function: Any) -> list[str]:
    """Find the parameters that a function never reads, or overwrites before it does."""
    code = next(codes_of(function), None)
    if code is None:
        return []
    first: dict[str, str] = {}
    for inner in codes_of(function):
        for step in dis.get_instructions(inner):
            if not re.search("FAST|DEREF|CLOSURE", step.opname):
                continue
            touched = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            verbs = [word for word in step.opname.split("_") if word in ("LOAD", "STORE")]
            for verb, name in zip(verbs, touched, strict=False):
                first.setdefault(str(name), verb)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in parameters if first.get(name) != "LOAD"]


def borrowed_names(function: Any) -> list[str]:
    """Find the variables of the notebook that a function reads, apart from functions and such."""
    world = getattr(function, "__globals__", {})
    steps = [step for code in codes_of(function) for step in dis.get_instructions(code)]
    read = dict.fromkeys(str(s.argval) for s in steps if s.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return [
        name
        for name in read
        if name in world and not hasattr(world[name], "__name__")  # of functions, classes, modules
        if len(name) == 1 or not name.isupper()  # constants
    ]
