"""The package as a whole: light to import, one thread, no cycles, no paths, no network."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cloze

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cloze"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
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


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, cloze; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = set(run(code).split())
    assert "cloze" in loaded
    assert not loaded & {"torch", "numpy", "matplotlib", "safetensors", "tqdm", "anywidget"}


@pytest.mark.parametrize(
    ("module", "unneeded"), [("__main__", "torch"), ("training", "matplotlib")]
)
def test_a_module_loads_only_what_it_needs(module: str, unneeded: str) -> None:
    assert run(f"import sys, cloze.{module}; print({unneeded!r} in sys.modules)") == "False"


def test_torch_gets_one_thread_whichever_is_imported_first() -> None:
    # A machine with one core gets one thread anyway, so look at what torch was told as well.
    told = "import os; print(os.environ['OMP_NUM_THREADS'])"
    assert run(f"import cloze; {THREADS}; {told}") == "1\n1"
    # torch itself may have found one core only, so give it two before the package comes.
    assert run(f"import torch; torch.set_num_threads(2); import cloze; {THREADS}") == "1"


def test_another_choice_of_threads_is_respected() -> None:
    assert run(f"import cloze; {THREADS}", OMP_NUM_THREADS="2") == "2"
    assert run(f"import torch, cloze; {THREADS}", OMP_NUM_THREADS="2") == "2"


# The order of the modules


def declared_order() -> list[str]:
    """Read the chain text -> masking -> … from the docstring of the package."""
    assert cloze.__doc__
    match = re.search(r"\n\n( {4}text ->.*?)\n\n", cloze.__doc__, re.DOTALL)
    assert match
    return re.split(r"\s*->\s*", match[1].strip())


def idea(path: Path) -> str:
    """Name the module, or the folder of modules, that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Name the modules of the package that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a module stands"
            assert node.module
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            names.add(str(node.args[0].value))  # importlib.import_module("cloze.text")
    parts = [name.split(".") for name in names if re.match(r"cloze\.\w+", name)]
    return {part[1] for part in parts} & {idea(module) for module in MODULES}


def test_the_declared_order_names_every_module_once() -> None:
    assert sorted(declared_order()) == sorted({idea(path) for path in MODULES})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_left(path: Path) -> None:
    order = declared_order()
    left = set(order[: order.index(idea(path))])
    if path.parent != PACKAGE:
        left.add(idea(path))  # widgets share code among themselves
    assert imported(path) <= left


def test_imports_are_really_seen() -> None:
    assert imported(PACKAGE / "training.py") >= {"text", "masking", "loss", "checkpoint", "muon"}
    assert imported(PACKAGE / "environment.py") >= {"text", "checkpoint"}
    assert imported(PACKAGE / "text.py") == set()


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
    anywhere = re.compile(rb"/(?:home|Users|root)/\w+|[A-Z]:\\\\Users")
    assert not [
        str(path.relative_to(ROOT))
        for path in files
        if paths.search(content := path.read_bytes()) or anywhere.search(content)
    ]


# No network


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 80), timeout=1)",
        "socket.socket().connect(('192.0.2.1', 80))",
        "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "socket.getaddrinfo('example.org', 80)",
        "socket.gethostbyname('example.org')",
        "urllib.request.urlopen('http://example.org', timeout=1)",
        "urllib.request.urlopen('https://192.0.2.1', timeout=1)",
    ],
)
def test_the_network_is_really_forbidden(attempt: str) -> None:
    code = f"""
import socket, urllib.request
try:
    {attempt}
except PermissionError as error:
    print(error)
except urllib.error.URLError as error:
    print(error.reason)
else:
    print("went through")
"""
    said = run(code, PYTHONPATH=str(ROOT / "tests" / "no_network"))
    assert said.startswith("The series touches no network")


def test_the_machine_itself_can_still_be_reached() -> None:
    code = """
import socket
for host in ("127.0.0.1", "localhost"):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection((host, server.getsockname()[1]), timeout=5):
            print("reached")
"""
    assert run(code, PYTHONPATH=str(ROOT / "tests" / "no_network")) == "reached\nreached"
