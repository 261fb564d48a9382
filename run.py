"""Cloze in one command: makes .venv beside this file, installs into it and starts what you name.

The standard library is all it needs. `python run.py` without a command says what there is.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path


def python_problem(major: int, minor: int) -> str:
    """Say what is wrong with a version of Python; nothing when it will do."""
    if (major, minor) >= (3, 11):
        return ""
    return (
        f"Cloze needs Python 3.11 or newer and this is Python {major}.{minor}: "
        "get a newer one from https://www.python.org/downloads/ and run this file with it."
    )


# Older Pythons read the whole file before they run its first line, so everything in it stays
# within their grammar; and they stop here, before the annotations below, which they cannot run.
if python_problem(*sys.version_info[:2]):
    sys.exit(python_problem(*sys.version_info[:2]))


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

ROOT = Path(__file__).resolve().parent

USAGE = """\
usage: python run.py lab [arguments]         open the notebooks in JupyterLab, e.g. --port 9999
       python run.py lecture [60|90] [arguments]    show the lecture of so many minutes, 60 or 90
       python run.py test [arguments]        run every test with pytest, e.g. tests/test_loss.py -x
       python run.py notebooks [files]       execute notebooks and store their outputs
       python run.py site [folder]           build the series as web pages, by default in _site

The first time, each of them makes .venv and installs the packages, which takes a few minutes.
Later starts take a second and need no network. To begin afresh, delete .venv.
"""

# Where the packages of the lock have builds; tests/test_environment.py asks the index for them.
PLATFORMS = (
    "Linux (x86-64 or arm64, with glibc 2.28 or newer), Windows (x86-64) and macOS 14 or newer "
    "(Apple silicon), for 64-bit Python 3.11 to 3.14"
)

GIVE_UP_SOON = ("--retries", "0", "--timeout", "10")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# --no-deps: the default index has the rest, and this one is not asked for what it may not mirror.
INSTALL_CPU_TORCH = ("--index-url", CPU_INDEX, "--no-deps", *GIVE_UP_SOON)
LOCK = "requirements.lock"
# As constraints: a universal lock lists the CUDA packages too, which a PyTorch for the CPU lacks.
INSTALL_CLOZE = ("--only-binary", ":all:", "--constraint", LOCK, "--editable", ".[test]")
# What pip's own settings name as index, proxy or folder of wheels is what gets asked. Everything
# that is built needs setuptools, so every index has it.
ASK_INDEX = ("setuptools", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", *GIVE_UP_SOON)

STAMP = "cloze-installed"

LAB_OPTIONS = (
    "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
    "--LabApp.extension_manager=readonly",  # which would list what a network has to offer
    # Otherwise a click soon after another waits some 30 ms for the network's acknowledgement.
    "--ServerApp.kernel_websocket_connection_class=cloze.serving.server.PromptConnection",
    "--ServerApp.contents_manager_class=cloze.serving.server.Notebooks",
    "--ServerApp.kernel_manager_class=cloze.serving.server.Kernels",
)
LECTURES = ("60", "90")  # minutes; the first is shown when none is named
LECTURE_OPTIONS = (
    "--template=lecture",  # lecture/voila/templates/lecture, found through JUPYTER_PATH
    "--Voila.auto_token=True",  # the address that opens has it; no other page can send anything
    "--Voila.kernel_websocket_connection_class=cloze.serving.server.PromptConnection",
    "--VoilaConfiguration.multi_kernel_manager_class=cloze.serving.server.Kernels",
)
# Nothing asks the network and nothing asks the learner, who would be asked at the first start.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}


class SetupError(Exception):
    """Something the user can put right; its message says what, in one sentence."""


def say(text: str) -> None:
    """Print a line at once: what a child process prints comes after it."""
    print(text, flush=True)


# --- what went wrong, in one sentence ---------------------------------------------------------


DISK_MARKS = ("No space left", "Errno 28", "WinError 112")
PERMISSION_MARKS = ("Permission denied", "Read-only file system", "WinError 5]")
NETWORK_MARKS = (
    "connection broken by",  # and then the kind: refused, timed out, no such name, proxy, …
    "Max retries exceeded",
    "Temporary failure in name resolution",
    "NewConnectionError",
    "Read timed out",
    "Connection broken",
    "ConnectionResetError",
    "SSLError",
)
VERSION_MARKS = ("Could not find a version", "No matching distribution")


def disk_full(root: Path) -> str:
    """Say that there is no room, and where it is needed."""
    return (
        f"The disk is full: the packages need about 2 GB in {root}, and twice that while new ones "
        "replace old ones; free some space and run the same command again."
    )


def not_writable(root: Path) -> str:
    """Say that this folder is somebody else's, or on a disk that is only read."""
    return f"{root} cannot be written to: copy the project to a folder of yours, run it there."


