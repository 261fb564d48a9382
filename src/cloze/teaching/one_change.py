"""The one change that would make a wrong function right: where it is, and not what it is.

A function that nothing known explains is changed in one place after the other: a number by one,
an operator, a comparison, a name for another one, ``min`` for ``max``, ``=`` for ``+=``, a
``return`` moved out of a loop. If one of these functions is right, the learner is told the place.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence, Sequence
from importlib.resources import files
from typing import Any

from cloze.teaching.results import Function, Symptom, run

SECONDS = 0.8
"""How long is searched, at most."""

LONGEST_PLACE = 50
"""Characters of a place that is shown."""

Slot = tuple[MutableMapping[str, Any] | MutableSequence[Any], Any]
"""Where a node is in its tree: what holds it, and the key or index there."""

Edit = tuple[Sequence[Any], Slot, Any]
"""A change: nodes to be shown, the widest first, where the new one goes, and the new one."""

OPERATORS: tuple[tuple[type[ast.AST], ...], ...] = (
    (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv),
    (ast.BitAnd, ast.BitOr, ast.BitXor),
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
)
"""Operators that are taken for one another."""

COUNTS = ast.Name | ast.BinOp | ast.Call
"""Expressions that may be one too large or too small."""

WORDS = [
    re.findall(r"`(\w+)`", row)
    for row in files("cloze.teaching").joinpath("one_change.md").read_text("utf-8").splitlines()
]
"""Functions and methods that are taken for one another."""


def slots_of(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, Slot]]:
    """Walk through a tree: every node with its parent, and where it is."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield value, parent, (vars(parent), name)
            elif isinstance(value, list):
                for i, child in enumerate(value):
                    if isinstance(child, ast.AST):
                        yield child, parent, (value, i)


def edits_of(definition: ast.AST) -> Iterator[Edit]:
    """List the changes that are tried in a function."""
    nodes = list(ast.walk(definition))
    local = {n.id for n in nodes if isinstance(n, ast.Name) and not _read(n)}
    local |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    read_once = results_read_once(nodes)
    for node, parent, slot in list(slots_of(definition)):
        if isinstance(node, ast.operator | ast.cmpop | ast.boolop):
            groups = [group for group in OPERATORS if type(node) in group]
            for kind in (kind for group in groups for kind in group if kind is not type(node)):
                yield [parent], slot, kind()
        elif isinstance(node, ast.expr):
            around = [parent, node] if hasattr(parent, "lineno") else [node]
            for new in expressions(node, parent, local, read_once):
                yield around, slot, new
        elif isinstance(node, ast.stmt):
            yield from (([node], slot, new) for new in statements(node))
        elif isinstance(node, ast.comprehension) and node.ifs:
            yield [node.ifs[0]], (vars(node), "ifs"), node.ifs[1:]
        if isinstance(node, ast.For | ast.While):
            yield from moved(node, slot)


