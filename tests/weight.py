"""Counts the project's lines of code, without blank lines, comments and docstrings.

`python -m tests.weight` prints the table; `test_weight.py` holds the sums to their limits.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

COMMENT = re.compile(
    r"""
    (?P<code>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*`)  # strings stay
    | /\*.*?\*/ | <!--.*?--> | \{\#.*?\#\} | (?<![:\\])//[^\n]*""",
    re.DOTALL | re.VERBOSE,
)

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def python_lines(text: str) -> int:
    """Count the lines of a Python file that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def other_lines(text: str) -> int:
    """Count the lines of JavaScript, C, CSS or HTML that hold code."""
    code = COMMENT.sub(lambda found: found["code"] or "\n" * found[0].count("\n"), text)
    return sum(bool(line.strip()) for line in code.splitlines())


LANGUAGES = {
    ".py": "Python", ".js": "JavaScript", ".ts": "JavaScript", ".c": "C",
    ".css": "HTML and CSS", ".html": "HTML and CSS", ".j2": "HTML and CSS",
}  # fmt: skip


LIMITS = {
    "Python in src": 14_800,
    "JavaScript": 6_170,
    "tests": 13_120,
    "benchmarks": 1_000,
    "lecture": 900,
    "measured": 2_600,
    "together": 37_500,
}
"""The most lines of code that there may be. What comes in is paid for by what goes out."""

COUNTED_TOGETHER = ("src", "tests", "web", "lecture", "benchmarks")
"""What is used or must be kept working. The commands in ``measured`` ran once; see their limit."""


def weights(root: Path = ROOT) -> Counter[tuple[str, str]]:
    """Count the lines of code that git knows, by folder and language."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    counted: Counter[tuple[str, str]] = Counter()
    for path in map(Path, filter(None, listed.split("\0"))):
        language = LANGUAGES.get(path.suffix)
        if language and (root / path).exists():
            text = (root / path).read_text(encoding="utf-8")
            lines = python_lines(text) if language == "Python" else other_lines(text)
            counted[path.parts[0] if path.parent.name else ".", language] += lines
    return counted


def sums(counted: Counter[tuple[str, str]]) -> dict[str, int]:
    """Add up what `LIMITS` names."""

    def total(*folders: str) -> int:
        return sum(lines for (folder, _), lines in counted.items() if folder in folders)

    scripts = ("src", "web", "lecture")
    return {
        "Python in src": counted["src", "Python"],
        "JavaScript": sum(counted[folder, "JavaScript"] for folder in scripts),
        **{folder: total(folder) for folder in ("tests", "benchmarks", "lecture", "measured")},
        "together": total(*COUNTED_TOGETHER),
    }


def main() -> None:
    """Print what every folder weighs, and the sums beside their limits."""
    counted = weights()
    for (folder, language), lines in sorted(counted.items()):
        print(f"{folder:14}{language:14}{lines:7,}")
    print(f"\n{'':28}{'lines':>7}{'limit':>8}")
    for name, lines in sums(counted).items():
        print(f"{name:28}{lines:7,}{LIMITS[name]:8,}")


if __name__ == "__main__":
    main()
