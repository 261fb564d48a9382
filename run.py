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
from collections.abc import Mapping, Sequence
from pathlib import Path

# Older Pythons read the whole file before they run its first line, so everything in it stays
# within their grammar; and they stop here, before the annotations below, which they cannot run.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "Cloze needs Python 3.11 or newer and this is Python {}.{}: get a newer one from "
        "https://www.python.org/downloads/ and run this file with it.".format(*sys.version_info[:2])
    )

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

# Of each command: the extra of pyproject.toml that it needs, and what Python is to run.
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

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
VENV = ROOT / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
# What .venv was made of; empty while something is being installed.
STAMP = VENV / "cloze-installed"

# uv does not read pip's settings, in which companies and universities name an index of their own.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}


def ensure(extra: str) -> None:
    """Make .venv what the lock and pyproject.toml ask for, unless it is.

    Where that fails, an environment that works stays, and is good enough to start with.
    """
    if os.path.lexists(VENV) and not STAMP.is_file():
        sys.exit(
            f"This program has not made {VENV}, or it is half deleted: move or delete it and run "
            "this again."
        )
    made = STAMP.read_text(encoding="utf-8").split("\n") if STAMP.is_file() else []
    # An environment outlives neither another Python nor another place.
    home = "Python {}.{} in {}".format(*sys.version_info[:2], ROOT)
    packages = LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    digest = hashlib.sha256(packages).hexdigest()
    works = made[:1] == [home] and Path(PYTHON).exists()
    enough = works and EXTRAS.index(made[2]) >= EXTRAS.index(extra)
    if enough and made[1] == digest:
        return
    if works:
        extra = max(extra, made[2], key=EXTRAS.index)
        print("Bringing .venv up to date.", flush=True)
    else:
        print(f"Installing {2.2 if extra == 'test' else 1.3} GB into .venv, this once.", flush=True)
        make()
    try:
        install(extra)
    except SystemExit as failure:
        if works:  # uv has everything at hand before it changes anything
            STAMP.write_text("\n".join(made), encoding="utf-8")
        if not enough:
            raise
        print(f"{failure}\nThe list of packages has changed, but .venv stays as it was.")
    else:
        STAMP.write_text("\n".join([home, digest, extra]), encoding="utf-8")


def make() -> None:
    """Make an empty .venv in the place of what is there."""
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()
    STAMP.touch()
    # The Python that this one, which may be the one that was in .venv, was made from.
    base = getattr(sys, "_base_executable", sys.executable)
    carry_out([base, "-m", "venv", str(VENV)], os.environ)


def install(extra: str) -> None:
    """Install into .venv what the lock names, and only if its hash is that of the lock."""
    STAMP.write_text("")
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check"]
    carry_out([*pip, "install", "--quiet", "--no-deps", locked("uv")], os.environ)
    environment = uv_settings(pip) | os.environ
    uv = [PYTHON, "-m", "uv", "pip", "install", "--python", PYTHON]
    if sys.platform == "linux":
        # PyTorch's own index has the build for the CPU, others one with several GB of CUDA. Every
        # build has a hash of its own, and which of them an index has cannot be known beforehand:
        # so this package is asked for by its version alone, and below it is there already.
        torch = [*uv, "--no-deps", locked("torch")]
        for_cpu = [*torch, "--torch-backend", "cpu"]
        soon = environment | {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "10"}
        trial = subprocess.run([*for_cpu, "--dry-run"], env=soon, capture_output=True, check=False)
        carry_out(torch if trial.returncode else for_cpu, environment)
    # Nothing is built but the package itself, and what this needs is in the lock as well.
    pins = ["--constraint", str(LOCK), "--build-constraint", str(LOCK), "--only-binary", ":all:"]
    carry_out([*uv, *pins, "--editable", f".[{extra}]"], environment)


def locked(name: str) -> str:
    """Return a package with its version in the lock."""
    lock = LOCK.read_text(encoding="utf-8")
    return str(re.findall(rf"^{name}==\S+", lock, re.MULTILINE)[0])


def uv_settings(pip: Sequence[str]) -> dict[str, str]:
    """Translate what pip's settings say of indexes into uv's environment variables."""
    command = [*pip, "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    # As pip does; the hashes of the lock tell that a file from another index is the right one.
    settings = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "1"}
    for section in ("global", "install", ":env:"):  # the last one wins
        for name, value in re.findall(rf"^{section}\.([\w-]+)=(.*)$", listed, re.MULTILINE):
            if name in UV_NAMES:
                comma = "," if name == "find-links" else " "
                settings[UV_NAMES[name]] = comma.join(ast.literal_eval(value).split())
    return settings


def carry_out(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run an installer, which says what it does and why it fails."""
    if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
        free = shutil.disk_usage(ROOT).free / 1e9
        sys.exit(
            "The installation failed, for the reason above. It needs a network (check the proxy "
            f"settings, too) and 1.3 GB of disk, or 2.2 GB for the tests; {free:.1f} GB are free. "
            "README.md names the systems that it works on. The same command takes it up again."
        )


def refuse_a_busy_port(arguments: Sequence[str]) -> None:
    """Stop if the port that is named cannot be had; Jupyter would silently take another one."""
    named = re.search(r"--(?:\w+\.)?port[ =](\d+)", " ".join(arguments))
    with contextlib.suppress(OSError, OverflowError):
        if named:
            socket.create_connection(("localhost", int(named[1])), 0.5).close()
            sys.exit(f"Port {named[1]} is in use: stop what runs there, or name another port.")


def start(command: list[str]) -> int:
    """Become another program, which has the terminal's Ctrl-C and the exit code for itself."""
    os.chdir(ROOT)
    # Its children find .venv first on their PATH, and kernels in it rather than at home.
    paths = [str(Path(PYTHON).parent), os.environ.get("PATH", os.defpath)]
    os.environ.update(PATH=os.pathsep.join(paths), JUPYTER_PREFER_ENV_PATH="1")
    if os.name != "nt":
        os.execv(command[0], command)  # noqa: S606
    # There a program cannot become another one.
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.call(command)


def main(command: str = "", *arguments: str) -> int | str:
    """Carry out one command line; return its exit code or, in a sentence, why it failed."""
    if command in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if command not in COMMANDS:
        print(USAGE, end="", file=sys.stderr)
        return 2
    extra, program = COMMANDS[command]
    words = list(arguments)
    if command == "lab" and "--own" in words:
        extra = "own"
        words.remove("--own")
    try:
        if command in ("lab", "lecture"):
            refuse_a_busy_port(words)
        ensure(extra)
        if command in ("lab", "lecture"):
            print(f"Starting the {command}; Ctrl-C here stops it.", flush=True)
        return start([PYTHON, *program, *words])
    except KeyboardInterrupt:
        print("\nStopped. The same command takes it up again.", file=sys.stderr)
        return 130
    except OSError as error:
        return f"The operating system refused: {error}."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
