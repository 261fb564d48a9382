"""Checkpoints: models and training runs in safetensors files, with their provenance.

A file has one entry of metadata, ``cloze``: JSON with the kind of checkpoint, the config, what made
it, and a digest of all that and of every tensor. A file whose digest differs is not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from cloze.arguments import FilePath
from cloze.corpus import DATA
from cloze.encoder import EncoderConfig
from cloze.files import FileError, written
from cloze.heads import CausalLM, MaskedLM
from cloze.objectives import objective_named
from cloze.vocabulary import VOCABULARY, Vocabulary

CHECKPOINTS = DATA / "checkpoints"
SHIPPED = CHECKPOINTS / "masked.safetensors"
"""The encoder of the series."""
WORDS = CHECKPOINTS / "words.safetensors"
"""The same encoder, larger, for pieces of words; its matrices are kept in 8 bits."""

KINDS: Mapping[str, type[MaskedLM]] = {model.kind: model for model in (MaskedLM, CausalLM)}
"""The models of the core; other kinds are known to the objective of their name."""

Kind = Literal["model", "run", "inside"]
OTHER_KIND = {
    "model": "is a finished model, not a training run that was stopped.",
    "run": "is a training run that was stopped, not a model; finish it with --resume.",
}


class CheckpointError(FileError):
    """A checkpoint that cannot be used or written; the message says why and what to do."""


# Writing


def write(path: FilePath, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON metadata to ``path``, with a digest of both.

    The file is there whole or not at all: whatever happens, the old one stays until the new one is
    complete, and no other file is left.

    Raises:
        FileError: the file cannot be written.
        CheckpointError: a number is not finite.
    """
    path = Path(path)
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise CheckpointError(
                f"{name} holds numbers that are not finite, so {path} is not written; train again "
                "with smaller step sizes or less weight decay."
            )
    with written(path) as part:
        part.write_bytes(save(tensors, {"cloze": _sealed(tensors, metadata)}))
        part.replace(path)


def probe(path: FilePath, *, force: bool = False) -> None:
    """Find out before training whether a checkpoint can be written to ``path`` later.

    Args:
        path: where it is to be; its folder is made.
        force: whether a file that is no checkpoint may be replaced.

    Raises:
        FileError: it cannot be written.
        CheckpointError: the file that is there is not a checkpoint.
    """
    path = Path(path)
    with written(path) as part:
        part.touch()
    if path.is_dir() or (path.exists() and not force and _sealed_text(path) is None):
        raise CheckpointError(
            f"{path} exists and is not a checkpoint; choose another name, or replace it with "
            "--force."
        )


