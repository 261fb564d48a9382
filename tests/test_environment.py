"""pyproject.toml, requirements.lock and environment.yml describe one environment."""

import os
import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from rattler import MatchSpec

import run

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
LOCK = ROOT / "requirements.lock"

# What PyPI calls torch, conda-forge calls pytorch; its matplotlib adds the Qt window system to the
# library, matplotlib-base is what PyPI calls matplotlib; its playwright is the one for JavaScript.
# All others have one name.
CONDA_NAMES = {
    "torch": "pytorch",
    "matplotlib": "matplotlib-base",
    "playwright": "playwright-python",
}
# conda needs to be told of the two that every virtual environment has.
ONLY_CONDA = {"python", "pip"}

# What run.py promises, in uv's words, each with the oldest system that it promises.
PLATFORMS: dict[str, dict[str, str]] = {
    "x86_64-manylinux_2_28": {},
    "aarch64-manylinux_2_28": {},
    "x86_64-pc-windows-msvc": {},
    "aarch64-apple-darwin": {"MACOSX_DEPLOYMENT_TARGET": "14.0"},
}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def requirements(extra: str) -> list[Requirement]:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = project["dependencies"] + extras[extra]
    return [
        part
        for wanted in map(Requirement, lines)
        for part in (
            [Requirement(line) for name in wanted.extras for line in extras[name]]
            if wanted.name == "cloze"
            else [wanted]
        )
    ]


def locked() -> list[Requirement]:
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


def test_the_lock_has_one_version_within_its_range_for_each_requirement() -> None:
    pins = {pin.name: pin.specifier for pin in locked() if not pin.marker}
    for wanted in requirements("test"):
        [version] = pins[wanted.name]
        assert version.operator == "=="
        assert wanted.specifier.contains(version.version), wanted


@pytest.mark.parametrize("python", PYTHONS)
def test_no_package_is_locked_twice_for_one_python(python: str) -> None:
    here = {"python_version": python, "python_full_version": f"{python}.9"}
    names = [pin.name for pin in locked() if not pin.marker or pin.marker.evaluate(here)]
    assert len(set(names)) == len(names)


@pytest.mark.skipif("CLOZE_INDEX" not in os.environ, reason="asks the index: CLOZE_INDEX=1")
@pytest.mark.parametrize(("platform", "python"), list(product(PLATFORMS, PYTHONS)))
def test_the_lock_has_builds_for_every_platform(platform: str, python: str) -> None:
    assert resolved(platform, python, PLATFORMS[platform]).returncode == 0


def resolved(
    platform: str, python: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Let uv look for a build of every package in the lock."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:"]
    command += ["--python-platform", platform, "--python-version", python, "--no-deps"]
    return subprocess.run(
        [*command, str(LOCK)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_run_py_and_readme_promise_the_same() -> None:
    assert run.PLATFORMS.endswith(f"64-bit Python {PYTHONS[0]} to {PYTHONS[-1]}")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert run.PLATFORMS in readme


def conda_specs() -> list[str]:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    return [spec for spec in environment["dependencies"] if isinstance(spec, str)]


def pip_lines() -> list[str]:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    [lines] = [each["pip"] for each in environment["dependencies"] if isinstance(each, dict)]
    return list(lines)


def name_and_version(spec: str) -> tuple[str, str]:
    parsed = MatchSpec(spec, strict=True)
    assert parsed.name is not None
    return parsed.name.normalized, str(parsed.version or "")


def test_conda_has_what_pyproject_names_in_the_versions_of_the_lock() -> None:
    conda = dict(map(name_and_version, conda_specs()))
    pins = {pin.name: str(pin.specifier) for pin in locked()}
    exact = {CONDA_NAMES.get(r.name, r.name): pins[r.name] for r in requirements("test")}
    found = {name: pin for name, pin in conda.items() if name not in ONLY_CONDA}
    by_pip = [Requirement(line) for line in pip_lines() if not line.startswith("-")]
    assert found | {r.name: str(r.specifier) for r in by_pip} == exact
    assert conda.keys() >= ONLY_CONDA


def test_pytorch_is_the_build_for_the_cpu() -> None:
    [pytorch] = [spec for spec in conda_specs() if spec.startswith("pytorch ")]
    assert str(MatchSpec(pytorch, strict=True).build) == "cpu*"


def test_python_is_one_that_the_package_admits_and_binder_sees() -> None:
    [python] = [spec for spec in conda_specs() if spec.startswith("python")]
    # Binder's repo2docker looks for this form and falls back to a Python of its own.
    wanted = re.fullmatch(r"python=3\.(\d+)", python)
    assert wanted
    assert int(wanted[1]) >= 11
