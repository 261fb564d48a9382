"""The style of everything here: linted, formatted, typed, the notebooks too."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "command",
    ["ruff check .", "ruff format --check .", pytest.param("mypy", marks=pytest.mark.long)],
    ids=["linted", "formatted", "typed"],
)
def test_style(command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        pytest.fail(f"{command}\n{result.stdout}", pytrace=False)
