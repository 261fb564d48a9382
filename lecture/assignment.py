"""Make homework for nbgrader from the exercises of one notebook.

The command is ``python -m lecture.assignment NOTEBOOK COURSE``, with the folder of an nbgrader
course. It writes ``COURSE/source/NAME/NAME.ipynb``: the text and hints of each exercise, the cell
for the answer, and a locked cell worth one point, which fails with the check's sentence unless the
check accepts the answer. It finds the answer by its name, wherever the learner has defined it. This
command does not need nbgrader.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

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


def imports_of(sources: list[str]) -> str:
    """Collect what the cells of a notebook import, each statement once."""
    statements = (
        ast.unparse(node)
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return "\n".join(dict.fromkeys(statements))


def exercises_of(
    cells: list[nbformat.NotebookNode], lesson: str
) -> Iterator[nbformat.NotebookNode]:
    """Yield three cells for each exercise: its text and hints, the answer, and the graded cell."""
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        call = re.search(r"^(check_\w+)\((\w+)\)\Z", cell.source, re.MULTILINE)
        if cell.cell_type == "code" and call:
            text = before.source[before.source.index("### Exercise") :]
            hints, _, _ = after.source.partition("<details><summary>Solution")
            yield new_markdown_cell(f"{text}\n\n{hints}".strip())
            yield new_code_cell(cell.source)
            marks = {"grade_id": call[1], "points": 1, "schema_version": 3}
            marks |= {"grade": True, "locked": True, "solution": False, "task": False}
            graded = GRADED.format(lesson=lesson, check=call[1], name=call[2])
            yield new_code_cell(graded, metadata={"nbgrader": marks})


def homework(path: Path) -> nbformat.NotebookNode:
    """Make the source of an assignment from one notebook of the series."""
    cells = nbformat.read(path, as_version=4).cells
    title = cells[0].source.partition("\n")[0]
    colab, *code = [cell.source for cell in cells if cell.cell_type == "code"]
    head = [
        new_markdown_cell(f"{title}: homework\n\n{ABOUT}"),
        new_code_cell(f"{colab}\n\n{imports_of(code)}"),
    ]
    return new_notebook(cells=[*head, *exercises_of(cells, path.stem[3:])], metadata=METADATA)


def main(arguments: list[str]) -> None:
    """Write one assignment."""
    if len(arguments) != 2:
        sys.exit("usage: python -m lecture.assignment NOTEBOOK COURSE")
    path, course = map(Path, arguments)
    name = path.stem[3:]
    target = course / "source" / name / f"{name}.ipynb"
    if target.exists():
        sys.exit(f"{target} exists already: move it first.")
    try:
        made = homework(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)
    except (OSError, ValueError) as error:
        sys.exit(f"{path} cannot be made into {target}: {error}")
    print(f"{target}: {len(made.cells) // 3} exercises, one point each")


if __name__ == "__main__":
    main(sys.argv[1:])
