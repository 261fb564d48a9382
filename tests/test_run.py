"""What run.py promises: it installs once, repairs what was interrupted, and says what is wrong."""

import ast
import hashlib
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import uv

import run

SOURCE = Path(run.__file__)
UV = f"""
import os, subprocess, sys, time
if "HANG" in os.environ and "--editable" in sys.argv:
    print("hanging", flush=True)
    time.sleep(60)
sys.exit(subprocess.call([{uv.find_uv_bin()!r}, *sys.argv[1:]]))
"""
PROGRAM = "import small, sys; print('small', small.VERSION, *sys.argv[1:]); sys.exit(5)"
PYPROJECT = """
[project]
name = "scratch"
version = "1"
dependencies = ["small", "torch"]
optional-dependencies = { lecture = [], test = ["absent"] }
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """
import shutil
def build_editable(folder, *_):
    return shutil.copy("index/scratch/scratch-1-py3-none-any.whl", folder).rpartition("/")[2]
"""


def wheel(index: Path, name: str, version: str, file: str, code: str) -> str:
    """Put a wheel with one file in it into an index; return what a lock says of it."""
    (index / name).mkdir(parents=True, exist_ok=True)
    path = index / name / f"{name}-{version}-py3-none-any.whl"
    (index / name / "index.html").write_text(f"<a href={path.name}>{path.name}</a>")
    about = f"{name}-{version}.dist-info"
    needs = "Requires-Dist: small\nProvides-Extra: lecture\n" if name == "scratch" else ""
    files = {
        file: code,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    }
    record = f"{about}/RECORD"
    files[record] = "".join(f"{each},,\n" for each in [*files, record])
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in files.items():
            archive.writestr(each, text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n"


class Scratch:
    """A project with an index of its own: run.py, and wheels as small as can be."""

    def __init__(self, root: Path) -> None:
        self.root, self.index, self.lock = root, root / "index", root / "requirements.lock"
        shutil.copy(SOURCE, root)
        (root / "pyproject.toml").write_text(PYPROJECT)
        (root / "backend.py").write_text(BACKEND)
        wheel(self.index, "scratch", "1", "cloze/__main__.py", PROGRAM)
        self.lock.write_text(
            wheel(self.index, "uv", "7", "uv/__main__.py", UV)
            + wheel(self.index, "torch", "2", "torch.py", "")
            + wheel(self.index, "small", "1", "small.py", "VERSION = 1")
        )

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        ours = ("PIP_", "UV_", "PYTHONPATH")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        settings = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": self.index.as_uri(),
            "UV_CACHE_DIR": str(self.root / "cache"),
            "HTTPS_PROXY": "http://127.0.0.1:9",  # no other index is reached
        }
        return subprocess.Popen(
            [sys.executable, "run.py", *words],
            cwd=self.root,
            env=inherited | settings | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and what it prints."""
        process = self.start(*words)
        printed, _ = process.communicate(timeout=120)
        return process.returncode, printed


def interrupt_the_installation(scratch: Scratch) -> None:
    with scratch.start("lab", HANG="1") as process:
        assert process.stdout is not None
        while process.stdout.readline() != "hanging\n":
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.endswith("Stopped. The same command takes it up again.\n")
    assert "run.py" not in printed, "no traceback"


@pytest.mark.long
def test_it_installs_once_and_what_works_stays(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    if os.name != "nt":  # which has no signals
        interrupt_the_installation(scratch)

    started = "Starting the lab; Ctrl-C here stops it.\nsmall 1 lab notebooks --port 9\n"
    code, printed = scratch.run("lab", "--port", "9")
    assert printed.startswith("Installing 1.3 GB into .venv, this once.\n")
    assert printed.endswith(started)
    assert code == 5, "the program's own"

    # Without a network it starts, even when the list of packages has changed.
    away = scratch.index.rename(tmp_path / "away")
    assert scratch.run("lab", "--port", "9") == (5, started)
    scratch.lock.write_text(scratch.lock.read_text() + "# changed\n")
    code, printed = scratch.run("lab", "--port", "9")
    assert ".venv stays as it was" in printed
    assert printed.endswith(started)
    code, printed = scratch.run("test")
    assert code == 1
    assert "The installation failed, for the reason above. It needs a network" in printed
    assert "Traceback" not in printed
    away.rename(scratch.index)

    lines = wheel(scratch.index, "small", "2", "small.py", "VERSION = 2")
    scratch.lock.write_text(scratch.lock.read_text().partition("small")[0] + lines)
    code, printed = scratch.run("lab")
    assert printed.startswith("Bringing .venv up to date.\n")
    assert printed.endswith("small 2 lab notebooks\n")

    # A .venv of somebody else's is left alone.
    (tmp_path / ".venv/cloze-installed").unlink()
    before = sorted(tmp_path.rglob("*"))
    code, printed = scratch.run("lab")
    assert code == 1
    assert "has not made" in printed
    assert sorted(tmp_path.rglob("*")) == before


def test_an_old_python_can_read_the_file_and_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 7))
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SystemExit, match=r"needs Python 3.11 or newer and this is Python 3\.10"):
        runpy.run_path(str(SOURCE))


@pytest.mark.parametrize(("words", "code"), [([], 2), (["frobnicate"], 2), (["-h"], 0)])
def test_usage(capsys: pytest.CaptureFixture[str], words: list[str], code: int) -> None:
    assert run.main(*words) == code
    printed = capsys.readouterr()
    assert (printed.err if code else printed.out) == run.USAGE


@pytest.mark.parametrize("command", ["lab", "lecture"])
def test_a_used_port_is_refused_before_anything_is_installed(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(run, "ensure", None)
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(SystemExit, match=f"Port {port} is in use"):
            run.main(command, f"--port={port}")
