"""What run.py promises: it says what is wrong, leaves nothing half done and does nothing twice."""

import ast
import errno
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "run.py"
PYPROJECT = '[project]\nname = "x"\ndependencies = ["numpy>=2", "torch>=2.13"]\n'
LOCK = """\
# made by uv
numpy==2.4.6 \\
    --hash=sha256:00
torch==2.13.0 ; sys_platform != 'x' \\
    --hash=sha256:01
uv==0.13.9 \\
    --hash=sha256:02 \\
    --hash=sha256:03
voila==0.5.13
"""
OFFLINE = "error: error sending request for url (https://pypi.org/simple/voila/)"


@pytest.fixture
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_under_test", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "requirements.lock").write_text(LOCK)
    return tmp_path


def change(project: Path) -> None:
    """Let the list of packages change, as a `git pull` does."""
    lock = project / "requirements.lock"
    lock.write_text(lock.read_text() + "tqdm==4.70.1\n")


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Installer:
    """Stands in for venv, pip and uv: notes what is asked for, fails where it is told to."""

    def __init__(self, run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.fail: dict[str, str | BaseException] = {}
        self.run = run
        monkeypatch.setattr(run, "output", self.output)
        monkeypatch.setattr(run.sys, "platform", "linux")

    def output(
        self, command: Sequence[str], root: Path, settings: Mapping[str, str], *, show: bool = True
    ) -> tuple[int, str]:
        del settings, show
        steps = {
            "venv": "venv",
            "--requirement": "uv",
            "--dry-run": "ask",
            "--torch-backend": "cpu",
            "--editable": command[-1],
            "-c": "warm",
        }
        step = next((steps[word] for word in reversed(command) if word in steps), "torch")
        self.calls.append(step)
        python: Path = self.run.venv_python(root)
        site = root / ".venv/lib/python3/site-packages"
        if step == "venv":
            python.parent.mkdir(parents=True)
            python.symlink_to(shutil.which("true") or sys.executable)  # it is only asked if it runs
            site.mkdir(parents=True)
        if step == "uv":
            assert Path(command[-1]).read_text() == UV
        failure = self.fail.get(step, "")
        if isinstance(failure, BaseException):
            raise failure
        if step in ("torch", "cpu", command[-1]) and not failure:
            (site / step.strip(".[]")).mkdir(exist_ok=True)
        return (1, failure) if failure else (0, "")

    def asked(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


UV = "uv==0.13.9 \\\n    --hash=sha256:02 \\\n    --hash=sha256:03"
UPDATE = ["uv", "ask", "cpu", ".[lecture]", "warm"]
LEARNER = ["venv", *UPDATE]
EVERYTHING = ["uv", "ask", "cpu", ".[test]", "warm"]


@pytest.fixture
def installer(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Installer:
    return Installer(run, monkeypatch)


# --- Python's version -------------------------------------------------------------------------


def test_an_old_python_can_read_the_file_and_stops_before_its_definitions(run: ModuleType) -> None:
    assert run.python_problem(3, 11) == ""
    assert run.python_problem(3, 10).startswith("Cloze needs Python 3.11 or newer")
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 7))
    before = []
    for statement in tree.body:
        if isinstance(statement, ast.If):
            break
        before.append(type(statement).__name__)
    # The docstring, the imports and the check: nothing whose annotations would need a new Python.
    assert set(before) <= {"Expr", "Import", "ImportFrom", "FunctionDef"}
    assert before.count("FunctionDef") == 1


# --- the environment --------------------------------------------------------------------------


def test_a_learner_gets_less_and_a_test_adds_the_rest(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    run.ensure(project, "lecture")
    assert installer.asked() == []
    run.ensure(project, "own")
    assert ".[own]" in installer.asked()
    run.ensure(project, "lecture")
    assert installer.asked() == []
    run.ensure(project, "test")
    assert installer.asked() == EVERYTHING
    run.ensure(project, "own")
    run.ensure(project, "test")
    assert installer.asked() == []
    change(project)  # and what was added stays
    run.ensure(project, "lecture")
    assert installer.asked() == EVERYTHING


@pytest.mark.parametrize("file", ["pyproject.toml", "requirements.lock"])
def test_a_changed_list_is_installed_into_the_same_environment(
    run: ModuleType, project: Path, installer: Installer, file: str
) -> None:
    run.ensure(project, "lecture")
    installer.asked()
    (project / file).write_text((project / file).read_text().replace("2.13", "2.14"))
    run.ensure(project, "lecture")
    assert installer.asked() == UPDATE
    run.ensure(project, "lecture")
    assert installer.asked() == []


@pytest.mark.parametrize(
    ("step", "failure", "reason"),
    [
        ("uv", OFFLINE, "check the network"),
        (".[lecture]", OFFLINE, "check the network"),
        (".[lecture]", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "disk is full"),
    ],
)
def test_an_environment_that_works_is_started_when_it_cannot_be_brought_up_to_date(
    run: ModuleType,
    project: Path,
    installer: Installer,
    capsys: pytest.CaptureFixture[str],
    step: str,
    failure: str | BaseException,
    reason: str,
) -> None:
    run.ensure(project, "lecture")
    change(project)
    installer.fail = {step: failure}
    for _ in range(2):
        run.ensure(project, "lecture")
        assert reason in capsys.readouterr().out
    installer.fail = {}
    installer.asked()
    run.ensure(project, "lecture")
    assert installer.asked() == UPDATE
    installer.fail = {step: failure, ".[test]": failure}
    with pytest.raises((run.SetupError, OSError)):  # but not when what is asked for is not there
        run.ensure(project, "test")
    installer.asked()
    run.ensure(project, "lecture")
    assert installer.asked() == []


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("step", ["venv", ".[lecture]", "warm"])
def test_an_installation_that_was_killed_is_made_anew(
    run: ModuleType, project: Path, installer: Installer, step: str, changed: bool
) -> None:
    if changed:
        run.ensure(project, "lecture")
        run.venv_python(project).unlink()
    installer.fail = {step: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        run.ensure(project, "lecture")
    installer.asked()
    installer.fail = {"warm": "ImportError: libgomp.so.1"}
    with pytest.raises(run.SetupError, match="for the reason above"):
        run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    installer.fail = {}
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER


def test_two_starts_do_not_install_at_once(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    with run.alone(project), pytest.raises(run.SetupError, match="still installing"):
        run.ensure(project, "lecture")
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER


def test_what_run_py_did_not_make_is_refused_and_left(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    (project / ".venv").mkdir()
    (project / ".venv" / "pyvenv.cfg").touch()
    before = tree(project)
    with pytest.raises(run.SetupError, match="has not made"):
        run.ensure(project, "lecture")
    assert installer.asked() == []
    assert tree(project) == before


# --- when it is made afresh -------------------------------------------------------------------


def test_a_venv_is_remade_when_half_of_it_is_gone_or_its_python_or_it_was_moved(
    run: ModuleType, project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.ensure(project, "lecture")
    installer.asked()
    (project / ".venv" / run.STAMP).write_text("Python 3.11, by uv\ntest")  # of an older run.py
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    shutil.rmtree(project / ".venv/lib/python3/site-packages/cpu")
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    run.venv_python(project).unlink()
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    run.ensure(project, "lecture")
    assert installer.asked() == LEARNER
    moved = project.rename(project.with_name("moved"))
    run.ensure(moved, "lecture")
    assert installer.asked() == LEARNER


def test_pytorch_comes_from_another_index_where_its_own_does_not_answer(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    installer.fail = {"ask": OFFLINE}
    run.ensure(project, "lecture")
    assert installer.asked() == ["venv", "uv", "ask", "torch", ".[lecture]", "warm"]


PIP_LISTS = """\
:env:.find-links='/a/wheels /b'
global.cert='/etc/ca.crt'
global.constraint='/etc/constraints.txt'
global.find-links='/c'
global.index-url='https://one.example/simple'
install.index-url='https://two.example/simple'
site.extra-index-url='no'
global.extra-index-url='\\nhttps://three.example/simple\\nhttps://four.example/simple'
"""


def test_what_pip_is_told_of_indexes_is_told_to_uv(
    run: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/mine.crt")
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_SYSTEM_CERTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("UV_INDEX_STRATEGY", raising=False)
    listed = subprocess.CompletedProcess([], 0, PIP_LISTS)
    monkeypatch.setattr(run.subprocess, "run", lambda *_, **__: listed)
    assert run.uv_settings(project) == {
        "SSL_CERT_FILE": "/mine.crt",
        "UV_DEFAULT_INDEX": "https://two.example/simple",
        "UV_FIND_LINKS": "/a/wheels,/b",
        "UV_INDEX": "https://three.example/simple https://four.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_SYSTEM_CERTS": "1",
    }


# --- failures in words ------------------------------------------------------------------------

REFUSED = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('"
NO_VERSION = "ERROR: Could not find a version that satisfies the requirement numpy==2.4.6"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("error: Es steht nicht genug Speicherplatz zur Verfügung. (os error 112)", "disk is full"),
        ("because ensurepip is not available.  On Debian/Ubuntu systems,", "python3-venv"),
        ("  cause: Hash mismatch for `numpy==2.4.6`", "another file than the one in the lock"),
        (f"{REFUSED}\n{NO_VERSION}", "check the network"),
        ("  × No solution found when resolving dependencies:", "has no build for this Python"),
        ("error: Failed to build `x`", "for the reason above"),
    ],
)
def test_a_failed_installer_is_explained(
    run: ModuleType, project: Path, installer: Installer, said: str, words: str
) -> None:
    installer.fail = {"venv": said}
    with pytest.raises(run.SetupError) as refused:
        run.carry_out(["venv"], project, {})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_lock_is_named(
    run: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.lock").unlink()
    assert run.main(["lab"], project) == 1
    assert "requirements.lock is missing: get the whole project" in capsys.readouterr().err


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "Stopped"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "cannot be written"),
        (OSError(errno.EIO, os.strerror(errno.EIO)), 1, "refused"),
    ],
)
def test_no_traceback(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    words: str,
) -> None:
    monkeypatch.setattr(run, "ensure", raising(error))
    assert run.main(["test"], project) == code
    assert words in capsys.readouterr().err


# --- the commands -----------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["frobnicate"], 2), (["-h"], 0)])
def test_usage(
    run: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert run.main(arguments) == code
    printed = capsys.readouterr()
    assert "run.py lab" in (printed.err if code else printed.out)


def test_a_used_port_is_refused_before_anything_is_installed(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "ensure", raising(AssertionError("too late")))
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        for command in ("lab", "lecture"):
            assert run.main([command, f"--port={port}"], project) == 1
            assert f"Port {port} is in use" in capsys.readouterr().err
    assert run.port_problem(["--port", str(port)]) == run.port_problem([]) == ""
    assert run.main(["lab", "--port=9999999"], project) == 1
    assert "There is no port 9999999" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "extra", "started"),
    [
        (["lab", "--port", "9"], "lecture", ["-m", "cloze", "lab", "notebooks", "--port", "9"]),
        (["test", "-x", "tests"], "test", ["-m", "pytest", "-x", "tests"]),
    ],
)
def test_a_command_gets_what_it_needs_and_passes_on_the_exit_code(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    extra: str,
    started: list[str],
) -> None:
    installed, commands = [], []

    def note(command: list[str], root: Path) -> int:
        assert root == project
        commands.append(command)
        return 5

    monkeypatch.setattr(run, "ensure", lambda _, extra: installed.append(extra))
    monkeypatch.setattr(run, "start", note)
    assert run.main(arguments, project) == 5
    assert installed == [extra]
    assert commands == [[str(run.venv_python(project)), *started]]


STARTED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import run
child = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"]
run.venv_python = lambda root: Path(sys.executable)
run.COMMANDS["lab"] = ("lecture", child[1:])
run.ensure = lambda root, extra: sys.argv[3] == "install" and run.output(child, root, {})
sys.exit(run.main(["lab"], Path(sys.argv[2])))
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal to a process group")
@pytest.mark.parametrize("stage", ["install", "lab"])
def test_ctrl_c_ends_without_a_traceback_of_ours(project: Path, stage: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTED, str(SOURCE.parent), str(project), stage],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        _, complaints = process.communicate(timeout=10)
    assert process.returncode in (130, -signal.SIGINT)
    assert "run.py" not in complaints
    if stage == "install":
        assert complaints.endswith("Stopped. The same command takes it up again.\n")
