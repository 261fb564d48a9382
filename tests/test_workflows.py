"""The workflows on GitHub, which cannot run here: what can be read of them is as it should be.

The workflow ``tests.yml`` checks their syntax with actionlint.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

import run
from tests.test_environment import PYTHONS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MORE = {
    ("pages", "deploy"): {"pages": "write", "id-token": "write"},
    ("release", "publish"): {"id-token": "write"},
}
"""The jobs that may do more than read the repository."""


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_pins_its_actions_and_may_do_little(path: Path) -> None:
    workflow = read(path.stem)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    pinned = re.findall(
        r"uses: ((?:actions|pypa)/[\w-]+@[0-9a-f]{40}) # v\d+\.\d+\.\d+\n", path.read_text("utf-8")
    )
    assert pinned == used
    reading: list[dict[str, str]] = [{}, {"contents": "read"}]
    assert workflow["permissions"] in reading
    for name, job in workflow["jobs"].items():
        granted = job.get("permissions", {})
        assert granted in reading or granted == MORE[path.stem, name]


def test_the_tests_run_on_every_python() -> None:
    assert read("tests")["jobs"]["test"]["strategy"]["matrix"]["python"] == PYTHONS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_asks_of_run_py_is_there(path: Path) -> None:
    for command in re.findall(r"python run\.py (\w+)", path.read_text("utf-8")):
        assert f"python run.py {command} " in run.USAGE
