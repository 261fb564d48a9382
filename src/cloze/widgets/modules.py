"""Modules of JavaScript as one: for a widget in a notebook, and for a page that is one file.

Each module becomes a function that returns what it exports. It is read line by line, in the
few forms that the modules here are written in.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

IMPORT = re.compile(
    r'^import\s+(?:(?P<default>\w+)|\{(?P<names>[^}]*)\})\s+from\s+"(?P<file>\.{1,2}/[\w./-]+)";\n',
    re.MULTILINE,
)
EXPORT = re.compile(
    r"^export\s+(?P<what>(?:async\s+)?function\*?|class|const|let)\s+(?P<name>\w+)", re.MULTILINE
)
EXPORT_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
NOTEBOOK = "widgets/browser/notebook.js"
"""The module that shows a widget in a notebook."""
_BLOCK = r"(?:(?!\*/)[\s\S])*\*/"
_COMMENT = re.compile(rf"^\s*(?://.*|/\*\*{_BLOCK})\n|/\*\* @{_BLOCK} ?", re.MULTILINE)
"""A comment on lines of its own, or a type within a line."""


def bundle(modules: Mapping[str, str], first: str) -> str:
    """Write a module, and all that it imports, as one script.

    Args:
        modules: the text of each by the path of its file from one folder.
        first: the name of the one that is run.
    """
    return f'"use strict";\n{{\n{_functions(modules, [first])}\n}}\n'


def widget(modules: Mapping[str, str], name: str) -> str:
    """Write a widget, the default export of a module, as the module that anywidget asks for.

    Args:
        modules: the text of each by the path of its file from one folder.
        name: the path of the widget's file.
    """
    shown = f"{_variable(NOTEBOOK)}.inNotebook({_variable(name)}.default)"
    return f"{_functions(modules, [name, NOTEBOOK])}\nexport default {shown};\n"


def needed(modules: Mapping[str, str], first: str) -> list[str]:
    """Return the names of a module and all that it imports, what is imported first."""
    order: list[str] = []
    _visit(first, modules, order)
    return order


def without_comments(text: str) -> str:
    """Leave out of a module what only its readers need: comments, and the types in them."""
    return _COMMENT.sub("", text)


def _functions(modules: Mapping[str, str], wanted: Iterable[str]) -> str:
    """Write modules, and all that they import, as functions that are called in order."""
    order: list[str] = []
    for name in wanted:
        _visit(name, modules, order)
    return "\n".join(_as_function(name, modules[name]) for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str]) -> None:
    """Add a module to the order, after all that it imports."""
    if name in order:
        return
    for match in IMPORT.finditer(modules[name]):
        _visit(_path(match["file"], name), modules, order)
    order.append(name)


def _as_function(name: str, text: str) -> str:
    taken = []
    for match in IMPORT.finditer(text):
        wanted = match["names"] or f"default: {match['default']}"
        wanted = re.sub(r"\s+as\s+", ": ", wanted).strip()
        taken.append(f"const {{ {wanted} }} = {_variable(_path(match['file'], name))};")
    body = without_comments(IMPORT.sub("", text))
    exported = [match["name"] for match in EXPORT.finditer(body)]
    body = EXPORT.sub(r"\g<what> \g<name>", body)
    if EXPORT_DEFAULT.search(body):
        body = EXPORT_DEFAULT.sub("const whole = ", body)
        exported.append("default: whole")
    head = "\n".join(taken)
    gives = f"return {{ {', '.join(exported)} }};"
    return f"const {_variable(name)} = (() => {{\n{head}\n{body}\n{gives}\n}})();"


def _path(imported: str, name: str) -> str:
    """Return the path of what a module imports, which says where it is from the module itself."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), imported))


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name)
