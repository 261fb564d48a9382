"""How the tests share the cores: what must stay together does, and one file needs no workers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def conftest(pytestconfig: pytest.Config) -> Any:
    return pytestconfig.pluginmanager.getplugin(str(ROOT / "conftest.py"))


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("notebooks/a.ipynb::Cell 0", "notebooks/a.ipynb::Cell 1", True),
        ("notebooks/a.ipynb::Cell 0", "notebooks/b.ipynb::Cell 0", False),
        ("tests/browser/test_a.py::test_x", "tests/browser/test_b.py::test_y[1]", True),
        ("tests/core/test_distributed.py::test_x", "tests/core/test_distributed.py::test_y", True),
        ("tests/test_a.py::test_x[1]", "tests/test_a.py::test_x[2]", False),
    ],
)
def test_what_shares_a_process_goes_to_one_worker(
    conftest: Any, one: str, other: str, together: bool
) -> None:
    scheduling = conftest.Scheduling.__new__(conftest.Scheduling)
    assert (scheduling._split_scope(one) == scheduling._split_scope(other)) is together


@pytest.mark.parametrize(
    ("arguments", "cores", "workers"),
    [
        (["tests", "notebooks"], 1, 0),
        (["tests", "notebooks"], 2, 2),
        (["tests", "notebooks"], 64, 4),
        (["conftest.py::test_x", "run.py"], 2, 0),
        (["run.py", "notebooks"], 2, 2),
    ],
)
def test_there_is_a_worker_for_each_core_unless_files_are_named(
    conftest: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str], cores: int, workers: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    config = SimpleNamespace(args=[str(ROOT / argument) for argument in arguments])
    assert conftest.pytest_xdist_auto_num_workers(config) == workers
