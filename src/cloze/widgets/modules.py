"""Modules of JavaScript as one: for a widget in a notebook, and for a page that is one file.

Each module becomes a function that returns what it exports. It is read line by line, in the few
forms that the modules here are written in; any other import or export is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

IMPORT = re.compile(
    r'^import\s+(?:(?P<default>\w+)|\{(?P<names>[^}]*)\})\s+from\s+"(?P<file>\.\.?/[\w./-]+)";\n',
    re.MULTILINE,
)
EXPORT = re.compile(
    r"^export\s+(?P<what>(?:async\s+)?function\*?|class|const|let)\s+(?P<name>\w+)", re.MULTILINE
)
EXPORT_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)
NOTEBOOK = Path(__file__).parent / "browser" / "notebook.js"
"""The module that shows a widget in a notebook."""
COMMENT = re.compile(r"^\s*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)


class ModuleError(ValueError):
    """A module that cannot be made part of one script; the message says what in it."""


def bundle(first: Path) -> str:
    """Write a module, and all that it imports, as one script.

    Args:
        first: the file of the one that is run.

    Raises:
        ModuleError: an import or export of another form, of a file that is not there, or in a
            circle.
    """
    return f'"use strict";\n{{\n{_functions([first])}\n}}\n'


def widget(path: Path) -> str:
    """Write a widget, the default export of a module, as the module that anywidget asks for.

    Args:
        path: of the widget's file.

    Raises:
        ModuleError: as for ``bundle``.
    """
    shown = f"{_variable(NOTEBOOK)}.inNotebook({_variable(path)}.default)"
    return f"{_functions([path, NOTEBOOK])}\nexport default {shown};\n"


def _functions(wanted: Iterable[Path]) -> str:
    """Write modules, and all that they import, as functions that are called in order."""
    written: dict[Path, str] = {}
    for path in wanted:
        _write(path, (), written)
    return "\n".join(written.values())


def _write(path: Path, importing: tuple[Path, ...], written: dict[Path, str]) -> None:
    """Write a module after those that it imports, each once."""
    if path in written:
        return
    if path in importing:
        circle = " → ".join(each.name for each in (*importing, path))
        raise ModuleError(f"Modules import each other: {circle}.")
    if not path.is_file():
        raise ModuleError(f"{importing[-1].name} imports {path}, which is not there.")
    text = path.read_text("utf-8")
    taken = []
    for match in IMPORT.finditer(text):
        imported = (path.parent / match["file"]).resolve()
        _write(imported, (*importing, path), written)
        names = match["names"] or f"default: {match['default']}"
        names = re.sub(r"\s+as\s+", ": ", names).strip()
        taken.append(f"const {{ {names} }} = {_variable(imported)};")
    written[path] = _as_function(path, "\n".join(taken), COMMENT.sub("", IMPORT.sub("", text)))


def _as_function(path: Path, taken: str, body: str) -> str:
    exported = [match["name"] for match in EXPORT.finditer(body)]
    body = EXPORT.sub(r"\g<what> \g<name>", body)
    if EXPORT_DEFAULT.search(body):
        body = EXPORT_DEFAULT.sub("const whole = ", body)
        exported.append("default: whole")
    if left := LEFT_OVER.search(body):
        raise ModuleError(f"{path.name}: {left[0].strip()!r} is no form that bundle() reads.")
    gives = f"return {{ {', '.join(exported)} }};"
    return f"const {_variable(path)} = (() => {{\n{taken}\n{body}\n{gives}\n}})();"


def _variable(path: Path) -> str:
    """Name a module's variable after its file and folder: every lesson may have a ``widget.js``."""
    return re.sub(r"\W", "_", f"module_{path.parent.name}_{path.stem}")