def _read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def results_read_once(nodes: Sequence[ast.AST]) -> set[str]:
    """Name the results that are read only once: with another name there, they were for nothing."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.AugAssign)]
    inside = [part for node in assigned for part in ast.walk(node)]
    results = {part.id for part in inside if isinstance(part, ast.Name) and not _read(part)}
    read = [node.id for node in nodes if isinstance(node, ast.Name) and _read(node)]
    return {name for name in results if read.count(name) == 1}


def expressions(
    node: ast.expr, parent: ast.AST, local: set[str], read_once: set[str]
) -> Iterator[ast.expr]:
    """List what could be in the place of an expression."""
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from map(ast.Constant, (value + 1, value - 1, -value))
        case ast.Name(name, ast.Load()):
            called = isinstance(parent, ast.Call) and parent.func is node
            others = _words(name) if called else sorted(local - {name})
            if name not in read_once or called:
                yield from (ast.Name(other, ast.Load()) for other in others)
        case ast.Attribute(value, name, ast.Load()):
            yield from (ast.Attribute(value, other, ast.Load()) for other in _words(name))
        case ast.BinOp(left, op, right):
            if not isinstance(op, ast.Add | ast.Mult):
                yield ast.BinOp(right, op, left)
            yield from (a for a, b in ((left, right), (right, left)) if isinstance(b, ast.Constant))
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call(args=[single], keywords=[], func=ast.Name()):
            yield single
        case ast.Call(func, [first, second, *rest], keywords):
            yield ast.Call(func, [second, first, *rest], keywords)
        case ast.Call(func=ast.Attribute(value=value), args=[]):
            yield value
        case ast.Subscript(value, ast.Slice() | ast.Constant(), ast.Load()):
            yield value
    if isinstance(node, ast.Compare | ast.Name | ast.Call) and isinstance(
        parent, ast.If | ast.IfExp | ast.While | ast.comprehension
    ):
        yield ast.UnaryOp(ast.Not(), node)
    counted = ast.Subscript | ast.Slice | ast.Call | ast.Compare | ast.BinOp
    looked_up = node in (getattr(parent, "func", None), getattr(parent, "value", None))
    if isinstance(node, COUNTS) and isinstance(parent, counted) and not looked_up:
        yield from (ast.BinOp(node, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub()))


def _words(name: str) -> list[str]:
    groups = [group for group in WORDS if name in group]
    return list(dict.fromkeys(word for group in groups for word in group if word != name))


def statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """List what could be in the place of a statement."""
    match node:
        case ast.AugAssign(target, _, value):
            yield ast.Assign([target], value)
        case ast.Assign([ast.Name() | ast.Subscript() as target], value):
            yield from (ast.AugAssign(target, op, value) for op in (ast.Add(), ast.Sub()))
        case ast.Break() | ast.Continue() | ast.Expr(ast.Call()):
            yield ast.Pass()


def moved(loop: ast.For | ast.While, slot: Slot) -> Iterator[Edit]:
    """Move the last line of a loop out of it, or the line after a loop into it."""
    last = loop.body[-1]
    yield [last], slot, _with_body(loop, loop.body[:-1], then=last)
    if isinstance(last, ast.For | ast.While | ast.If) and isinstance(last.body[-1], ast.Return):
        inner = _with_body(last, last.body[:-1])
        yield [last.body[-1]], slot, _with_body(loop, [*loop.body[:-1], inner], then=last.body[-1])
    siblings, at = slot
    if isinstance(siblings, list) and (after := siblings[at + 1 : at + 2]):
        yield after, slot, _with_body(loop, [*loop.body, *after])


def _with_body(block: Any, body: Sequence[ast.stmt], then: ast.stmt | None = None) -> ast.stmt:
    """Return a block with another body, and what comes after it."""
    other = copy.copy(block)
    other.body = list(body) or [ast.Pass()]
    return ast.If(ast.Constant(True), [other, then], []) if then else other


def place_of(source: str, *nodes: ast.AST) -> str:
    """Show the first of some nodes that is short enough, or the beginning of the last."""
    lines = [(ast.get_source_segment(source, node) or "").split("\n")[0] for node in nodes]
    shown = next((line for line in lines if 0 < len(line) <= LONGEST_PLACE), lines[-1] or lines[0])
    return textwrap.shorten(shown, LONGEST_PLACE, placeholder=" …")


def one_change(function: Function, is_right: Callable[[Function], bool]) -> str:
    """Find the place where one change makes a function right: a sentence, empty if there is none.

    Args:
        function: The wrong function.
        is_right: Whether a changed function is right; it may raise.
    """
    try:
        source = textwrap.dedent(inspect.getsource(function))
        [definition] = ast.parse(source).body
        names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    except (OSError, SyntaxError, TypeError, ValueError):  # no source, or only a piece of it
        return ""
    if not isinstance(definition, ast.FunctionDef):
        return ""

    def search() -> str:
        for shown, (holder, key), new in edits_of(definition):
            old, holder[key] = holder[key], new
            try:
                tree = ast.fix_missing_locations(ast.Module([definition], []))
                exec(compile(tree, "<one change>", "exec"), names)  # noqa: S102 - the learner's own
                right = is_right(names[definition.name])
            except (Exception, SystemExit):  # a change may do anything
                right = False
            finally:
                holder[key] = old
            if right:
                line = function.__code__.co_firstlineno - 1 + shown[-1].lineno
                place = place_of(source, *shown)
                return f"One change in line {line} makes it right: look at `{place}`."
        return ""

    with contextlib.suppress(Symptom):  # it took too long
        return run(search, (), SECONDS).value or ""
    return ""
