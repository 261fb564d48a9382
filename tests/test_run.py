"""What run.py promises: it says what is wrong, leaves nothing half done and does nothing twice."""

import ast
import errno
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "run.py"
PLENTY = 10**12
PYPROJECT = '[project]\nname = "x"\ndependencies = ["numpy==2.4.6", "torch==2.13.0"]\n'


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
    return tmp_path


class Installer:
    """Stands in for venv and pip: notes what is asked for, fails where it is told to."""

    def __init__(self, run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.fail: dict[str, str] = {}
        self.run = run
        monkeypatch.setattr(run, "complaints_of", self.complaints_of)
        monkeypatch.setattr(run, "cpu_index_answers", lambda: True)
        monkeypatch.setattr(run, "answers", Path.exists)
        monkeypatch.setattr(run.sys, "platform", "linux")
        monkeypatch.setattr(run.platform, "machine", lambda: "x86_64")
        monkeypatch.setattr(sys, "prefix", "/somewhere/else")

    def complaints_of(
        self, command: Sequence[str], root: Path, *, show: bool = True
    ) -> tuple[int, str]:
        del show
        step = "venv" if "venv" in command else "torch" if command[-1] != ".[test]" else "cloze"
        self.calls.append(step)
        if step in self.fail:
            return 1, self.fail[step]
        if step == "venv":
            python: Path = self.run.venv_python(root)
            python.parent.mkdir(parents=True, exist_ok=True)
            python.touch()
        return 0, ""

    def asked(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def installer(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Installer:
    return Installer(run, monkeypatch)


# --- Python's version -------------------------------------------------------------------------


def test_an_old_python_is_named_and_sent_for_a_newer_one(run: ModuleType) -> None:
    problem = run.python_problem(3, 10)
    assert "3.11" in problem
    assert "Python 3.10" in problem
    assert "\n" not in problem


@pytest.mark.parametrize("minor", [11, 12, 14])
def test_a_new_python_is_welcome(run: ModuleType, minor: int) -> None:
    assert run.python_problem(3, minor) == ""


def test_an_old_python_can_read_the_file_and_stops_before_its_definitions() -> None:
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


def test_a_fresh_project_gets_everything_and_then_nothing(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]
    run.ensure(project)
    assert installer.asked() == []


def test_a_changed_pyproject_is_installed_into_the_same_venv(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    run.ensure(project)
    installer.asked()
    (project / "pyproject.toml").write_text(PYPROJECT.replace("2.4.6", "2.4.7"))
    run.ensure(project)
    assert installer.asked() == ["torch", "cloze"]


def test_a_changed_recipe_is_installed_again(
    run: ModuleType, project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.ensure(project)
    installer.asked()
    monkeypatch.setattr(run, "INSTALL_CLOZE", ("--upgrade", ".[test]"))
    run.ensure(project)
    assert installer.asked() == ["torch", "cloze"]


@pytest.mark.parametrize("first", ["", PYPROJECT + "# before\n"])
def test_a_broken_off_installation_is_made_afresh(
    run: ModuleType, project: Path, installer: Installer, first: str
) -> None:
    if first:  # broken off while bringing a finished environment up to date
        (project / "pyproject.toml").write_text(first)
        run.ensure(project)
        (project / "pyproject.toml").write_text(PYPROJECT)
        installer.asked()
    installer.fail = {"cloze": "ERROR: something"}
    with pytest.raises(run.SetupError, match="for the reason above"):
        run.ensure(project)
    installer.asked()
    installer.fail = {}
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]


def test_a_venv_is_remade_when_its_python_is_gone_or_another_one_asks(
    run: ModuleType, project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.ensure(project)
    installer.asked()
    run.venv_python(project).unlink()
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]


def test_a_python_that_is_gone_does_not_answer(run: ModuleType, tmp_path: Path) -> None:
    assert not run.answers(tmp_path / "python")


def test_a_moved_project_gets_a_venv_of_its_own(
    run: ModuleType, project: Path, tmp_path_factory: pytest.TempPathFactory, installer: Installer
) -> None:
    run.ensure(project)
    installer.asked()
    moved = tmp_path_factory.mktemp("elsewhere") / "project"
    project.rename(moved)
    run.ensure(moved)
    assert installer.asked() == ["venv", "torch", "cloze"]


def test_the_cpu_index_may_fail_but_a_full_disk_may_not(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    installer.fail = {"torch": "ERROR: No matching distribution found for torch==2.13.0"}
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]
    (project / "pyproject.toml").write_text(PYPROJECT + "# after\n")
    installer.fail = {"torch": "ERROR: [Errno 28] No space left on device"}
    with pytest.raises(run.SetupError, match="disk is full"):
        run.ensure(project)


def test_an_index_that_does_not_answer_is_not_asked(
    run: ModuleType, project: Path, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "cpu_index_answers", lambda: False)
    run.ensure(project)
    assert installer.asked() == ["venv", "cloze"]


def test_a_refused_connection_is_no_answer(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "CPU_INDEX", "http://127.0.0.1:9")
    assert not run.cpu_index_answers()


def test_torch_is_pinned_once_in_pyproject(run: ModuleType, project: Path) -> None:
    assert run.torch_pin(project) == "torch==2.13.0"
    assert run.torch_pin(SOURCE.parent).startswith("torch==")


def test_a_python_without_venv_is_told_what_to_install(
    run: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run.importlib.util, "find_spec", lambda name: name != "ensurepip" or None)
    with pytest.raises(run.SetupError, match="python3-venv"):
        run.ensure(project)


def test_the_venv_does_not_saw_off_its_own_branch(
    run: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(project / ".venv"))
    with pytest.raises(run.SetupError, match="deactivate"):
        run.ensure(project)


# --- failures in words ------------------------------------------------------------------------

REFUSED = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('"
NO_VERSION = "ERROR: Could not find a version that satisfies the requirement numpy==2.4.6"


@pytest.mark.parametrize(
    ("output", "free", "words"),
    [
        ("ERROR: [Errno 28] No space left on device", PLENTY, "disk is full"),
        ("OSError: [WinError 112] Es steht nicht genug Speicherplatz", PLENTY, "disk is full"),
        ("Error: Command '[…ensurepip…]' returned non-zero exit status 1.", 0, "disk is full"),
        ("Error: [Errno 13] Permission denied: '/x/.venv'", PLENTY, "cannot be written"),
        (f"{REFUSED}\n{NO_VERSION}", PLENTY, "check the network"),
        ("[Errno -3] Temporary failure in name resolution", PLENTY, "check the network"),
        ("Max retries exceeded with url: /simple/", PLENTY, "check the network"),
        (NO_VERSION, PLENTY, "no build for Python"),
        ("error: subprocess-exited-with-error", PLENTY, "for the reason above"),
    ],
)
def test_a_failed_installer_is_explained(
    run: ModuleType, tmp_path: Path, output: str, free: int, words: str
) -> None:
    sentence = run.explain(output, tmp_path, free)
    assert words in sentence
    assert "\n" not in sentence


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "Stopped"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, "disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 1, "refused"),
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


@pytest.mark.parametrize(
    ("arguments", "port"),
    [
        (["--no-browser", "--port", "9999"], 9999),
        (["--port=9999"], 9999),
        (["--ServerApp.port=9999", "--no-browser"], 9999),
        (["--no-browser"], None),
        (["--port"], None),
        (["--port", "many"], None),
        (["--port", "99999"], None),
    ],
)
def test_the_given_port_is_found(run: ModuleType, arguments: list[str], port: int | None) -> None:
    assert run.given_port(arguments) == port


def test_a_used_port_is_refused_before_anything_is_installed(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "ensure", raising(AssertionError("too late")))
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        assert run.main(["lab", f"--port={port}"], project) == 1
    assert f"Port {port} is in use" in capsys.readouterr().err
    assert not run.port_taken(port)


def test_the_lab_command(run: ModuleType, project: Path) -> None:
    command = run.lab_command(project, ["--no-browser", "--port", "9999"])
    assert command[:3] == [str(run.venv_python(project)), "-m", "jupyterlab"]
    assert command[-3:] == ["--no-browser", "--port", "9999"]
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in command
    assert "--LabApp.extension_manager=readonly" in command
    assert "--ServerApp.port_retries=0" in command
    assert "--ServerApp.port_retries=0" not in run.lab_command(project, [])


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (["test", "-x", "tests"], ["-m", "pytest", "-x", "tests"]),
        (["notebooks", "a.ipynb"], ["notebooks/execute.py", "a.ipynb"]),
    ],
)
def test_the_other_commands_run_in_the_venv_and_pass_on_the_exit_code(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    started: list[str],
) -> None:
    commands = []

    def note(command: list[str], root: Path) -> int:
        assert root == project
        commands.append(command)
        return 5

    monkeypatch.setattr(run, "ensure", lambda _: None)
    monkeypatch.setattr(run, "run", note)
    assert run.main(arguments, project) == 5
    assert commands == [[str(run.venv_python(project)), *started]]


def test_a_childs_exit_code_is_passed_on(run: ModuleType, tmp_path: Path) -> None:
    assert run.run([sys.executable, "-c", "raise SystemExit(7)"], tmp_path) == 7


def test_an_installers_complaints_are_kept_and_shown(
    run: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", "import sys; print('dear', file=sys.stderr); sys.exit(3)"]
    assert run.complaints_of(command, tmp_path) == (3, "dear\n")
    assert capsys.readouterr().err == "dear\n"
    assert run.complaints_of(command, tmp_path, show=False) == (3, "dear\n")
    assert capsys.readouterr().err == ""


CTRL_C = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import run
child = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)"]
run.lab_command = lambda root, arguments: child
run.ensure = lambda root: sys.argv[3] == "install" and run.complaints_of(child, root)
sys.exit(run.main(["lab"], Path(sys.argv[2])))
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal to a process group")
@pytest.mark.parametrize("stage", ["install", "lab"])
def test_ctrl_c_ends_with_130_and_no_traceback_of_ours(project: Path, stage: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CTRL_C, str(SOURCE.parent), str(project), stage],
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
    assert process.returncode == 130
    assert "run.py" not in complaints
    if stage == "install":
        assert complaints.endswith("Stopped. The same command takes it up again.\n")
