"""Which small changes of a solution its check would accept: ``python -m benchmarks.mutants``.

Each solution is changed in one place: another operator, another comparison, a number off by one,
another axis, a condition that always holds, a call left out. A mutant that gives the solution's
results on the probes of a seed is one that a learner could hand in and be called right, unless it
is right. Those that survive are printed, with the number of seeds that let them pass: a probe is
missing, or the change makes no difference. Lessons can be named::

    python -m benchmarks.mutants
    python -m benchmarks.mutants the_loss the_mask
"""

from __future__ import annotations

import ast
import copy
import inspect
import random
import sys
import textwrap
from collections.abc import Iterator, Sequence

from cloze.teaching import results
from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Function, Symptom
from cloze.teaching.seeds import exercises_of, folders_of_lessons

SECONDS = 2.0
"""After which a mutant is taken to be one without end."""

OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq, ast.GtE, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "append": "remove"}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a part of a program."""
    if type(node) in OPERATORS:
        yield from (other() for other in OPERATORS[type(node)])
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield from (ast.Constant(node.value + step) for step in (1, -1))
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Call):
        if node.args and not isinstance(node.args[0], ast.Starred):
            yield node.args[0]
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        for i in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    if isinstance(node, ast.Slice):
        yield from (ast.Slice(*ends) for ends in ((None, node.upper), (node.lower, None)))
    if isinstance(node, ast.IfExp | ast.If | ast.comprehension):
        tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
        for i in range(len(tests)):
            other = copy.deepcopy(node)
            if isinstance(other, ast.comprehension):
                del other.ifs[i]
            else:
                other.test = ast.Constant(True)
            yield other
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        for step in (ast.Add(), ast.Sub()):
            if not isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant):
                at = ast.BinOp(node.slice, step, ast.Constant(1))
                yield ast.Subscript(node.value, at, node.ctx)


class Exchange(ast.NodeTransformer):
    """Replace the part of a program that has a number, in the order of a walk."""

    def __init__(self, number: int, other: ast.AST) -> None:
        self.number, self.other, self.seen = number, other, -1

    def visit(self, node: ast.AST) -> ast.AST:
        """Count the parts, and exchange one of them."""
        self.seen += 1
        if self.seen == self.number:
            return self.other
        return super().generic_visit(node)


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all parts of a program in the order in which :class:`Exchange` comes to them."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from parts(child)


def mutants(solution: Function) -> Iterator[tuple[str, Function]]:
    """Yield each mutant's source with the function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(solution)))
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    function.returns, function.decorator_list = None, []
    function.args.args = [ast.arg(each.arg) for each in function.args.args]
    if ast.get_docstring(function) is not None:
        del function.body[0]
    for number, part in enumerate(parts(tree)):
        for other in changes(part):
            changed = Exchange(number, copy.deepcopy(other)).visit(copy.deepcopy(tree))
            source = ast.unparse(ast.fix_missing_locations(changed))
            names = dict(vars(inspect.getmodule(solution)))
            try:
                exec(compile(source, "<mutant>", "exec"), names)  # noqa: S102 - our own solution
            except SyntaxError:
                continue
            yield source, names[function.name]


def survivors(exercise: Exercise, seeds: Sequence[int]) -> dict[str, int]:
    """Return the mutants that look like the solution, and to how many sets of probes."""
    assert exercise.probes
    drawn = [exercise.probes(random.Random(seed)) for seed in seeds]  # noqa: S311
    right = [exercise.outcomes(exercise.solution, probes) for probes in drawn]
    found: dict[str, int] = {}
    for source, mutant in mutants(exercise.solution):
        for probes, asked in zip(drawn, right, strict=True):
            try:
                same = exercise.outcomes(mutant, probes) == asked
            except Symptom:  # it does not come to an end
                same = False
            found[source] = found.get(source, 0) + same
    return {source: count for source, count in found.items() if count}


def main(lessons: list[str]) -> None:
    """Print what survives in some lessons, or in all."""
    results.LONGEST = SECONDS
    for lesson in lessons or folders_of_lessons():
        for name, exercise in exercises_of(lesson).items():
            if not callable(exercise.solution) or not exercise.probes:
                continue
            n = sum(1 for _ in mutants(exercise.solution))
            left = survivors(exercise, exercise.seeds)
            print(f"\n### {lesson}: {name}: {len(left)} of {n} mutants survive", flush=True)
            for source, count in left.items():
                print(f"\n# with {count} of {len(exercise.seeds)} seeds\n{source}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
