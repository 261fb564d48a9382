"""Cloze in one command: makes .venv beside this file, installs into it and starts what you name.

The standard library is all it needs. `python run.py` without a command says what there is.
"""

import ast
import contextlib
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
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
usage: python run.py lab [--own] [arguments] open the notebooks in JupyterLab, e.g. --port 9999;
                                             with --own, what notebook 15 needs is installed, too
       python run.py lecture [60|90] [arguments]    show the lecture of so many minutes, 60 or 90
       python run.py test [arguments]        run every test with pytest, e.g. tests/test_loss.py -x
       python run.py notebooks [files]       execute notebooks and store their outputs
       python run.py site [folder]           build the series as web pages, by default in _site
       python run.py handout [file]          write two pages to print, by default handout.html
       python run.py owner NAME              write whose project it is on GitHub into the notebooks

The first of them makes .venv and installs the packages: 1.3 GB for `lab`, `lecture`,
`handout` and `owner`, 2.2 GB for the others. Later starts need no network. To begin afresh,
delete .venv.
"""

# Of each command: the extra of pyproject.toml that it needs, where `test` has all that there are,
# and what Python is to run.
COMMANDS = {
    "lab": ("lecture", ("-m", "cloze", "lab", "notebooks")),
    "lecture": ("lecture", ("-m", "lecture")),
    "test": ("test", ("-m", "pytest")),
    "notebooks": ("test", ("notebooks/execute.py",)),
    "site": ("test", ("-m", "web.site")),
    "handout": ("lecture", ("-m", "lecture.handout")),
    "owner": ("lecture", ("-m", "notebooks.colab", "owner")),
}

# Each has what those before it have; an environment that has grown does not shrink.
EXTRAS = ("lecture", "own", "test")

# Where the packages of the lock have builds; tests/test_environment.py asks the index for them.
PLATFORMS = (
    "Linux (x86-64 or arm64, with glibc 2.28 or newer), Windows (x86-64) and macOS 14 or newer "
    "(Apple silicon), for 64-bit Python 3.11 to 3.14"
)

LOCK = "requirements.lock"
STAMP = "cloze-installed"
GIVE_UP_SOON = {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10", "PIP_RETRIES": "1"}
# Importing it leaves the bytecode of what a first start needs, and shows that it can be imported.
WARM = (
    "import matplotlib.pyplot, jupyterlab.labapp, voila.app, cloze.serving.server, cloze.training"
)
# uv does not read pip's settings, in which companies and universities name an index of their own.
UV_WORDS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}

# What an installer or the operating system says, and what to do about it; the first one counts.
REASONS = {
    ("No space left", "Errno 28", "WinError 112", "os error 112"): (
        "The disk is full: the packages need 1.3 GB in {root}, 2.2 GB with those for the tests, "
        "and as much in uv's cache if that is on another disk; free some space and try again."
    ),
    ("Permission denied", "Read-only file system", "WinError 5]", "os error 5)"): (
        "{root} or your home folder cannot be written to: copy the project to a folder of yours, "
        "run it there."
    ),
    ("ensurepip is not available", "No module named ensurepip", "No module named venv"): (
        "This Python lacks its venv module: install it (on Debian and Ubuntu with "
        "`sudo apt install python3-venv`) and run the same command again."
    ),
    ("Hash mismatch", "DO NOT MATCH THE HASHES"): (
        "The package index sent another file than the one in the lock, and it was not installed: "
        "try another network or index."
    ),
    # pip that reached no index ends by saying that there is no such version, so this comes first.
    ("connection broken by", "Max retries exceeded", "error sending request", "Failed to fetch"): (
        "The package index cannot be reached: check the network, or the proxy settings, and run "
        "the same command again; packages already downloaded are kept."
    ),
    ("Could not find a version", "No matching distribution", "No solution found"): (
        "A package named above has no build for this Python {python} on this computer. There are "
        f"builds for {PLATFORMS}."
    ),
}


class SetupError(Exception):
    """Something the user can put right; its message says what, in one sentence."""


def explain(said: str, root: Path) -> str:
    """Find the reason in what an installer or the operating system said; "" if there is none."""
    for marks, sentence in REASONS.items():
        if any(mark in said for mark in marks):
            return sentence.format(root=root, python="{}.{}".format(*sys.version_info[:2]))
    return ""


def refusal(error: OSError, root: Path) -> str:
    """Say what the operating system would not do."""
    if isinstance(error, FileNotFoundError) and error.filename == str(root / LOCK):
        return f"{error.filename} is missing: get the whole project again."
    return explain(str(error), root) or f"The operating system refused: {error}."


# --- the environment --------------------------------------------------------------------------

# The stamp is written last and says what .venv was made as. It is empty while something is being
# installed: an installation that was killed is made anew, in seconds, from uv's cache.


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


def recipe(root: Path, extra: str) -> list[str]:
    """Describe an environment: its Python and place, a hash of what it is made of, its extra.

    The first is what an environment cannot outlive; the others it can follow later.
    """
    place = "Python {}.{} in {}".format(*sys.version_info[:2], root)
    parts = [(root / name).read_bytes() for name in (LOCK, "pyproject.toml")]
    return [place, hashlib.sha256(b"".join(parts)).hexdigest(), extra]


def packages(root: Path) -> list[str]:
    """List what lies in .venv's folder of packages."""
    pattern = "Lib/site-packages/*" if os.name == "nt" else "lib/python*/site-packages/*"
    return sorted(path.name for path in (root / ".venv").glob(pattern))


