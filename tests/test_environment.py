"""pyproject.toml, requirements.lock, environment.yml and the workflows agree."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import run

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

# What PyPI calls torch, conda-forge calls pytorch; its matplotlib adds the Qt window system to the
# library, matplotlib-base is what PyPI calls matplotlib. All others have one name.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
# conda needs to be told of the two that every virtual environment has; nbval is for lecturers.
ONLY_CONDA = {"python=3.12", "pip", "nbval"}


def requirements(extra: str) -> list[Requirement]:
    """Return what an extra needs, with what the extras that it names need."""
    project = PYPROJECT["project"]

    def needed(lines: list[str]) -> Iterator[Requirement]:
        for requirement in map(Requirement, lines):
            if requirement.name == project["name"]:
                for name in requirement.extras:
                    yield from needed(project["optional-dependencies"][name])
            else:
                yield requirement

    return [*needed(project["dependencies"] + project["optional-dependencies"][extra])]


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_lock_has_a_version_and_hashes_for_each_requirement() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    locked = dict(re.findall(r"^([\w.-]+)==(\S+) .*\\\n    --hash=sha256:", lock, re.MULTILINE))
    assert len(locked) == len(set(re.findall(r"^[\w.-]+(?===)", lock, re.MULTILINE)))
    builds = map(Requirement, PYPROJECT["build-system"]["requires"])
    for requirement in [*requirements("test"), *builds]:
        assert requirement.specifier.contains(locked[requirement.name]), requirement


def test_conda_has_what_learners_need_in_the_ranges_of_pyproject() -> None:
    listed = read(ROOT / "environment.yml")["dependencies"]
    lines = [line.split() for line in listed if isinstance(line, str)]
    conda = {name: SpecifierSet(versions[0] if versions else "") for name, *versions in lines}
    wanted = {CONDA_NAMES.get(r.name, r.name): r.specifier for r in requirements("lecture")}
    assert conda == wanted | {name: SpecifierSet() for name in ONLY_CONDA}
    # Other builds of PyTorch bring several GB of CUDA, and Binder reads Python in this form alone.
    assert ["pytorch", ">=2.9,<3", "cpu*"] in lines
    assert ["python=3.12"] in lines


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_pins_its_actions_and_names_commands_of_run_py(path: Path) -> None:
    jobs = read(path)["jobs"].values()
    used = {step["uses"] for job in jobs for step in job["steps"] if "uses" in step}
    assert all(re.fullmatch(r"(actions|pypa)/[\w-]+@[0-9a-f]{40}", action) for action in used)
    commands = re.findall(r"python run\.py (\w+)", path.read_text("utf-8"))
    assert {*commands} <= {*run.COMMANDS}


def test_the_tests_run_on_every_python_that_the_readme_promises() -> None:
    pythons = read(ROOT / ".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    promise = f"64-bit Python {pythons['python'][0]} to {pythons['python'][-1]}"
    assert promise in " ".join((ROOT / "README.md").read_text("utf-8").split())
