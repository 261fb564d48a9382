"""Measurements that take longer than a notebook has: made by a command, kept in a file beside it.

Such a file is JSON. It begins with what it takes to make it again, so that a command that was
stopped goes on with what was made in the same way, and with nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def write(path: Path, measured: Mapping[str, Any], rows: str = "") -> None:
    """Write measurements, whole or not at all.

    Args:
        path: where.
        measured: what was measured, behind what it takes to make it again.
        rows: the name of a list that comes last and has a line for each entry; "" for none.
    """
    text = json.dumps(measured, indent=1)
    if rows:
        head = json.dumps({**measured, rows: []}, indent=1).removesuffix("[]\n}")
        text = f"{head}[\n  " + ",\n  ".join(map(json.dumps, measured[rows])) + "\n ]\n}"
    write_whole(path, text + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all, whenever it is interrupted."""
    with beside(path) as part:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