def made_as(root: Path) -> list[str]:
    """Read what .venv was made as; nothing if it is unfinished, half deleted or does not run."""
    with contextlib.suppress(OSError, ValueError):
        *made, n_packages = (root / ".venv" / STAMP).read_text(encoding="utf-8").split("\n")
        # The interpreter that it was made from may be gone.
        runs = not subprocess.run([str(venv_python(root)), "-c", ""], check=False).returncode
        if made and runs and len(packages(root)) >= int(n_packages):
            return made
    return []


def ensure(root: Path, extra: str) -> None:
    """Make .venv what the lock and pyproject.toml ask for, or find that it is.

    Where that fails, an environment that works stays, and is good enough to start with.
    """
    venv, wanted = root / ".venv", recipe(root, extra)
    if os.path.lexists(venv) and not (venv / STAMP).is_file():
        raise SetupError(
            f"This program has not made {venv}, or it is half deleted: move or delete it and run "
            "this again."
        )
    made = made_as(root)
    works = made[:1] == wanted[:1]
    enough = works and EXTRAS.index(made[2]) >= EXTRAS.index(extra)
    if enough and made[1] == wanted[1]:
        return
    with alone(root):
        before = packages(root)
        try:
            if works:
                wanted[2] = max(extra, made[2], key=EXTRAS.index)  # what is there stays
                print("Bringing .venv up to date.", flush=True)
            else:
                make(root, extra)
            install(root, wanted[2], GIVE_UP_SOON if enough else {})
            wanted.append(str(len(packages(root))))
            (venv / STAMP).write_text("\n".join(wanted), encoding="utf-8")
        except BaseException as error:
            # uv has everything at hand before it changes anything.
            unchanged = works and packages(root) == before
            if unchanged:
                (venv / STAMP).write_text("\n".join([*made, str(len(before))]), encoding="utf-8")
            if not (unchanged and enough and isinstance(error, SetupError | OSError)):
                raise
            reason = refusal(error, root) if isinstance(error, OSError) else error
            print(f"The list of packages has changed, but .venv stays as it was. {reason}")


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keep other starts of this program out."""
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
        yield


def make(root: Path, extra: str) -> None:
    """Make an empty .venv in the place of what is there."""
    size = "2.2" if extra == "test" else "1.3"
    print(f"Installing {size} GB into .venv, this once.", flush=True)
    venv = root / ".venv"
    if venv.exists():
        shutil.rmtree(venv)
    venv.mkdir()
    (venv / STAMP).touch()
    # The Python that this one, which may be the one that was in .venv, was made from.
    base = getattr(sys, "_base_executable", sys.executable)
    carry_out([base, "-m", "venv", str(venv)], root, {})


def install(root: Path, extra: str, settings: Mapping[str, str]) -> None:
    """Install into .venv what the lock names, and only if its hash is that of the lock."""
    python = str(venv_python(root))
    pin = root / ".venv" / "uv.txt"
    pin.write_text(locked(root, "uv"), encoding="utf-8")
    pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", str(pin)]
    carry_out(pip, root, settings)

    uv = [python, "-m", "uv", "pip", "install", "--python", python]
    settings = {**uv_settings(root), **settings}
    (root / ".venv" / STAMP).write_text("")
    if sys.platform == "linux":
        # PyTorch's own index has the build for the CPU, others one with several GB of CUDA. Every
        # build has a hash of its own, and which of them an index has cannot be known beforehand:
        # so this package is asked for by its version alone, and below it is there already.
        torch = [*uv, "--no-deps", locked(root, "torch").split()[0]]
        for_cpu = [*torch, "--torch-backend", "cpu"]
        code, _ = output([*for_cpu, "--dry-run"], root, {**settings, **GIVE_UP_SOON}, show=False)
        carry_out(torch if code else for_cpu, root, settings)
    # Nothing is built but the package itself, and what this needs is in the lock as well.
    pins = ["--constraint", LOCK, "--build-constraint", LOCK, "--only-binary", ":all:"]
    compiled = {"UV_COMPILE_BYTECODE": "1"} if extra == "test" else {}
    carry_out([*uv, *pins, "--editable", f".[{extra}]"], root, {**settings, **compiled})
    print("Starting them once.", flush=True)
    carry_out([python, "-c", WARM], root, {"PYTHONDONTWRITEBYTECODE": ""}, show=False)


def carry_out(
    command: Sequence[str], root: Path, settings: Mapping[str, str], *, show: bool = True
) -> None:
    """Run an installer, and say in a sentence why it failed if it did."""
    code, printed = output(command, root, settings, show=show)
    if code:
        if not show:
            print(printed[-3000:])
        if shutil.disk_usage(root).free < 50_000_000:  # some fail without a word
            printed = "No space left"
        again = "The installation failed, for the reason above: run the same command to try again."
        raise SetupError(explain(printed, root) or again)


def output(
    command: Sequence[str], root: Path, settings: Mapping[str, str], *, show: bool = True
) -> tuple[int, str]:
    """Run an installer; return its exit code and what it prints, which is shown as it comes."""
    lines = []
    with subprocess.Popen(
        command,
        cwd=root,
        env={**environment(root), **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line)
                if show and not line.startswith((" + ", " - ", " ~ ")):  # each of 150 packages
                    print(line, end="", flush=True)
        finally:
            process.terminate()
    return process.returncode, "".join(lines)


def locked(root: Path, name: str) -> str:
    """Read what the lock has of a package: its version and its hashes."""
    lock = (root / LOCK).read_text(encoding="utf-8")
    found = re.search(rf"^{name}==(?:.*\\\n)*.*$", lock, re.MULTILINE)
    if found is None:
        raise SetupError(f"{root / LOCK} is damaged: get the whole project again.")
    return found[0]


def uv_settings(root: Path) -> dict[str, str]:
    """Say in uv's words what pip's settings say of indexes; what is set for uv itself stays."""
    command = [str(venv_python(root)), "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    # As pip does; the hashes of the lock tell that a file from another index is the right one.
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "1"}
    for section in ("global", "install", ":env:"):  # the last one wins
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)$", listed, re.MULTILINE):
            if name in UV_WORDS:
                comma = "," if name == "find-links" else " "
                settings[UV_WORDS[name]] = comma.join(ast.literal_eval(value).split())
    return {name: os.environ.get(name, value) for name, value in settings.items()}


# --- the commands -----------------------------------------------------------------------------


def port_problem(arguments: Sequence[str]) -> str:
    """Say that the port which is named cannot be had; Jupyter would silently take another one."""
    named = re.search(r"--(?:\w+\.)?port[ =](\d+)", " ".join(arguments))
    if not named:
        return ""
    if int(named[1]) > 65535:
        return f"There is no port {named[1]}: name one up to 65535."
    with contextlib.suppress(OSError):
        socket.create_connection(("localhost", int(named[1])), 0.5).close()
        return f"Port {named[1]} is in use: stop what runs there, or name another port."
    return ""


def start(command: list[str], root: Path) -> int:
    """Become another program, which has the terminal's Ctrl-C and the exit code for itself."""
    os.chdir(root)
    if os.name != "nt":
        os.execve(command[0], command, environment(root))  # noqa: S606
    # There a program cannot become another one.
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.call(command, env=environment(root))


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Carry out one command line; return its exit code, having put every failure into words."""
    command, *rest = [*arguments, ""]
    asked = bool({"-h", "--help"} & {command, *(rest if command in ("lab", "lecture") else [])})
    if command not in COMMANDS or asked:
        print(USAGE, end="", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    extra, started = COMMANDS[command]
    words = list(arguments[1:])
    if command == "lab" and "--own" in words:
        extra = "own"
        words.remove("--own")
    try:
        if command in ("lab", "lecture") and port_problem(rest):
            raise SetupError(port_problem(rest))
        ensure(root, extra)
        if command in ("lab", "lecture"):
            print(f"Starting the {command}; Ctrl-C here stops it.", flush=True)
        return start([str(venv_python(root)), *started, *words], root)
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
    # An exception, so that `kill` ends an installation as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
