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


def weights(root: Path = ROOT) -> Counter[tuple[str, str]]:
    """Count the lines of code of every folder and language that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True
    ).stdout
    counted: Counter[tuple[str, str]] = Counter()
    for name in filter(None, listed.split("\0")):
        path = root / name
        language = LANGUAGES.get(path.suffix)
        if language is None or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        folder = name.partition("/")[0] if "/" in name else "."
        counted[folder, language] += (
            python_lines(text) if language == "Python" else other_lines(text)
        )
    return counted


def main() -> None:
    """Print the table."""
    counted = weights()
    for (folder, language), lines in sorted(counted.items()):
        print(f"{folder:12}{language:14}{lines:7,}")
    print(f"{'together':26}{counted.total():7,}")


if __name__ == "__main__":
    main()