def refusal(error: OSError, root: Path) -> str:
    """Say what the operating system would not do."""
    if any(mark in str(error) for mark in DISK_MARKS):
        return disk_full(root)
    if not os.access(root, os.W_OK):
        return not_writable(root)
    return f"The operating system refused: {error}."


def place_problem(root: Path) -> str:
    """Say that .venv is none of this program's making; nothing when it is, or is not there."""
    venv = root / ".venv"
    if not os.path.lexists(venv) or (venv / STAMP).is_file() or work(root).exists():
        return ""
    return (
        f"This program has not made {venv}, so it is left as it is: move or delete it and run this "
        "again."
    )


def explain(output: str, root: Path, free: int) -> str:
    """Find the reason in what a failed installer printed, and say what to do about it.

    Args:
        output: what venv or pip wrote to stderr.
        root: the project's folder, for the message.
        free: bytes left on its disk. Some tools fail without a word when there are none.
    """

    def mentions(marks: Sequence[str]) -> bool:
        return any(mark in output for mark in marks)

    if free < 50_000_000 or mentions(DISK_MARKS):
        return disk_full(root)
    if mentions(PERMISSION_MARKS):
        return not_writable(root)
    # A pip that reached no index ends by saying that there is no such version: look here first.
    if mentions(NETWORK_MARKS):
        return (
            "The package index cannot be reached: check the network, or the proxy settings, and "
            "run the same command again; packages already downloaded are kept."
        )
    if mentions(VERSION_MARKS):
        version = "{}.{}".format(*sys.version_info[:2])
        return (
            f"A package named above has no build for this Python {version} on this computer. There "
            f"are builds for {PLATFORMS}."
        )
    return "The installation failed, for the reason above: run the same command to try again."


# --- child processes --------------------------------------------------------------------------


def venv_python(root: Path) -> Path:
    """Name the interpreter in the project's .venv."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment(root: Path) -> dict[str, str]:
    """Give children the .venv first on their PATH, and kernels from it rather than from home."""
    scripts = str(venv_python(root).parent)
    return {
        **os.environ,
        "PATH": os.pathsep.join([scripts, os.environ.get("PATH", os.defpath)]),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@contextlib.contextmanager
def child(
    command: Sequence[str],
    root: Path,
    stderr: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Start a command in the project's folder; it ends, at the latest, when this block does."""
    with subprocess.Popen(
        command,
        cwd=root,
        env={**environment(root), **(settings or {})},
        stderr=stderr,
        text=True,
        errors="replace",
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def run(command: Sequence[str], root: Path, settings: Mapping[str, str] | None = None) -> int:
    """Run a command in this terminal and return its exit code."""
    interruptions = []
    # The terminal sends Ctrl-C to the child too. JupyterLab asks whether it is meant, pytest sums
    # up: let them. (An exception instead of this note could come between the child's end and us.)
    before = signal.signal(signal.SIGINT, lambda *_: interruptions.append(True))
    try:
        with child(command, root, settings=settings) as process:
            code = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if interruptions and code:
        return 130
    return code if code >= 0 else 128 - code


def complaints_of(command: Sequence[str], root: Path, *, show: bool = True) -> tuple[int, str]:
    """Run an installer; return its exit code and its stderr.

    Its stdout stays the terminal's, since pip draws its progress bar on nothing else.
    """
    lines = []
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(work(root)))
    with child(command, root, subprocess.PIPE, temporary) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if show:
                sys.stderr.write(line)
                sys.stderr.flush()
        code = process.wait()
    return code, "".join(lines)


# --- the environment --------------------------------------------------------------------------

# An environment cannot be moved: its files hold its path. So a new one is made in its place, .venv,
# while the one before waits in .venv.work, and comes back whatever stops the new one. The stamp is
# written last; without it an environment is unfinished, and never mended, since pip takes a half
# copied package for an installed one. A killed start leaves .venv.work, which the next one settles.


def work(root: Path) -> Path:
    """Name the folder that is there only during an installation, also for temporary files."""
    return root / ".venv.work"


def stamp_text(root: Path) -> str:
    """Describe a finished environment: its Python and its place, then a hash of all it is made of.

    The first line is what an environment cannot outlive, the second what it can follow later.
    """
    import tomllib

    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    pyproject.pop("tool", None)  # the settings of linters and tests
    version = "{}.{}".format(*sys.version_info[:2])
    recipe = repr((INSTALL_CPU_TORCH, INSTALL_CLOZE, LAB_SETTINGS, pyproject)).encode()
    digest = hashlib.sha256(recipe + (root / LOCK).read_bytes()).hexdigest()
    return f"Python {version} in {root}\n{digest}\n"


