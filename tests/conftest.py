"""What tests in several folders share."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from notebooks import colab
from tests.page.node import Node
from web.build import build_page

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Let every test draw the same, whatever ran before it."""
    random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page without Python, in a folder."""
    folder = tmp_path_factory.mktemp("page")
    build_page(folder)
    return folder


@pytest.fixture(scope="session")
def node(page_folder: Path) -> Iterator[Node]:
    node = Node(page_folder)
    yield node
    node.close()


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
