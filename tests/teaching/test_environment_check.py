"""The environment check says in words what is wrong; each failure is simulated."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest
import torch

import cloze.checkpoint
from cloze.checkpoint import CheckpointError
from cloze.teaching.environment import check_environment


def problem() -> str:
    """Return the one sentence on what is wrong."""
    first, sentence = repr(check_environment()).splitlines()
    assert first == "1 thing needs your attention:"
    assert sentence.endswith(".")
    return sentence


def test_nothing_wrong_reads_the_same_everywhere() -> None:
    assert repr(check_environment()).startswith("Everything is in place: the packages,")


@pytest.mark.parametrize(
    ("version", "words"),
    [("1.26.0", "numpy 1.26.0 is installed, and the series needs numpy <3,>=2"), (None, "missing")],
)
def test_a_package_that_is_too_old_or_missing(
    monkeypatch: pytest.MonkeyPatch, version: str | None, words: str
) -> None:
    true_version = metadata.version

    def pretended(name: str) -> str:
        if name == "numpy" and version is None:
            raise metadata.PackageNotFoundError(name)
        return version if name == "numpy" and version else true_version(name)

    monkeypatch.setattr(metadata, "version", pretended)
    assert words in problem()


def test_torch_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "torch does not load (import of torch halted" in repr(check_environment())


def test_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    assert "4 threads" in problem()


def test_damaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_model() -> None:
        raise CheckpointError("masked.safetensors is damaged.")

    monkeypatch.setattr(cloze.checkpoint, "load_model", load_model)
    assert "masked.safetensors is damaged; a fresh copy of the folder data/" in problem()
