"""What tests in several folders share."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from notebooks import colab

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Let every test draw the same, whatever ran before it."""
    random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a process of its own: Sphinx and its warnings stay out of this one."""
    folder = tmp_path_factory.mktemp("site") / "built"
    result = subprocess.run(
        [sys.executable, "-m", "web.site", str(folder)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith(f"{folder}: ")
    assert len(result.stdout.splitlines()) == 2 + (not colab.at_home()), "no warnings"
    return folder
