"""Which small changes of a solution its check would accept: ``python -m benchmarks.mutants``.

Each solution is changed in one place, in all the ways in which ``teaching.one_change`` changes
wrong answers. A mutant that gives the solution's results on the probes of a seed is one that a
learner could hand in and be called right, unless it is right. Those that survive are printed, with
the number of seeds that let them pass: a probe is missing, or the change makes no difference.
Lessons can be named::

    python -m benchmarks.mutants
    python -m benchmarks.mutants the_loss the_mask
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import random
import sys
import textwrap
from collections.abc import Iterator, Sequence

from cloze.teaching.seeds import exercises_of, folders_of_lessons

from cloze.teaching import results
from cloze.teaching.exercise import Exercise
from cloze.teaching.one_change import edits_of
from cloze.teaching.results import Function, Symptom

SECONDS = 2.0
"""After which a mutant is taken to be one without end."""


def mutants(solution: Function) -> Iterator[tuple[str, Function]]:
    """Yield each mutant's source with the function: the changes that are looked for in answers."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(solution)))
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    function.returns, function.decorator_list = None, []
    function.args.args = [ast.arg(each.arg) for each in function.args.args]
    if ast.get_docstring(function) is not None:
        del function.body[0]
    for _, (holder, key), other in edits_of(function):
        kept, holder[key] = holder[key], other
        source = ast.unparse(ast.fix_missing_locations(tree))
        holder[key] = kept
        names = dict(vars(inspect.getmodule(solution)))
        with contextlib.suppress(SyntaxError):
            exec(compile(source, "<mutant>", "exec"), names)  # noqa: S102 - our own solution
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
