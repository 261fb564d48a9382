"""Measurements that take longer than a notebook has: made by a command, kept in a file beside it.

Such a file is JSON. It begins with what it takes to make it again, so that a command that was
stopped goes on with what was made in the same way, and with nothing else. To measure all anew,
delete the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from cloze.checkpoint import beside


def made_by(module: str, **more: object) -> dict[str, Any]:
    """Return what it takes to make measurements again.

    Args:
        module: whose ``main`` makes them.
        more: whatever else they depend on.
    """
    return {"command": f"python -m {module}", "torch": torch.__version__, **more}


def read(path: Path) -> dict[str, Any]:
    """Return what a file holds."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def begun(path: Path, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds that was begun in the same way; nothing if there is none.

    Args:
        path: where it is.
        made: how measurements are made now, as :func:`made_by` says it.
    """
    kept = read(path) if path.exists() else {}
    return kept if json.loads(json.dumps(made)).items() <= kept.items() else {}


Run = tuple[Sequence[object], Callable[[], Any]]
"""The keys, from the outermost on, under which a file keeps a result, and what makes the result."""


def measure(path: Path, made: Mapping[str, Any], runs: Iterable[Run]) -> dict[str, Any]:
    """Make every run whose result a file does not hold yet, and write the file after each.

    Args:
        path: the file.
        made: how measurements are made now, as :func:`made_by` says it.
        runs: what is to be measured.

    Returns:
        What the file then holds.
    """
    kept = begun(path, made) or dict(made)
    for keys, make in runs:
        *outer, last = map(str, keys)
        place = kept
        for key in outer:
            place = place.setdefault(key, {})
        if last not in place:
            place[last] = make()
            write(path, kept)
            print(*keys, flush=True)
    return kept


def write(path: Path, measured: Mapping[str, Any]) -> None:
    """Write measurements, whole or not at all."""
    write_whole(path, json.dumps(measured, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, whenever it is interrupted."""
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
