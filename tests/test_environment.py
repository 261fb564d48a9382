"""pyproject.toml, requirements.lock and environment.yml agree."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rattler import MatchSpec

import run
from cloze.teaching.environment import DISTRIBUTION

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
LOCK = ROOT / "requirements.lock"

# What PyPI calls torch, conda-forge calls pytorch; its matplotlib adds the Qt window system to the
# library, matplotlib-base is what PyPI calls matplotlib. All others have one name.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
# conda needs to be told of the two that every virtual environment has; nbval is for lecturers.
ONLY_CONDA = {"python", "pip", "nbval"}

# What run.py promises, in uv's words, each with the oldest system that it promises.
PLATFORMS: dict[str, dict[str, str]] = {
    "x86_64-manylinux_2_28": {},
    "aarch64-manylinux_2_28": {},
    "x86_64-pc-windows-msvc": {},
    "aarch64-apple-darwin": {"MACOSX_DEPLOYMENT_TARGET": "14.0"},
}
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def requirements(extra: str) -> list[Requirement]:
    """Return what an extra needs, with what the extras that it names need."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def needed(lines: list[str]) -> Iterator[Requirement]:
        for wanted in map(Requirement, lines):
            if wanted.name == DISTRIBUTION:
                for name in wanted.extras:
                    yield from needed(extras[name])
            else:
                yield wanted

    return [*needed(project["dependencies"] + extras[extra])]


def locked() -> list[Requirement]:
    """Read the lock's versions; the hashes follow each of them on lines that begin with a space."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return [Requirement(line.strip("\\ ")) for line in lines if line[0] not in "# "]


def test_the_lock_has_one_version_within_its_range_for_each_requirement() -> None:
    pins = {pin.name: pin.specifier for pin in locked() if not pin.marker}
    for wanted in requirements("test"):
        [version] = pins[wanted.name]
        assert version.operator == "=="
        assert wanted.specifier.contains(version.version), wanted


def test_every_package_has_hashes_and_the_lock_names_no_address() -> None:
    lock = LOCK.read_text(encoding="utf-8")
    assert "://" not in lock
    hashes = [run.locked(ROOT, pin.name).count("--hash=sha256:") for pin in locked()]
    assert len(hashes) > 150
    assert all(hashes)


def test_what_builds_the_package_is_locked() -> None:
    build = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {Requirement(line).name for line in build} < {pin.name for pin in locked()}


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


def test_conda_has_what_learners_need_in_the_ranges_of_pyproject() -> None:
    conda = {}
    for spec in conda_specs():
        parsed = MatchSpec(spec, strict=True)
        assert parsed.name is not None
        conda[parsed.name.normalized] = parsed
    wanted = {CONDA_NAMES.get(r.name, r.name): r for r in requirements("lecture")}
    assert conda.keys() == wanted.keys() | ONLY_CONDA
    for name, requirement in wanted.items():
        assert SpecifierSet(str(conda[name].version or "")) == requirement.specifier, name


def test_pytorch_is_the_build_for_the_cpu() -> None:
    [pytorch] = [spec for spec in conda_specs() if spec.startswith("pytorch ")]
    assert str(MatchSpec(pytorch, strict=True).build) == "cpu*"


def test_python_is_one_that_the_package_admits_and_binder_sees() -> None:
    [python] = [spec for spec in conda_specs() if spec.startswith("python")]
    # Binder's repo2docker looks for this form and falls back to a Python of its own.
    wanted = re.fullmatch(r"python=3\.(\d+)", python)
    assert wanted
    assert int(wanted[1]) >= 11
