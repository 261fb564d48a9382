"""Homework for nbgrader: every exercise of every notebook, graded by its check."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from lecture.assignment import homework, main
from tests.series import ROOT, each_notebook, read


def run(source: str, names: dict[str, Any]) -> None:
    exec(source, names)


@each_notebook
def test_solutions_earn_their_points_and_what_is_handed_out_earns_none(path: Path) -> None:
    made = homework(path)
    nbformat.validate(made)
    text = "\n".join(cell.source for cell in read(path).cells)
    solutions = re.findall(r"<summary>Solution[^<]*</summary>\s*```python\n(.*?)```", text, re.S)
    _, imports, *cells = made.cells
    exercises = [*zip(*(cells[i::3] for i in range(3)), strict=True)]
    assert len(exercises) == len(solutions)
    before: dict[str, Any] = {}
    run(imports.source.rpartition("\n\n")[2], before)
    for (asks, answer, graded), solution in zip(exercises, solutions, strict=True):
        assert asks.source.startswith("### Exercise ")
        assert "Solution" not in asks.source
        assert re.findall("^##+ ", re.sub("```.*?```", "", asks.source, flags=re.S), re.M) == [
            "### "
        ]
        names = {**before}
        run(answer.source, names)
        with pytest.raises(AssertionError, match=r"Not yet\."):
            run(graded.source, names)
        run(f"{answer.source}\n\n{solution}\n{graded.source}", names)
        assert graded.metadata["nbgrader"]["locked"]
    assert len({graded.metadata["nbgrader"]["grade_id"] for *_, graded in exercises}) == len(
        solutions
    )


def test_a_check_that_the_learner_replaced_counts_for_nothing() -> None:
    _, _, _, _, graded, *_ = homework(ROOT / "notebooks" / "01_the_loss.ipynb").cells
    names: dict[str, Any] = {"summed_loss": sum, "check_summed_loss": bool}
    with pytest.raises(AssertionError, match="Not yet"):
        run(graded.source, names)


def test_an_assignment_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(ROOT / "notebooks" / "01_the_loss.ipynb"), str(tmp_path)]
    main(arguments)
    assert capsys.readouterr().out.endswith("the_loss.ipynb: 3 exercises, one point each\n")
    with pytest.raises(SystemExit, match="move it first"):
        main(arguments)
    with pytest.raises(SystemExit, match=r"README\.md cannot be made"):
        main([str(ROOT / "README.md"), str(tmp_path)])