def state(root: Path, wanted: str) -> str:
    """Tell whether .venv is `current`, `usable` (its packages are another list's) or `""`."""
    with contextlib.suppress(OSError):
        found = (root / ".venv" / STAMP).read_text(encoding="utf-8")
        probe = [str(venv_python(root)), "-c", "import pip"]
        # The interpreter that it was made from may be gone.
        if (
            found.splitlines()[:1] == wanted.splitlines()[:1]
            and not subprocess.run(probe, capture_output=True, check=False).returncode
        ):
            return "current" if found == wanted else "usable"
    return ""


def ensure(root: Path) -> None:
    """Make .venv what the lock and pyproject.toml ask for, or find that it is.

    Where that fails, an environment that works stays, and is good enough to start with.
    """
    wanted = stamp_text(root)
    if not work(root).exists() and state(root, wanted) == "current":
        return
    if place_problem(root):
        raise SetupError(place_problem(root))
    with alone(root):
        found = state(root, wanted)
        if found == "current":
            return
        try:
            if found and complaints_of(pip_install(root, ASK_INDEX), root, show=False)[0]:
                raise SetupError("No package index answers: the next start asks again.")
            build(root, wanted, bool(found))
        except (SetupError, OSError) as error:
            if not found:
                raise
            reason = refusal(error, root) if isinstance(error, OSError) else error
            say(f"The list of packages has changed, but the packages stay as they were. {reason}")


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keep other starts of this program out, and leave nothing but one environment behind."""
    with (root / LOCK).open("rb") as lock:
        try:
            if sys.platform == "win32":
                lock.seek(1 << 30)  # far beyond the end, since others may read what is not locked
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise SetupError(
                "Another start of this program is still installing: wait until it is done."
            ) from None
        try:
            settle(root)
            work(root).mkdir()
            yield
        finally:
            settle(root)


def settle(root: Path) -> None:
    """Leave one environment: the new one if it is finished, else the one before, if there was."""
    venv, before = root / ".venv", work(root) / "before"
    if work(root).exists():
        if venv.exists() and not (venv / STAMP).exists():
            venv.rename(work(root) / "unfinished")
        if before.exists() and not venv.exists():
            before.rename(venv)
        shutil.rmtree(work(root), ignore_errors=True)


def build(root: Path, wanted: str, usable: bool) -> None:
    """Make a new .venv, from a copy of the one before if that is usable, which saves minutes."""
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        raise SetupError(
            "This Python lacks its venv module: install it (on Debian and Ubuntu with "
            "`sudo apt install python3-venv`) and run the same command again."
        )
    venv = root / ".venv"
    try:
        if venv.exists():
            venv.rename(work(root) / "before")
    except OSError as error:  # on Windows, as long as a program runs from it
        raise SetupError(
            f"{venv} is in use ({error}): close JupyterLab and what else runs from it, "
            "`deactivate` it, and run the same command again."
        ) from None
    if usable:
        say("The list of packages has changed: bringing a copy of .venv up to date.")
        unstamped = shutil.ignore_patterns(STAMP)
        shutil.copytree(work(root) / "before", venv, symlinks=True, ignore=unstamped)
    else:
        say("Making .venv with Python {}.{}.{}.".format(*sys.version_info[:3]))
        # The Python that this one, which may be the one in .venv, was made from.
        python = getattr(sys, "_base_executable", sys.executable)
        install([python, "-m", "venv", str(venv)], root)
    if sys.platform == "linux":
        # The default index has PyTorch with several GB of CUDA, for which nothing here has a use.
        if cpu_index_answers():
            say("Installing PyTorch for the CPU (about 200 MB).")
            command = pip_install(root, [*INSTALL_CPU_TORCH, torch_pin(root)])
            code, complaints = complaints_of(command, root, show=False)
            if code and explain(complaints, root, shutil.disk_usage(root).free) == disk_full(root):
                raise SetupError(disk_full(root))
        else:
            say("PyTorch's own index does not answer; it comes from the default one, maybe larger.")
    say("Installing the packages: a few minutes, this once.")
    install(pip_install(root, INSTALL_CLOZE), root)
    settings = venv / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(LAB_SETTINGS), encoding="utf-8")
    (venv / STAMP).write_text(wanted, encoding="utf-8")


def pip_install(root: Path, arguments: Sequence[str]) -> list[str]:
    """Build a command line of the pip in .venv."""
    return [str(venv_python(root)), "-m", "pip", "install", *arguments]


def install(command: Sequence[str], root: Path) -> None:
    """Run venv or pip, and say in a sentence why it failed if it did."""
    code, complaints = complaints_of(command, root)
    if code:
        raise SetupError(explain(complaints, root, shutil.disk_usage(root).free))


def cpu_index_answers() -> bool:
    """Ask the index of CPU wheels for a sign of life; pip alone would be slow to give up on it."""
    request = urllib.request.Request(f"{CPU_INDEX}/torch/", method="HEAD")  # noqa: S310 - https
    try:
        with urllib.request.urlopen(request, timeout=3):  # noqa: S310
            return True
    except OSError:
        return False


def torch_pin(root: Path) -> str:
    """Read which PyTorch the lock names, as `torch==…`."""
    lock = (root / LOCK).read_text(encoding="utf-8").splitlines()
    return next(line.split()[0] for line in lock if line.startswith("torch=="))


# --- the commands -----------------------------------------------------------------------------


def given_port(arguments: Sequence[str]) -> str | None:
    """Find the port in a server's arguments; None when they leave it to the server."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("--port", "--ServerApp.port", "--Voila.port"):
            return value if equals else "".join(arguments[place + 1 : place + 2])
    return None