def _sealed(tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> str:
    """Return metadata as JSON with the digest of tensors and metadata in front."""
    layout = [[name, str(t.dtype), list(t.shape)] for name, t in sorted(tensors.items())]
    digest = hashlib.sha256(json.dumps([metadata, layout], allow_nan=False).encode())
    for _, tensor in sorted(tensors.items()):
        digest.update(tensor.reshape(-1).numpy().data)
    return json.dumps({"sha256": digest.hexdigest(), **metadata})


# Reading


def read(path: FilePath, kind: Kind) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and metadata back, exactly as they were written.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint of this kind, or damaged.
    """
    path = Path(path)
    text = _sealed_text(path)
    if text is None:
        raise CheckpointError(
            f"{path} is not a checkpoint of Cloze, or only a part of one; name another, or "
            "restore it."
        )
    try:
        metadata = json.loads(text)
        del metadata["sha256"]
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        whole = _sealed(tensors, metadata) == text
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise CheckpointError(
            f"{path} is damaged: it is not what was written; restore it, or train it again "
            "(data/README.md says how each shipped one is made)."
        )
    if (other := metadata.get("kind")) != kind:
        raise CheckpointError(f"{path} {OTHER_KIND.get(other, 'is neither a model nor a run.')}")
    return tensors, metadata


def _sealed_text(path: Path) -> str | None:
    """Return the entry ``cloze`` of a file's metadata, None if it has none."""
    try:
        if not path.is_file():
            raise CheckpointError(f"There is no checkpoint at {path}; check the path.")
        with safe_open(path, framework="pt") as file:
            return (file.metadata() or {}).get("cloze")
    except SafetensorError:
        return None


# Models


SCALE = ".scale"
"""Ends the name of what the rows of an 8-bit matrix are multiplied with."""


def in_8_bits(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round every matrix to whole numbers from -127 to 127, with a scale for each of its rows."""
    kept: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            scale = tensor.abs().amax(dim=1).clamp(min=1e-8) / 127  # (rows,)
            kept[name + SCALE] = scale
            kept[name] = (tensor / scale[:, None]).round().to(torch.int8)
        else:
            kept[name] = tensor
    return kept


def in_float32(kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo :func:`in_8_bits`, up to rounding; other tensors stay as they are."""
    return {
        name: tensor * kept[name + SCALE][:, None] if name + SCALE in kept else tensor
        for name, tensor in kept.items()
        if not name.endswith(SCALE)
    }


def save_model(
    path: FilePath, model: MaskedLM, provenance: Mapping[str, Any], *, bits: Literal[8, 32] = 32
) -> None:
    """Save a model with its config and with what made it (command, seed, steps, loss …).

    Args:
        path: the file.
        model: what to save.
        provenance: what made it.
        bits: 8 for a quarter of the size, at the cost of rounding (:func:`in_8_bits`).

    Raises:
        CheckpointError: the file cannot be written, or a weight is not finite.
    """
    metadata = {"kind": "model", "config": asdict(model.config), "provenance": provenance}
    if model.objective != MaskedLM.kind:
        metadata["objective"] = model.objective
    if model.kind != model.objective:
        metadata["model"] = model.kind
    if model.vocabulary != VOCABULARY:
        metadata["vocabulary"] = asdict(model.vocabulary)
    tensors = model.state_dict()
    write(path, in_8_bits(tensors) if bits == 8 else tensors, metadata)


def load_model(path: FilePath = SHIPPED) -> MaskedLM:
    """Load a model, ready for inference; by default the one that ships with the series.

    Raises:
        CheckpointError: the file is missing, damaged, foreign, or does not fit its config.
    """
    tensors, metadata = read(path, "model")
    with fitting(path):
        objective = metadata.get("objective", MaskedLM.kind)
        kind = metadata.get("model", objective)
        of_kind = KINDS[kind] if kind in KINDS else objective_named(kind).model
        model = of_kind(EncoderConfig(**metadata["config"]), _vocabulary(metadata))
        model.objective = objective
        if model.config.vocab_size < len(model.vocabulary):
            raise ValueError("its vocabulary has more symbols than its config")
        tensors = in_float32(tensors)
        must_match(tensors, model.state_dict())
    model.load_state_dict(tensors)
    return model.eval().requires_grad_(False)


def load_guesser(path: FilePath = SHIPPED) -> MaskedLM:
    """Load a model that says which symbol belongs somewhere: a masked or a causal one.

    Raises:
        CheckpointError: it answers another question, or the file cannot be used.
    """
    model = load_model(path)
    if model.kind not in KINDS:
        raise CheckpointError(
            f"{path} was trained with the objective {model.objective}, so it cannot guess single "
            "characters; choose a masked or a causal model."
        )
    return model


@contextmanager
def fitting(path: FilePath) -> Iterator[None]:
    """Say in one sentence why what a file describes cannot be made here.

    Raises:
        CheckpointError: something in the block cannot be done with what the file holds.
    """
    try:
        yield
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(".:")
        if isinstance(error, KeyError):
            reason += " is missing"
        raise CheckpointError(f"{path} does not fit this version of Cloze: {reason}.") from None


def must_match(tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Compare the tensors of a file with those of what it is loaded into: names, shapes, dtypes.

    Raises:
        ValueError: one is missing, or differs; the sentence names it.
    """
    ours, theirs = ({(k, t.dtype, t.shape) for k, t in each.items()} for each in (tensors, wanted))
    if ours != theirs:
        name = min(name for name, *_ in ours ^ theirs)
        raise ValueError(f"{name} is missing, too many, or has another shape or type")


def _vocabulary(metadata: Mapping[str, Any]) -> Vocabulary:
    """Return the vocabulary of a model, by default the series' own characters."""
    if "vocabulary" not in metadata:
        return VOCABULARY
    ordinary, specials = (metadata["vocabulary"][part] for part in ("ordinary", "specials"))
    return Vocabulary(ordinary if isinstance(ordinary, str) else tuple(ordinary), tuple(specials))


def provenance(path: FilePath = SHIPPED) -> dict[str, Any]:
    """Return what made a model: command, seed, corpus hash, steps, held-out loss.

    Raises:
        CheckpointError: the file is missing, damaged or foreign.
    """
    metadata = read(path, "model")[1]
    with fitting(path):
        return dict(metadata.get("provenance", {}))
