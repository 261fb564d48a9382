"""The environment check says in words what is wrong; each failure is simulated."""

from __future__ import annotations

import importlib
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from packaging.requirements import Requirement

from cloze.checkpoint import CheckpointError
from cloze.teaching import environment
from cloze.teaching.environment import EnvironmentReport, check_environment

GOOD = """\
Everything is in place.
  ok  Python is 3.11 or newer.
  ok  All packages have the versions the series was made with.
  ok  torch computes with one thread.
  ok  The trained model loads.
  ok  The corpus is there."""


def told(report: EnvironmentReport) -> str:
    """Return the one sentence on what is wrong."""
    assert not report.fine
    first, sentence, *rest = repr(report).splitlines()
    assert first == "1 thing needs your attention:"
    assert sentence.startswith("  !!  ")
    assert sentence.endswith(".")
    assert all(line.startswith("  ok  ") for line in rest)
    return sentence


def test_nothing_wrong_reads_the_same_everywhere() -> None:
    report = check_environment()
    assert repr(report) == GOOD
    assert report.fine


def dependencies() -> list[str]:
    project = tomllib.loads((environment.PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    names: list[str] = project["dependencies"]
    return names


def test_in_the_project_the_versions_are_those_of_its_lock() -> None:
    lock = (environment.PROJECT / "requirements.lock").read_text("utf-8").splitlines()
    packages = environment.required_packages()
    assert packages.keys() == {Requirement(line).name for line in dependencies()}
    assert all(f"{name}{version} \\" in lock for name, version in packages.items())


def test_a_package_without_its_project_is_held_to_the_ranges_of_its_metadata(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    extra = 'pytest>=9; extra == "test"'
    requires = [*dependencies(), extra]
    ranges = {r.name: str(r.specifier) for r in map(Requirement, dependencies())}
    monkeypatch.setattr(metadata, "requires", lambda _: requires)
    monkeypatch.setattr(environment, "PROJECT", tmp_path)
    assert environment.required_packages() == ranges
    assert check_environment().fine
    pretend(monkeypatch, "numpy", "1.26.0")
    assert "numpy<3,>=2" in told(check_environment())


def test_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    sentence = told(check_environment())
    assert "This is Python 3.9" in sentence
    assert "3.11 or newer" in sentence
    assert "run.py lab" in sentence


def pretend(monkeypatch: pytest.MonkeyPatch, package: str, version: str | None) -> None:
    """Have one package installed in another version, or not at all."""
    true_version = metadata.version

    def pretended(name: str) -> str:
        if name != package:
            return true_version(name)
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", pretended)


def test_torch_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    true_import = importlib.import_module

    def broken(name: str) -> Any:
        if name.startswith("packaging."):
            return true_import(name)
        raise OSError("libtorch.so: file too short\nand more")

    monkeypatch.setattr(importlib, "import_module", broken)
    report = check_environment()
    assert not report.fine
    assert "3 things need your attention" in repr(report)
    assert "torch does not load (libtorch.so: file too short)" in repr(report)
    assert "and more" not in repr(report)


def test_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    sentence = told(check_environment())
    assert "4 threads" in sentence
    assert "torch.set_num_threads(1)" in sentence


def test_damaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_model() -> None:
        raise CheckpointError("masked.safetensors is damaged or not a safetensors file")

    fake = SimpleNamespace(load_model=load_model)
    true_import = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda n: fake if n == "cloze.checkpoint" else true_import(n)
    )
    sentence = told(check_environment())
    assert "is damaged" in sentence
    assert "git checkout" in sentence
