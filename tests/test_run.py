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
PYPROJECT = '[project]\nname = "x"\ndependencies = ["numpy>=2", "torch>=2.13"]\n'
LOCK = "# made by uv\nnumpy==2.4.6\ntorch==2.13.0 ; sys_platform != 'x'\n"
OFFLINE = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('"


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
    """Stands in for venv and pip: notes what is asked for, fails where it is told to."""

    def __init__(self, run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.fail: dict[str, str | BaseException] = {}
        self.run = run
        monkeypatch.setattr(run, "complaints_of", self.complaints_of)
        monkeypatch.setattr(run, "cpu_index_answers", lambda: True)
        monkeypatch.setattr(run.sys, "platform", "linux")

    def complaints_of(
        self, command: Sequence[str], root: Path, *, show: bool = True
    ) -> tuple[int, str]:
        del show
        steps = {"venv": "venv", "--dry-run": "ask", "--editable": "cloze"}
        step = next((steps[word] for word in command if word in steps), "torch")
        self.calls.append(step)
        if step == "venv":
            python: Path = self.run.venv_python(root)
            python.parent.mkdir(parents=True)
            python.symlink_to(sys.executable)
            (root / ".venv" / "pyvenv.cfg").touch()
        if step == "cloze":
            (root / ".venv" / "half-copied").touch()
        failure = self.fail.get(step, "")
        if isinstance(failure, BaseException):
            raise failure
        return (1, failure) if failure else (0, "")

    def asked(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def installer(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Installer:
    return Installer(run, monkeypatch)


# --- Python's version -------------------------------------------------------------------------


def test_an_old_python_is_named_and_sent_for_a_newer_one(run: ModuleType) -> None:
    assert run.python_problem(3, 11) == ""
    problem = run.python_problem(3, 10)
    assert "3.11" in problem
    assert "Python 3.10" in problem
    assert "\n" not in problem


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


@pytest.mark.parametrize("file", ["pyproject.toml", "requirements.lock"])
def test_a_changed_list_is_installed_into_a_copy(
    run: ModuleType, project: Path, installer: Installer, file: str
) -> None:
    run.ensure(project)
    installer.asked()
    (project / ".venv" / "kept").touch()
    (project / file).write_text((project / file).read_text().replace("2.13", "2.14"))
    run.ensure(project)
    assert installer.asked() == ["ask", "torch", "cloze"]
    assert "kept" in tree(project / ".venv")
    run.ensure(project)
    assert installer.asked() == []


@pytest.mark.parametrize(
    ("step", "failure", "reason"),
    [
        ("ask", OFFLINE, "No package index answers"),
        ("cloze", OFFLINE, "check the network"),
        ("torch", "ERROR: [Errno 28] No space left on device", "disk is full"),
        ("cloze", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "disk is full"),
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
    run.ensure(project)
    before = tree(project)
    change(project)
    installer.fail = {step: failure}
    for _ in range(2):
        run.ensure(project)
        assert reason in capsys.readouterr().out
        assert tree(project) == before
    installer.fail = {}
    installer.asked()
    run.ensure(project)
    assert installer.asked() == ["ask", "torch", "cloze"]


@pytest.mark.parametrize("step", ["venv", "torch", "cloze"])
def test_a_first_installation_that_breaks_off_leaves_nothing(
    run: ModuleType, project: Path, installer: Installer, step: str
) -> None:
    before = tree(project)
    installer.fail = {step: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        run.ensure(project)
    assert tree(project) == before
    installer.asked()
    installer.fail = {"cloze": "ERROR: something"}
    with pytest.raises(run.SetupError, match="for the reason above"):
        run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]
    assert tree(project) == before


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import run
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "copy":
    shutil.copytree = kill
elif sys.argv[3] == "clean":
    shutil.rmtree = kill
run.cpu_index_answers = lambda: ""
def complaints_of(command, root, *, show=True):
    if sys.argv[3] == "install" and "--editable" in command:
        kill()
    return 0, ""
run.complaints_of = complaints_of
run.ensure(Path(sys.argv[2]))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("moment", ["copy", "install", "clean"])
def test_the_start_after_a_killed_one_finds_one_whole_environment(
    run: ModuleType, project: Path, installer: Installer, moment: str
) -> None:
    run.ensure(project)
    before = tree(project)
    change(project)
    command = [sys.executable, "-c", KILLED, str(SOURCE.parent), str(project), moment]
    assert subprocess.run(command, check=False, timeout=30).returncode == -signal.SIGKILL
    assert (project / ".venv.work").exists()
    installer.asked()
    installer.fail = {"ask": OFFLINE}
    run.ensure(project)
    assert tree(project) == before
    assert installer.asked() == ([] if moment == "clean" else ["ask"])


def test_two_starts_do_not_install_at_once(
    run: ModuleType, project: Path, installer: Installer
) -> None:
    with run.alone(project), pytest.raises(run.SetupError, match="still installing"):
        run.ensure(project)
    run.ensure(project)
    assert installer.asked() == ["venv", "torch", "cloze"]


# --- what is left as it is --------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["diary.txt", "pyvenv.cfg"])
def test_what_run_py_did_not_make_is_refused_and_left(
    run: ModuleType, project: Path, installer: Installer, inside: str
) -> None:
    (project / ".venv").mkdir()
    (project / ".venv" / inside).touch()
    before = tree(project)
    with pytest.raises(run.SetupError, match="has not made"):
        run.ensure(project)
    assert installer.asked() == []
    assert tree(project) == before


# --- when it is made afresh -------------------------------------------------------------------


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
    run.shutil.rmtree(project / ".venv")
    installer.fail = {"torch": "ERROR: [Errno 28] No space left on device"}
    with pytest.raises(run.SetupError, match="disk is full"):
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
        (NO_VERSION, PLENTY, "has no build for this Python"),
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
    assert run.port_problem(str(port)) == ""


def test_the_lab_command(run: ModuleType, project: Path) -> None:
    command = run.lab_command(project, ["--no-browser", "--port", "9999"])
    assert command[:3] == [str(run.venv_python(project)), "-m", "jupyterlab"]
    assert command[-3:] == ["--no-browser", "--port", "9999"]
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in command
    assert "--LabApp.extension_manager=readonly" in command
    assert "--ServerApp.port_retries=0" in command
    assert "--ServerApp.port_retries=0" not in run.lab_command(project, [])


@pytest.mark.parametrize(
    ("arguments", "minutes", "rest"),
    [
        ([], "60", []),
        (["90", "--no-browser"], "90", ["--no-browser"]),
        (["90", "--port", "9999"], "90", ["--Voila.port_retries=0", "--port", "9999"]),
    ],
)
def test_the_lecture_command(
    run: ModuleType, project: Path, arguments: list[str], minutes: str, rest: list[str]
) -> None:
    command = run.lecture_command(project, arguments)
    notebook = project / "lecture" / f"{minutes}_minutes.ipynb"
    assert command[:4] == [str(run.venv_python(project)), "-m", "voila", str(notebook)]
    assert command[4:] == [*run.LECTURE_OPTIONS, *rest]


def test_a_lecture_that_is_none_is_refused_before_anything_is_installed(
    run: ModuleType,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "ensure", raising(AssertionError("too late")))
    assert run.main(["lecture", "45"], project) == 1
    assert "lectures of 60 and of 90 minutes, not of 45." in capsys.readouterr().err


def test_every_lecture_is_there(run: ModuleType) -> None:
    for minutes in run.LECTURES:
        notebook, template = run.lecture_command(SOURCE.parent, [minutes])[3:5]
        assert Path(notebook).is_file()
        assert template == "--template=lecture"
    [folder] = run.lecture_settings(SOURCE.parent).values()
    page = "voila/templates/lecture/index.html.j2"
    assert (Path(folder.split(os.pathsep)[0]) / page).is_file()
    assert run.torch_pin(SOURCE.parent).startswith("torch==")


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (["test", "-x", "tests"], ["-m", "pytest", "-x", "tests"]),
        (["notebooks", "a.ipynb"], ["notebooks/execute.py", "a.ipynb"]),
        (["site", "folder"], ["-m", "web.site", "folder"]),
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

    def note(command: list[str], root: Path, settings: dict[str, str]) -> int:
        assert root == project
        assert settings == {}
        commands.append(command)
        return 5

    monkeypatch.setattr(run, "ensure", lambda _: None)
    monkeypatch.setattr(run, "run", note)
    assert run.main(arguments, project) == 5
    assert commands == [[str(run.venv_python(project)), *started]]


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
