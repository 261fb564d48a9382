"""What holds for all tests: how they share the processor's cores, settings, and files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# A shell has what it starts in the background ignore Ctrl-C, nohup the closing of the terminal, and
# some tests do both.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# How long an example takes says something about the other worker, too. A test that fails does so
# whenever it runs, so nothing is drawn anew.
settings.register_profile(
    "cloze", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cloze")

# What Hugging Face's libraries load lies in a folder, and nothing asks a network for more.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

MOST_WORKERS = 4
"""Each needs up to a gigabyte with its kernels, and the longest notebook bounds what more gain."""

TOGETHER = re.compile(
    r".*\.ipynb::|tests/(browser|page)/|.*/test_(distributed|export)\.py::|.*/test_style\.py::test_javascript"
)
"""How the tests begin that one worker takes in a row: they share a kernel, a browser, Node, a
torchrun, what npm installs, or a library that takes seconds to import. So do the tests of the site,
which is built once.

All others go, one by one, to the next free worker.
"""


LONGEST = re.compile(r"notebooks/(04_training|06_a_small_world)\.ipynb::")
"""The notebooks that train longest: two workers begin with one each, whatever comes later."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """What LoadScopeScheduling does for the tests of a module, done for those that are together."""

    def _split_scope(self, nodeid: str) -> str:
        if "/test_site.py::" in nodeid:
            return "site"
        together = TOGETHER.match(nodeid)
        return together[0] if together else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep together what shares something dear."""
    return Scheduling(config, log)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Take a worker for each core, and none for a single core or when files are named.

    Every worker imports and collects all tests anew, which takes longer than most files do.
    """
    if all(Path(argument.partition("::")[0]).is_file() for argument in config.args):
        return 0
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return min(len(allowed), MOST_WORKERS) if len(allowed) > 1 else 0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer what takes too long for every change."""
    parser.addoption(
        "--slow", action="store_true", help="also what measures the machine or builds for others"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that quick tests fill the gaps; skip the slow."""
    items.sort(
        key=lambda item: (
            not LONGEST.search(item.nodeid),
            item.get_closest_marker("long") is None,
        )
    )
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip("slow: python run.py test --slow"))


BEFORE, LEFT = pytest.StashKey[set[str]](), pytest.StashKey[list[str]]()


def git_status(folder: Path) -> set[str]:
    """Return the lines of ``git status``; none without git, and none in a source archive."""
    command = ["git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "."]
    try:
        said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return set()
    return set(said.stdout.splitlines())


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember how the checkout was before the first test."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[BEFORE] = git_status(session.config.rootpath)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hold the tests to leaving the checkout as it was.

    Nothing tells a file that a test wrote from one that was edited meanwhile. So this fails where
    nobody edits: in CI, which all such services name in the environment.
    """
    if not hasattr(session.config, "workerinput"):
        left = git_status(session.config.rootpath) ^ session.config.stash[BEFORE]
        session.config.stash[LEFT] = sorted(left)
        if left and "CI" in os.environ:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say at the very end what changed in the checkout, and if the browser tests did not run."""
    left = config.stash.get(LEFT, [])
    if left:
        terminalreporter.section("changed while the tests ran", red="CI" in os.environ, bold=True)
        terminalreporter.write_line("If it was not you, a test did; none may:")
        terminalreporter.write_line("\n".join(left))
    reasons = {str(report.longrepr[2]) for report in terminalreporter.getreports("skipped")}
    for reason in sorted(reason for reason in reasons if "There is no Chromium" in reason):
        terminalreporter.section("browser tests skipped", yellow=True)
        terminalreporter.write_line(reason.removeprefix("Skipped: "))
