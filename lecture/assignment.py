"""Make homework for nbgrader of the exercises of one notebook.

The command is ``python -m lecture.assignment NOTEBOOK COURSE``, with the folder of a course that
nbgrader keeps. It writes ``COURSE/source/NAME/NAME.ipynb`` in the form that nbgrader expects: each
exercise with its solution in the place where nbgrader removes it, and below it a locked cell of one
point. That cell fails with the symptom unless the check accepts the answer. You do not need
nbgrader to run this command.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from notebooks.execute import METADATA

ABOUT = (
    "Answer each exercise in its own cell. The notebook of the same name explains what it asks. "
    "The check below your answer grades it, and you can run it as often as you like."
)
GRADED = """\
from cloze.lessons.{lesson}.checks import {check}

verdict = {check}({name})
assert verdict, verdict"""


def kept_by_nbgrader(grade_id: str, **kind: Any) -> dict[str, Any]:
    """Return what nbgrader has to know about a cell, in its schema 3."""
    plain = {"grade": False, "locked": False, "solution": False, "task": False, "schema_version": 3}
    return {"nbgrader": {"grade_id": grade_id, **plain, **kind}}


def _text_of(exercise: str, prose: str) -> str:
    """Cut an exercise and its hints out of the prose, without what comes next and the solution."""
    [text] = re.findall(rf"^(### {re.escape(exercise)}.*?)(?=^##|\Z)", prose, re.M | re.S)
    # What stands behind the exercise's own hints and solution belongs to the text that goes on.
    text = re.match(r"(.*</details>|.*)", text, re.S)[0]  # type: ignore[index]
    return re.sub(r"<details><summary>Solution.*?</details>\s*", "", text, flags=re.S).strip()


def with_solution(skeleton: str, solution: str) -> str:
    """Put a solution into the cell that learners fill in, between the marks that nbgrader knows.

    Args:
        skeleton: the code of the cell, whose last line calls the check.
        solution: imports, and then one function or one assignment.
    """
    *imports, answer = ast.parse(solution).body
    lines = solution.splitlines()
    body = lines[answer.lineno - 1 :]
    *above, call = skeleton.strip().splitlines()
    indent = ""
    if isinstance(answer, ast.FunctionDef):
        body = lines[answer.body[0].lineno - 1 :]
        indent = " " * answer.body[0].col_offset
        here = next(i for i, line in enumerate(above) if line.startswith(f"def {answer.name}("))
        above = above[: here + 1]
    inside = [indent + lines[node.lineno - 1] for node in imports]
    marked = [f"{indent}### BEGIN SOLUTION", *inside, *body, f"{indent}### END SOLUTION"]
    return "\n".join([*above, *marked, "", "", call])


def imports_of(sources: Iterable[str]) -> str:
    """Collect what the cells of a notebook import, each statement once.

    Checks are left out: the cells that give the points import them anew.
    """
    found = (
        ast.unparse(node)
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.Import | ast.ImportFrom) and "checks" not in ast.unparse(node)
    )
    return "\n".join(dict.fromkeys(found))


def cells_of(notebook: Any, lesson: str) -> Iterator[Any]:
    """Make the homework's cells: the title, the imports, and three for each exercise."""
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    [title] = re.findall(r"\A# (.+)$", prose, re.M)
    colab, *code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    yield new_markdown_cell(f"# {title}: homework\n\n{ABOUT}")
    yield new_code_cell(f"{colab}\n\n{imports_of(code)}")
    solutions = re.findall(r"<summary>Solution[^<]*</summary>\s*```python\n(.*?)```", prose, re.S)
    headings = re.findall(r"^### (Exercise \d+\.\d+ · .+)$", prose, re.M)
    answers = [source for source in code if re.match(r"check_\w+\(\w+\)$", source.splitlines()[-1])]
    for exercise, solution, source in zip(headings, solutions, answers, strict=True):
        check, name = re.findall(r"\w+", source.splitlines()[-1])
        yield new_markdown_cell(_text_of(exercise, prose))
        told = kept_by_nbgrader(name, solution=True)
        yield new_code_cell(with_solution(source, solution), metadata=told)
        told = kept_by_nbgrader(check, grade=True, locked=True, points=1)
        graded = GRADED.format(lesson=lesson, check=check, name=name)
        yield new_code_cell(graded, metadata=told)


def homework(path: Path) -> Any:
    """Make the source of an assignment of one notebook of the series.

    Raises:
        ValueError: it is none, or one without exercises.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        cells = [*cells_of(notebook, path.stem[3:])]
    except Exception as error:  # nbformat meets what is no notebook with errors of many kinds
        said = getattr(error, "strerror", None) or "it is no notebook of this series"
        raise ValueError(f"{path} cannot be made into homework: {said}.") from None
    if len(cells) == 2:
        raise ValueError(f"{path} has no exercises to make homework of.")
    return new_notebook(cells=cells, metadata=METADATA)


def main(arguments: list[str]) -> int:
    """Write one assignment; return the exit code."""
    if len(arguments) != 2:
        print("usage: python -m lecture.assignment NOTEBOOK COURSE", file=sys.stderr)
        return 2
    path, course = map(Path, arguments)
    name = path.stem[3:]
    target = course / "source" / name / f"{name}.ipynb"
    if target.exists():
        print(f"{target} is there already, and it is left as it is: move it first.")
        return 1
    try:
        made = homework(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)
    except ValueError as error:
        print(error)
        return 1
    except OSError as error:
        print(f"{target} cannot be written: {error.strerror}.")
        return 1
    print(f"{target}: {(len(made.cells) - 2) // 3} to be graded, with one point each")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
