"""How large the project is: lines of code, files, layers of imports.

``python -m benchmarks.lines`` counts by folder the files and the lines of code, without blanks,
comments and docstrings, and with the blocks of code in ``mistakes.md``; the layers that the import
linter holds the package to and the longest chain of imports in it; and the modules of it that
``import cloze.training`` loads. ``--tests`` collects the tests and counts them, too.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cloze"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
SPOKEN = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)


def of_python(text: str) -> int:
    """Count the lines of a Python source that hold code."""
    spoken: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for part in node.body:
                constant = part.value if isinstance(part, ast.Expr) else None
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    spoken.update(range(part.lineno, (part.end_lineno or 0) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in (*SILENT, tokenize.ENDMARKER)
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - spoken)


def of_file(path: Path) -> int:
    """Count the lines of code of a file: Python, JavaScript, or Python in Markdown."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return of_python(text)
    if path.suffix == ".md":
        return sum(map(of_python, BLOCK.findall(text)))
    return sum(bool(line.strip()) for line in SPOKEN.sub("", text).splitlines())


def folders() -> dict[str, list[Path]]:
    """Return the files of each part of the project."""
    parts = {"core": sorted(PACKAGE.glob("*.py"))}
    for folder in sorted(path.parent for path in PACKAGE.glob("*/__init__.py")):
        files = (*folder.rglob("*.py"), *folder.rglob("mistakes.md"))
        parts[folder.name] = sorted(files)
    for name in ("tests", "benchmarks", "web", "lecture", "notebooks"):
        parts[name] = sorted((ROOT / name).rglob("*.py"))
    parts["JavaScript"] = sorted(
        path for name in ("src", "web", "lecture", "tests") for path in (ROOT / name).rglob("*.js")
    )
    return parts


def contract() -> int:
    """Return how many layers the import linter knows."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return max(len(each.get("layers", [])) for each in contracts)


def longest_chain() -> list[str]:
    """Return the longest chain of modules of the package of which each imports the next."""
    graph = grimp.build_graph("cloze", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(imports).static_order():
        behind: Iterable[list[str]] = (chains[each] for each in imports[name])
        chains[name] = [name, *max(behind, key=len, default=[])]
    return max(chains.values(), key=len)


def printed(*words: str) -> list[str]:
    """Return the lines that Python prints when it runs so."""
    command = [sys.executable, *words]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    return result.stdout.splitlines()


def main(arguments: list[str] | None = None) -> None:
    """Print each number on a line of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lines", description=__doc__)
    parser.add_argument("--tests", action="store_true", help="count the tests, too")
    options = parser.parse_args(arguments)
    parts = folders()
    print(f"{'':<12}{'files':>8}{'lines of code':>16}")
    for name, files in parts.items():
        print(f"{name:<12}{len(files):>8}{sum(map(of_file, files)):>16}")
    inside = [path for files in parts.values() for path in files if PACKAGE in path.parents]
    python = [path for path in inside if path.suffix != ".js"]
    print(f"{'src':<12}{len(python):>8}{sum(map(of_file, python)):>16}")
    chain = longest_chain()
    print(f"layers of the package: {contract()}")
    print(f"longest chain of imports: {len(chain)}, {' → '.join(chain)}")
    loaded = "import sys, cloze.training; print(*(m for m in sys.modules if m[:5] == 'cloze'))"
    [modules] = printed("-c", loaded)
    print(f"import cloze.training loads {len(modules.split())} modules of the package")
    if options.tests:
        *_, said = printed("-m", "pytest", "--collect-only", "-qq", "-n", "0", "--slow")
        print(said)


if __name__ == "__main__":
    main()
