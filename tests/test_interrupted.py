"""A run of the tests that is stopped leaves no server, kernel or browser behind."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from web.browser import NO_CHROMIUM, chromium

ROOT = Path(__file__).resolve().parents[1]
STARTED = ("jupyterlab", "chrom")
"""What a browser test starts, as its command names it."""
PATIENCE = 300


@pytest.mark.slow
@pytest.mark.skipif(not chromium(), reason=NO_CHROMIUM)
@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux tells a process of its parent.")
def test_a_run_that_is_stopped_leaves_nothing_behind() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "tests/browser/test_feel.py"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as run:
        started: set[psutil.Process] = set()
        deadline = time.monotonic() + PATIENCE
        while not all(any(name in each for each in commands(started)) for name in STARTED):
            assert run.poll() is None, "the run ended before it was stopped"
            assert time.monotonic() < deadline
            time.sleep(0.1)
            started |= set(psutil.Process(run.pid).children(recursive=True))
        run.terminate()  # to this process alone, as `kill` does, not to its group
        run.wait(PATIENCE)
    _, alive = psutil.wait_procs(started, timeout=PATIENCE)
    assert commands(set(alive)) == []


def commands(processes: set[psutil.Process]) -> list[str]:
    """Return the commands of those processes that still run."""
    running = []
    for each in processes:
        with suppress(psutil.NoSuchProcess):
            running += [" ".join(each.cmdline())]
    return [*filter(None, running)]  # a zombie has no command
