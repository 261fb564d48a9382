"""Measurements that take longer than a notebook has: made by a command, kept in a file beside it.

Such a file is JSON. It begins with what it takes to make it again, so that a command that was
stopped goes on with what was made in the same way, and with nothing else. To measure all anew,
delete the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVarTuple

import torch

from cloze.files import written

Keys = TypeVarTuple("Keys")


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


def measure(
    path: Path,
    made: Mapping[str, Any],
    name: str,
    runs: Iterable[tuple[*Keys]],
    one: Callable[[*Keys], Any],
) -> dict[str, Any]:
    """Make every run whose result a file does not hold yet, and write the file after each.

    Args:
        path: the file.
        made: how measurements are made now, as :func:`made_by` says it.
        name: under which name the file keeps the results.
        runs: of each run its keys, under which its result is kept within that name.
        one: makes a run, from its keys.

    Returns:
        What the file then holds.
    """
    kept = begun(path, made) or dict(made)
    for keys in runs:
        *outer, last = name, *map(str, keys)
        place = kept
        for key in outer:
            place = place.setdefault(key, {})
        if last not in place:
            place[last] = one(*keys)
            write(path, kept)
            print(name, *keys, flush=True)
    return kept


def write(path: Path, measured: Mapping[str, Any]) -> None:
    """Write measurements, whole or not at all."""
    write_whole(path, json.dumps(measured, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, whenever it is interrupted."""
    with written(path) as part:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
