"""Checkpoints: models and training runs in safetensors files, with their provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from cloze.corpus import DATA
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM

CHECKPOINTS = DATA / "checkpoints"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message says why and what to do."""


def write(path: Path | str, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON metadata to ``path``; an interrupted write leaves the old file.

    Raises:
        CheckpointError: the file cannot be written.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: tensor.detach().contiguous() for name, tensor in tensors.items()},
            part,
            {key: json.dumps(value) for key, value in metadata.items()},
        )
        part.replace(path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            part.unlink()
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path} cannot be written: {reason}.") from None


def read(path: Path | str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and metadata back.

    Raises:
        CheckpointError: no such file, or it is not a whole safetensors file.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint at {path}; check the path.")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except (SafetensorError, OSError, RuntimeError, ValueError):
        raise CheckpointError(
            f"{path} is damaged or not a safetensors file; restore it (data/README.md says how "
            "each shipped checkpoint is rebuilt)."
        ) from None
    try:
        return tensors, {key: json.loads(value) for key, value in metadata.items()}
    except json.JSONDecodeError:
        raise _foreign(path) from None


def save_model(path: Path | str, model: MaskedLM, provenance: Mapping[str, Any]) -> None:
    """Save a model with its config and with what made it (command, seed, steps, loss …)."""
    metadata = {"kind": "model", "config": asdict(model.config), "provenance": dict(provenance)}
    write(path, model.state_dict(), metadata)


def load_model(path: Path | str = CHECKPOINTS / "masked.safetensors") -> MaskedLM:
    """Load a model, ready for inference; by default the one that ships with the series.

    Raises:
        CheckpointError: the file is missing, damaged, foreign, or does not fit its config.
    """
    tensors, metadata = read(path)
    config = model_config(path, metadata)
    if metadata.get("kind") == "run":
        raise CheckpointError(
            f"{path} is a training run that was stopped, not a model; finish it with --resume."
        )
    model = MaskedLM(config)
    expected = {name: tensor.shape for name, tensor in model.state_dict().items()}
    if expected != {name: tensor.shape for name, tensor in tensors.items()}:
        raise CheckpointError(
            f"The tensors in {path} do not fit its own config {asdict(config)}; the file was "
            "mixed up or changed, restore it."
        )
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise CheckpointError(f"{path} holds numbers that are not finite; restore it.")
    model.load_state_dict(tensors)
    return model.eval().requires_grad_(False)


def model_config(path: Path | str, metadata: Mapping[str, Any]) -> EncoderConfig:
    """Read the config of a model or a run from a checkpoint's metadata."""
    try:
        config = EncoderConfig(**metadata["config"])
    except (KeyError, TypeError, ValueError):
        raise _foreign(path) from None
    for name, default in asdict(EncoderConfig()).items():
        allowed = (int, float) if isinstance(default, float) else type(default)
        if not isinstance(getattr(config, name), allowed):
            raise _foreign(path)
    return config


def _foreign(path: Path | str) -> CheckpointError:
    return CheckpointError(
        f"{path} is a safetensors file but not one of Cloze's: it holds no usable config."
    )


def provenance(path: Path | str = CHECKPOINTS / "masked.safetensors") -> dict[str, Any]:
    """Return what made a model: command, seed, corpus hash, steps, held-out loss."""
    _, metadata = read(path)
    made_by = metadata.get("provenance")
    if not isinstance(made_by, dict):
        raise CheckpointError(f"{path} does not say what made it.")
    return made_by
