"""The package as a whole: light to import, one thread, no cycles, no paths, no network."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
THREADS = "import torch; print(torch.get_num_threads())"


def run(code: str, **environment: str) -> str:
    """Run Python code in a fresh process and return what it prints."""
    kept = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "PYTHONPATH")}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"PYTHONPATH": str(ROOT / "src")} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


# Importing

NEEDED = """
import os, sys
def loaded(name):
    print(name, name in sys.modules)
import cloze.vocabulary
loaded("numpy")
import cloze.__main__, cloze.widgets.quiz
loaded("torch")
import cloze.training
loaded("matplotlib")
from cloze.explorer import MaskExplorer
MaskExplorer()
loaded("torch._dynamo")  # it takes nearly as long to load as torch, and nothing is compiled
print(sys.modules["torch"].get_num_threads(), os.environ["OMP_NUM_THREADS"])
"""


def test_a_module_loads_only_what_it_needs() -> None:
    said = ["numpy False", "torch False", "matplotlib False", "torch._dynamo False", "1 1"]
    assert run(NEEDED).splitlines() == said


def test_torch_gets_one_thread() -> None:
    # torch itself may have found one core only, so give it two before the package comes.
    assert run(f"import torch; torch.set_num_threads(2); import cloze; {THREADS}") == "1"


def test_threads_and_a_data_folder_can_be_chosen(tmp_path: Path) -> None:
    code = f"from cloze.checkpoint import CHECKPOINTS; print(CHECKPOINTS.parent); {THREADS}"
    said = run(code, OMP_NUM_THREADS="2", CLOZE_DATA=str(tmp_path)).splitlines()
    assert said == [str(tmp_path), "2"]


def test_imports_run_one_way() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout


# What is committed


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_tracked_file_holds_a_path_of_this_machine() -> None:
    own = {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix}
    short = {"/", "/root", "/usr", "/usr/local", "/home", "/tmp"}
    paths = re.compile("|".join(re.escape(path) for path in sorted(own - short)).encode())
    assert paths.search(str(ROOT / "x").encode())
    files = tracked_files()
    assert len(files) > 180
    anywhere = re.compile(rb"/(?:home|Users|root)/(?!jovyan|jupyter-)\w+|[A-Z]:\\\\Users")
    assert not [
        str(path.relative_to(ROOT))
        for path in files
        if paths.search(content := path.read_bytes()) or anywhere.search(content)
    ]


# No network


def test_tests_reach_this_machine_and_no_network() -> None:
    code = """
import socket, urllib.request
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
for attempt in (
    lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
    lambda: socket.getaddrinfo("example.org", 80),
    lambda: urllib.request.urlopen("https://192.0.2.1", timeout=1),
):
    try:
        attempt()
    except OSError as error:
        print(getattr(error, "reason", error))
"""
    said = run(code, PYTHONPATH=str(ROOT / "tests" / "no_network")).splitlines()
    assert len(said) == 3
    assert all(line.startswith("The series touches no network") for line in said)


# Where what is


def test_nothing_outside_tests_imports_from_tests() -> None:
    found = {
        path.relative_to(ROOT).parts[0]
        for path in tracked_files()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        if name.partition(".")[0] == "tests"
    }
    assert found == {"tests"}
