"""Checkpoints: models and training runs in safetensors files, with their provenance.

A file has one entry of metadata, ``cloze``: JSON with the kind of checkpoint, the config, what made
it, and a digest of all that and of every tensor. A file whose digest differs is not read.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from cloze import arguments
from cloze.corpus import DATA
from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM, MaskedLM
from cloze.objectives import objective_named
from cloze.signals import held_signals
from cloze.vocabulary import VOCABULARY, Vocabulary

CHECKPOINTS = DATA / "checkpoints"
SHIPPED = CHECKPOINTS / "masked.safetensors"
"""The encoder of the series."""

Kind = Literal["model", "run"]
NOT_OF_KIND = {
    "model": "is not a saved training run (TrainingRun.save makes one) but a finished model.",
    "run": "is a training run that was stopped, not a model; finish it with --resume.",
}
DTYPES = {"F32", "U8"}
"""Weights and states of optimizers are float32, the state of a source of chance is bytes."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be used or written; the message says why and what to do."""


# Writing


def probe(path: Path | str, *, force: bool = False, size: int = 4 << 20) -> None:
    """Find out whether a checkpoint can be written to ``path`` later, and leave nothing behind.

    Args:
        path: where it is to be.
        force: whether a file that is no checkpoint may be replaced.
        size: how many bytes are needed; the default has room for a run of the default encoder.

    Raises:
        CheckpointError: it cannot, or something stands there that is not a checkpoint.
    """
    path = _path(path)
    with working(path, "written"):
        if _stands(path) and not force and not _is_ours(path):
            raise CheckpointError(
                f"{path} exists and is not a checkpoint; choose another name, or replace it with "
                "--force."
            )
        with held_signals():
            made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with beside(path) as part, part.open("xb") as file:
                    for start in range(0, size, 1 << 20):
                        file.write(bytes(min(1 << 20, size - start)))
                    file.flush()
                    os.fsync(file.fileno())
            finally:
                for folder in made:
                    with suppress(OSError):
                        folder.rmdir()


