"""Cloze in one command: makes .venv beside this file, installs into it and starts what you name.

The standard library is all it needs. `python run.py` without a command says what there is.
"""

import contextlib
import errno
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
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


ROOT = Path(__file__).resolve().parent

USAGE = """\
usage: python run.py lab [arguments]         open the notebooks in JupyterLab, e.g. --port 9999
       python run.py test [arguments]        run every test with pytest, e.g. tests/test_loss.py -x
       python run.py notebooks [files]       execute notebooks and store their outputs

The first time, each of them makes .venv and installs the packages, which takes a few minutes.
Later starts take a second and need no network. To begin afresh, delete .venv.
"""

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# --no-deps: the default index has the rest, and this one is not asked for what it may not mirror.
INSTALL_CPU_TORCH = ("--index-url", CPU_INDEX, "--no-deps", "--retries", "0", "--timeout", "10")
INSTALL_CLOZE = ("--editable", ".[test]")

LAB_OPTIONS = (
    "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
    "--LabApp.extension_manager=readonly",  # which would list what a network has to offer
    # Otherwise a click soon after another waits some 30 ms for the network's acknowledgement.
    "--ServerApp.kernel_websocket_connection_class=cloze.server.PromptConnection",
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
        f"The disk is full: the packages need about 2 GB in {root} and, while they are being "
        f"installed, in {tempfile.gettempdir()}; free some space and run the same command again."
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
        return f"{root} cannot be written to: copy the project to a folder of yours, run it there."
    # A pip that reached no index ends by saying that there is no such version: look here first.
    if mentions(NETWORK_MARKS):
        return (
            "The package index cannot be reached: check the network, or the proxy settings, and "
            "run the same command again; packages already downloaded are kept."
        )
    if mentions(VERSION_MARKS):
        version = "{}.{}".format(*sys.version_info[:2])
        return (
            f"A package has no build for Python {version} on {platform.system()} "
            f"{platform.machine()}: run this file with another Python (3.12 has builds of all)."
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
    command: Sequence[str], root: Path, stderr: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Start a command in the project's folder; it ends, at the latest, when this block does."""
    with subprocess.Popen(
        command, cwd=root, env=environment(root), stderr=stderr, text=True, errors="replace"
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


def run(command: Sequence[str], root: Path) -> int:
    """Run a command in this terminal and return its exit code."""
    interrupted = False
    with child(command, root) as process:
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:
                # The terminal sent it to the child too. JupyterLab asks whether it is meant, pytest
                # sums up: let them.
                interrupted = True
    if interrupted and code:
        return 130
    return code if code >= 0 else 128 - code


def complaints_of(command: Sequence[str], root: Path, *, show: bool = True) -> tuple[int, str]:
    """Run an installer; return its exit code and its stderr.

    Its stdout stays the terminal's, since pip draws its progress bar on nothing else.
    """
    lines = []
    with child(command, root, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if show:
                sys.stderr.write(line)
                sys.stderr.flush()
        code = process.wait()
    return code, "".join(lines)


# --- the environment --------------------------------------------------------------------------


def stamp_text(root: Path) -> str:
    """Describe a finished environment: its Python and its place, then a hash of all it is made of.

    The first line is what an environment cannot outlive, the second what pip can bring up to date.
    """
    version = "{}.{}".format(*sys.version_info[:2])
    recipe = repr((INSTALL_CPU_TORCH, INSTALL_CLOZE, LAB_SETTINGS)).encode()
    digest = hashlib.sha256(recipe + (root / "pyproject.toml").read_bytes()).hexdigest()
    return f"Python {version} in {root}\n{digest}\n"


def answers(python: Path) -> bool:
    """Tell whether an interpreter starts and has pip: the one it was made from may be gone."""
    with contextlib.suppress(OSError):
        probe = [str(python), "-c", "import pip"]
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return False


def ensure(root: Path) -> None:
    """Make .venv what pyproject.toml asks for, or find that it is.

    The stamp is written last and removed first, so an environment without one is unfinished. pip
    takes a half copied package for an installed one; such an environment is therefore made afresh,
    which costs no second download.
    """
    stamp, wanted = root / ".venv" / "cloze-installed", stamp_text(root)
    found = stamp.read_text(encoding="utf-8") if stamp.is_file() else ""
    usable = found.splitlines()[:1] == wanted.splitlines()[:1] and answers(venv_python(root))
    if usable and found == wanted:
        return
    if usable:
        say("The list of packages has changed: bringing .venv up to date.")
        stamp.unlink()
    else:
        stamp.unlink(missing_ok=True)
        make_venv(root)
    install(root)
    settings = root / ".venv" / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(LAB_SETTINGS), encoding="utf-8")
    stamp.write_text(wanted, encoding="utf-8")


def make_venv(root: Path) -> None:
    """Make an empty .venv with pip, in place of whatever is there."""
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        raise SetupError(
            "This Python lacks its venv module: install it (on Debian and Ubuntu with "
            "`sudo apt install python3-venv`) and run the same command again."
        )
    if Path(sys.prefix).resolve() == (root / ".venv").resolve():
        raise SetupError(
            "This is the Python inside .venv, which has to be made afresh: "
            "type `deactivate` and run the same command again."
        )
    say("Making .venv with Python {}.{}.{}.".format(*sys.version_info[:3]))
    command = [sys.executable, "-m", "venv", "--clear", str(root / ".venv")]
    code, complaints = complaints_of(command, root)
    if code:
        raise SetupError(explain(complaints, root, shutil.disk_usage(root).free))


def install(root: Path) -> None:
    """Install the project, its pinned dependencies and its tests' into .venv."""
    pip_install = [str(venv_python(root)), "-m", "pip", "install"]
    if sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
        # The default index has PyTorch with several GB of CUDA, for which nothing here has a use.
        if cpu_index_answers():
            say("Installing PyTorch for the CPU (about 200 MB).")
            command = [*pip_install, *INSTALL_CPU_TORCH, torch_pin(root)]
            code, complaints = complaints_of(command, root, show=False)
            if code and explain(complaints, root, shutil.disk_usage(root).free) == disk_full(root):
                raise SetupError(disk_full(root))
        else:
            say("PyTorch's own index does not answer; it comes from the default one, maybe larger.")
    say("Installing the packages: a few minutes, this once.")
    code, complaints = complaints_of([*pip_install, *INSTALL_CLOZE], root)
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
    """Read which PyTorch pyproject.toml pins, as `torch==…`."""
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return next(str(pin) for pin in project["dependencies"] if pin.startswith("torch=="))


# --- the commands -----------------------------------------------------------------------------


def given_port(arguments: Sequence[str]) -> int | None:
    """Find the port in JupyterLab's arguments; None when they leave it to JupyterLab."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("--port", "--ServerApp.port"):
            value = value if equals else "".join(arguments[place + 1 : place + 2])
            return int(value) if value.isdecimal() and 0 < int(value) < 65536 else None
    return None


def port_taken(port: int) -> bool:
    """Tell whether somebody on this machine answers at a port."""
    try:
        with socket.create_connection(("localhost", port), timeout=0.5):
            return True
    except OSError:
        return False


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


def start(command: str, arguments: Sequence[str], root: Path) -> int:
    """Make the environment ready, start what the command names and return its exit code."""
    port = given_port(arguments) if command == "lab" else None
    if port and port_taken(port):
        raise SetupError(f"Port {port} is in use: stop what runs there, or name another port.")
    ensure(root)
    python = str(venv_python(root))
    if command == "test":
        return run([python, "-m", "pytest", *arguments], root)
    if command == "notebooks":
        return run([python, "notebooks/execute.py", *arguments], root)
    say("Starting JupyterLab; Ctrl-C here stops it.")
    return run(lab_command(root, arguments), root)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Carry out one command line; return its exit code, having put every failure into words."""
    command = arguments[0] if arguments else ""
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command not in ("lab", "test", "notebooks"):
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
        full = error.errno == errno.ENOSPC
        problem = disk_full(root) if full else f"The operating system refused: {error}."
    print(f"\n{problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    # An exception, so that `kill` ends the child as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
