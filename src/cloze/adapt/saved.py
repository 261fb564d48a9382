"""What a run leaves in its folder, and whether it is still what was written."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from cloze.checkpoint import CheckpointError

SEAL = "adapt.json"
"""The file that is written last into a checkpoint: a digest of each of the others."""
STATE = "trainer_state.json"
"""The Trainer's own log; its first entry says what the run was begun with."""


def seal(checkpoint: Path) -> None:
    """Say that a checkpoint is complete; only then the ones before it go."""
    (checkpoint / SEAL).write_text(json.dumps(_digests(checkpoint)), encoding="utf-8")
    for other in checkpoint.parent.glob("checkpoint-*"):
        if other != checkpoint and other.name.removeprefix("checkpoint-").isdecimal():
            shutil.rmtree(other, ignore_errors=True)


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last checkpoint of a run's folder that is what was written; None if there is none.

    Raises:
        CheckpointError: there are some, and all of them are damaged.
    """
    seals = folder.glob(f"checkpoint-*/{SEAL}")
    checkpoints = sorted((path.parent for path in seals), key=lambda path: (len(path.name), path))
    whole = [checkpoint for checkpoint in checkpoints if not _damaged(checkpoint)]
    if checkpoints and not whole:
        damaged = checkpoints[-1] / _damaged(checkpoints[-1])
        raise CheckpointError(
            f"{damaged} is damaged: it is not what was written; restore it, or move {folder} away "
            "to begin again."
        )
    return whole[-1] if whole else None


def log_of(checkpoint: Path) -> list[dict[str, Any]]:
    """Return the log of each step of a run."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    return [entry for entry in state["log_history"] if "loss" in entry]


def _digests(checkpoint: Path) -> dict[str, str]:
    found = {}
    for path in checkpoint.glob("[!.]*"):
        if path.name != SEAL:
            with path.open("rb") as file:  # it may be too large for the memory
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _damaged(checkpoint: Path) -> str:
    """Return the name of a file that is not what was written, "" if there is none."""
    try:
        written = json.loads((checkpoint / SEAL).read_text(encoding="utf-8"))
        differing = {*written.items()} ^ {*_digests(checkpoint).items()}
    except (AttributeError, TypeError, ValueError, RecursionError):
        return SEAL
    return min((name for name, _ in differing), default="")