def port_problem(port: str) -> str:
    """Say that a port is in use; nothing when it is not. Jupyter says what is no port at all."""
    with contextlib.suppress(OSError, ValueError, OverflowError):
        socket.create_connection(("localhost", int(port)), 0.5).close()
        return f"Port {port} is in use: stop what runs there, or name another port."
    return ""


def lab_command(root: Path, arguments: Sequence[str]) -> list[str]:
    """Build JupyterLab's command line; the user's arguments come last and so win."""
    command = [str(venv_python(root)), "-m", "jupyterlab", f"--ServerApp.root_dir={root}"]
    command += LAB_OPTIONS
    if given_port(arguments):
        # Whoever names a port means that one; otherwise JupyterLab takes the next free one.
        command.append("--ServerApp.port_retries=0")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # In a container one often is root; the server listens to this machine only.
        command.append("--allow-root")
    return [*command, *arguments]


def lecture_command(root: Path, arguments: Sequence[str]) -> list[str]:
    """Build Voilà's command line; the user's arguments come last and so win."""
    named = bool(arguments) and arguments[0] in LECTURES
    minutes = arguments[0] if named else LECTURES[0]
    notebook = root / "lecture" / f"{minutes}_minutes.ipynb"
    command = [str(venv_python(root)), "-m", "voila", str(notebook), *LECTURE_OPTIONS]
    if given_port(arguments):
        command.append("--Voila.port_retries=0")
    return [*command, *arguments[named:]]


def lecture_settings(root: Path) -> dict[str, str]:
    """Tell Jupyter where the lecture's template lies."""
    found = [str(root / "lecture"), os.environ.get("JUPYTER_PATH", "")]
    return {"JUPYTER_PATH": os.pathsep.join(filter(None, found))}


def start(command: str, arguments: Sequence[str], root: Path) -> int:
    """Make the environment ready, start what the command names and return its exit code."""
    first = arguments[0] if arguments else ""
    if command == "lecture" and not first.startswith("-") and first not in ("", *LECTURES):
        raise SetupError(f"There are lectures of 60 and of 90 minutes, not of {first}.")
    port = given_port(arguments) if command in ("lab", "lecture") else None
    if port is not None and port_problem(port):
        raise SetupError(port_problem(port))
    ensure(root)
    python = str(venv_python(root))
    commands = {
        "lab": lab_command(root, arguments),
        "lecture": lecture_command(root, arguments),
        "test": [python, "-m", "pytest", *arguments],
        "notebooks": [python, "notebooks/execute.py", *arguments],
        "site": [python, "-m", "web.site", *arguments],
    }
    names = {"lab": "JupyterLab", "lecture": "the lecture"}
    if command in names:
        say(f"Starting {names[command]}; Ctrl-C here stops it.")
    return run(commands[command], root, lecture_settings(root) if command == "lecture" else {})


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Carry out one command line; return its exit code, having put every failure into words."""
    command = arguments[0] if arguments else ""
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command not in ("lab", "lecture", "test", "notebooks", "site"):
        print(USAGE, end="", file=sys.stderr)
        return 2
    try:
        return start(command, arguments[1:], root)
    except KeyboardInterrupt:
        print("\nStopped. The same command takes it up again.", file=sys.stderr)
        return 130
    except SetupError as error:
        problem = str(error)
    except OSError as error:
        problem = refusal(error, root)
    print(f"\n{problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    # An exception, so that `kill` ends the child as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
