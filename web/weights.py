"""The weights of the page: the shipped encoder and its twins, rounded to float16.

Each is a checkpoint like any other (:mod:`cloze.checkpoint`), so its digest tells whether it is
whole; the page reads it with ``twins/checkpoint.js``. The file of the one that sees both sides also
has the unigram, which all are judged against. What was measured inside each is in a file
beside it, which the page loads when somebody looks there.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

from cloze import checkpoint
from cloze.checkpoint import CHECKPOINTS
from cloze.encoder import DIRECTIONS, Direction
from cloze.heads import MaskedLM
from cloze.lenses import INSIDE
from cloze.prediction.predictors import unigram
from cloze.prediction.shipped import shipped_model


def write(folder: Path) -> list[Path]:
    """Write the three models into a folder, and what was measured inside each.

    The same checkpoints give the same bytes.

    Raises:
        FileError: a file cannot be written.
    """
    paths = []
    for direction in DIRECTIONS:
        name = "masked" if direction == "both" else direction
        model = rounded(direction)
        metadata = {
            "kind": "model",
            "config": asdict(model.config),
            "provenance": checkpoint.provenance(CHECKPOINTS / f"{name}.safetensors"),
        }
        if direction == "both":
            metadata["baseline"] = asdict(unigram())
        path = folder / f"{direction}.safetensors"
        halves = {name: tensor.half() for name, tensor in model.state_dict().items()}
        checkpoint.write(path, halves, metadata)
        paths.append(path)
        about = folder / f"inside-{path.name}"
        paths.append(Path(shutil.copy(INSIDE / f"{name}.safetensors", about)))
    return paths


def rounded(direction: Direction = "both") -> MaskedLM:
    """Return a shipped model with the weights that the page has: rounded to float16."""
    shipped = shipped_model(direction)
    model = MaskedLM(shipped.config, shipped.vocabulary).eval().requires_grad_(False)
    model.load_state_dict({k: tensor.half().float() for k, tensor in shipped.state_dict().items()})
    return model