def write(path: Path | str, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON metadata to ``path``, with a digest of both.

    The file is there whole or not at all: whatever happens, the old one stays until the new one is
    complete, and no other file is left. Ctrl-C and its like wait until the end.

    Raises:
        CheckpointError: the file cannot be written, or a number is not finite.
    """
    path = _path(path)
    tensors = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    _finite(path, tensors)
    try:
        text = _sealed(tensors, metadata)
    except ValueError:  # NaN or infinity, for which JSON has no name
        raise CheckpointError(
            f"{path} is not written: its metadata hold a number that is not finite."
        ) from None
    except TypeError:
        raise CheckpointError(
            f"{path} is not written: its metadata hold what JSON cannot; give numbers and texts."
        ) from None
    with working(path, "written"), held_signals():
        replaces = _stands(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside(path) as part:
            with part.open("xb") as file:
                file.write(save(tensors, {"cloze": text}))
                file.flush()
                os.fsync(file.fileno())
            if replaces:
                shutil.copymode(path, part)
            part.replace(path)


def _sealed(tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> str:
    """Return metadata as JSON with the digest of tensors and metadata in front."""
    layout = [[name, str(t.dtype), list(t.shape)] for name, t in sorted(tensors.items())]
    digest = hashlib.sha256(json.dumps([metadata, layout], allow_nan=False).encode())
    for _, tensor in sorted(tensors.items()):
        digest.update(tensor.reshape(-1).numpy().data)
    return json.dumps({"sha256": digest.hexdigest(), **metadata})


def _path(path: object) -> Path:
    try:
        return arguments.path(path)
    except ValueError as error:
        raise CheckpointError(str(error)) from None


@contextmanager
def working(path: Path, verb: str) -> Iterator[None]:
    """Say in one sentence what the system has against a path."""
    try:
        str(path).encode()
        yield
    except CheckpointError:
        raise
    except UnicodeEncodeError:
        raise CheckpointError(f"{path} cannot be {verb}: its name is not UTF-8.") from None
    except (OSError, SafetensorError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path!s:.200} cannot be {verb}: {reason}.") from None


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Yield a name that nobody else has in the folder of ``path``, and clear away what has it."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            part.unlink()


def _stands(path: Path) -> bool:
    """Return whether a file stands at ``path``; refuse to replace what is no file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise CheckpointError(f"{path} is a folder; name a file to write.")
    if stat.S_ISLNK(mode):
        raise CheckpointError(f"{path} is a link; name the file itself, or another one.")
    if not stat.S_ISREG(mode):
        raise CheckpointError(f"{path} is a device or a pipe, not a file; choose another name.")
    if not os.access(path, os.W_OK):
        raise CheckpointError(
            f"{path} is protected against writing; choose another name, or lift the protection."
        )
    return True


def _is_ours(path: Path) -> bool:
    """Whether a file is a checkpoint, by its metadata; it may be an old or a damaged one."""
    _openable(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except SafetensorError:
        return False
    return "cloze" in metadata or {"kind", "config"} <= metadata.keys()


# Reading


def read(path: Path | str, kind: Kind) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and metadata back, exactly as they were written.

    Sizes are compared with the file and its config before anything is allocated.

    Raises:
        CheckpointError: no such file, no permission, not a checkpoint of this kind, or damaged.
    """
    path = _path(path)
    _openable(path)
    damaged = CheckpointError(
        f"{path} is damaged: it is not what was written; restore it, or train it again "
        "(data/README.md says how each shipped one is made)."
    )
    try:
        with safe_open(path, framework="pt") as file:
            text = _text(path, file.metadata() or {})
            metadata = json.loads(text)
            del metadata["sha256"]
            config = model_config(path, metadata)
            layout = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            # An optimizer keeps at most two numbers per weight; headers have 100 MB at most.
            most = 4 * 3 * config.n_parameters + (101 << 20)
            if path.stat().st_size > most or {s.get_dtype() for s in layout.values()} - DTYPES:
                raise damaged
            mapped = {name: file.get_tensor(name) for name in layout}
            if _sealed(mapped, metadata) != text:
                raise damaged
            tensors = {name: tensor.clone() for name, tensor in mapped.items()}
    except CheckpointError:
        raise
    except SafetensorError:
        if _begins_well(path):
            raise damaged from None
        raise CheckpointError(f"{path} is not a safetensors file; name a checkpoint.") from None
    except (OSError, RuntimeError, ValueError, TypeError, KeyError):  # RecursionError is a Runtime…
        raise damaged from None
    if metadata.get("kind") != kind:
        raise CheckpointError(f"{path} {NOT_OF_KIND.get(metadata.get('kind'), 'is neither.')}")
    _finite(path, tensors)
    return tensors, metadata


def _openable(path: Path) -> None:
    """Say why a file cannot be opened; what is no file, such as a pipe, is not even tried."""
    with working(path, "read"):
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise CheckpointError(f"There is no checkpoint at {path}; check the path.") from None
        if stat.S_ISDIR(mode):
            raise CheckpointError(f"{path} is a folder; name the checkpoint in it.")
        if not stat.S_ISREG(mode):
            raise CheckpointError(f"{path} is a device or a pipe, not a file; name a checkpoint.")
        path.open("rb").close()


def _begins_well(path: Path) -> bool:
    """Whether a file begins as a safetensors file does: the header's length, then the header."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def _text(path: Path, metadata: Mapping[str, str]) -> str:
    """Return the entry ``cloze`` of a file's metadata."""
    if "cloze" in metadata:
        return metadata["cloze"]
    if {"kind", "config"} <= metadata.keys():
        raise CheckpointError(
            f"{path} was made by an earlier version of Cloze, without the digest that shows a file "
            "to be whole; train it again."
        )
    raise CheckpointError(f"{path} is a safetensors file but not one of Cloze's; name another.")


def model_config(path: Path | str, metadata: Mapping[str, Any]) -> EncoderConfig:
    """Return the config of a model or a run from a checkpoint's metadata.

    Raises:
        CheckpointError: there is none, or its numbers are out of range.
    """
    try:
        return EncoderConfig(**metadata["config"])
    except (KeyError, TypeError):
        raise CheckpointError(f"{path} holds no usable config; restore it.") from None
    except ValueError as error:
        raise CheckpointError(f"{path} holds no usable config, restore it: {error}") from None


def check_layout(
    path: Path | str, tensors: Mapping[str, Tensor], expected: Mapping[str, Tensor]
) -> None:
    """Compare names, shapes and dtypes, of which torch believes anything: a wrong one may crash it.

    Args:
        path: where the tensors are from.
        tensors: what was read.
        expected: tensors of the names, shapes and dtypes that are wanted; their numbers do not
            matter, so that they may be on the device ``meta``, where a tensor takes no memory.

    Raises:
        CheckpointError: they differ; the message names the first tensor that does.
    """
    for name in sorted(tensors.keys() | expected.keys()):
        found, wanted = (_described(side.get(name)) for side in (tensors, expected))
        if found != wanted:
            raise CheckpointError(
                f"{path} does not fit: {name} should be {wanted}, but is {found}; the file was "
                "mixed up or changed, restore it."
            )


def load_state(path: Path | str, module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load tensors into a module, after comparing names, shapes and dtypes.

    Raises:
        CheckpointError: they differ.
    """
    check_layout(path, tensors, module.state_dict())
    module.load_state_dict(tensors)


def _described(tensor: Tensor | None) -> str:
    if tensor is None:
        return "absent"
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


def _finite(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Refuse NaN and infinity, in what is written and in what was read."""
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise CheckpointError(
                f"{name} holds numbers that are not finite, so {path} is of no use; train again "
                "with smaller step sizes or less weight decay."
            )


# Models


def save_model(path: Path | str, model: MaskedLM, provenance: dict[str, Any]) -> None:
    """Save a model with its config and with what made it (command, seed, steps, loss …)."""
    arguments.of_type(model, MaskedLM, "What is saved")
    made_by = arguments.of_type(provenance, dict, "The provenance")
    metadata = {"kind": "model", "config": asdict(model.config), "provenance": made_by}
    if model.objective != MaskedLM.objective:
        metadata["objective"] = model.objective
    if model.vocabulary != VOCABULARY:
        metadata["vocabulary"] = asdict(model.vocabulary)
    write(path, model.state_dict(), metadata)


def load_model(path: Path | str = SHIPPED) -> MaskedLM:
    """Load a model, ready for inference; by default the one that ships with the series.

    Raises:
        CheckpointError: the file is missing, damaged, foreign, or does not fit its config.
    """
    tensors, metadata = read(path, "model")
    config, vocabulary = model_config(path, metadata), _vocabulary(path, metadata)
    if config.vocab_size < len(vocabulary):
        raise CheckpointError(
            f"{path} knows {config.vocab_size} symbols; a masked language model of its vocabulary "
            f"needs at least {len(vocabulary)}, [MASK] among them."
        )
    try:
        head = objective_named(str(metadata.get("objective", MaskedLM.objective))).model
    except ValueError as error:
        raise CheckpointError(f"{path} was trained in an unknown way. {error}") from None
    if head is CausalLM and config.direction != "left":
        raise CheckpointError(
            f"{path} holds no usable config, restore it: a causal model looks to the left only."
        )
    if sum(tensor.numel() for tensor in tensors.values()) != config.n_parameters:
        # Whatever the config asks for takes no memory there, but torch loads its compiler for it,
        # which takes nearly as long as loading torch: a file of the right size does without.
        with torch.device("meta"):
            check_layout(path, tensors, head(config, vocabulary).state_dict())
    model = head(config, vocabulary)
    load_state(path, model, tensors)
    return model.eval().requires_grad_(False)


def _vocabulary(path: Path | str, metadata: Mapping[str, Any]) -> Vocabulary:
    """Return what the ids of a model mean: the series' own characters, if nothing else is said."""
    if "vocabulary" not in metadata:
        return VOCABULARY
    try:
        kept = metadata["vocabulary"]
        ordinary, specials = kept["ordinary"], tuple(kept["specials"])
        return Vocabulary(ordinary if isinstance(ordinary, str) else tuple(ordinary), specials)
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(f"{path} holds no usable vocabulary; restore it.") from None


def provenance(path: Path | str = SHIPPED) -> dict[str, Any]:
    """Return what made a model: command, seed, corpus hash, steps, held-out loss."""
    _, metadata = read(path, "model")
    made_by = metadata.get("provenance")
    if not isinstance(made_by, dict):
        raise CheckpointError(f"{path} does not say what made it.")
    return made_by
