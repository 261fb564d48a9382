"""Homework for nbgrader: every exercise of every notebook, graded by its check.

nbgrader has an environment of its own, so it is tried on demand: CLOZE_NBGRADER names the Python of
one that has nbgrader and this package.
"""

from __future__ import annotations

import os
import re
import subprocess
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import pytest

from lecture.assignment import homework, main

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HUB = (ROOT / "hub" / "README.md").read_text(encoding="utf-8")
REGION = re.compile(r"^( *)### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL | re.MULTILINE)


def cleared(source: str) -> str:
    """Take a solution out as nbgrader does."""
    return REGION.sub(r"\1# YOUR CODE HERE\n\1raise NotImplementedError()", source)


def run(source: str, names: dict[str, Any]) -> None:
    exec(source, names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_solutions_earn_their_points_and_what_is_handed_out_earns_none(path: Path) -> None:
    made = homework(path)
    nbformat.validate(made)
    text = path.read_text(encoding="utf-8")
    about, imports, *exercises = made.cells
    assert "nbgrader" not in about.metadata | imports.metadata
    assert len(exercises) == 3 * len(set(re.findall(r"### Exercise (\d+\.\d+)", text)))
    checks = import_module(f"cloze.lessons.{path.stem[3:]}.checks")
    known = {name: value for name, value in vars(checks).items() if name[:6] == "check_"}
    run(imports.source.rpartition("\n\n")[2], known)
    ids = set()
    for told, answer, graded in zip(*(exercises[i::3] for i in range(3)), strict=True):
        assert re.match(r"### Exercise \d+\.\d+ · ", told.source)
        assert "<summary>Solution" not in told.source
        assert not re.search(r"^##+ (?!Exercise)", re.sub("```.*?```", "", told.source), re.M)
        ids |= {cell.metadata["nbgrader"]["grade_id"] for cell in (answer, graded)}
        marks = graded.metadata["nbgrader"]
        assert (marks["grade"], marks["locked"], marks["points"]) == (True, True, 1)
        assert answer.metadata["nbgrader"]["solution"]
        names = dict(known)
        run(answer.source, names)
        run(graded.source, names)
        handed_out = f"{cleared(answer.source)}\n{graded.source}"
        with pytest.raises((NotImplementedError, AssertionError)):
            run(handed_out, dict(known))
    assert len(ids) == len(exercises) * 2 // 3


def test_a_check_that_the_learner_replaced_counts_for_nothing() -> None:
    _, _, _, _, graded, *_ = homework(ROOT / "notebooks" / "01_the_loss.ipynb").cells
    names: dict[str, Any] = {"summed_loss": sum, "check_summed_loss": bool}
    with pytest.raises(AssertionError, match="Not yet"):
        run(graded.source, names)


def test_it_is_written_once_and_refusals_are_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loss, course = str(ROOT / "notebooks" / "01_the_loss.ipynb"), str(tmp_path / "course")
    assert main([loss, course]) == 0
    made = tmp_path / "course" / "source" / "the_loss" / "the_loss.ipynb"
    before = made.read_bytes()
    assert main([loss, course]) == 1
    assert made.read_bytes() == before
    assert main([str(ROOT / "README.md"), course]) == 1
    assert main([]) == 2
    said = capsys.readouterr().out.splitlines()
    assert [line.split(": ", 1)[1] for line in said if ": " in line] == [
        "3 to be graded, with one point each",
        "move it first.",
        "it is no notebook of this series.",
    ]


@pytest.mark.long
@pytest.mark.skipif(
    "CLOZE_NBGRADER" not in os.environ,
    reason="nbgrader is tried in the environment whose Python CLOZE_NBGRADER names",
)
@pytest.mark.parametrize("each", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_nbgrader_gives_the_points(each: int, tmp_path: Path) -> None:
    """Three kinds of submissions come back from the home folders of a hub, so many of each."""
    python = os.environ["CLOZE_NBGRADER"]
    # As in an environment that was activated: nbgrader calls alembic by its name.
    path = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
    settings: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, "PATH": path}}

    def nbgrader(*arguments: str) -> None:
        command = [python, "-m", "nbgrader", *arguments, "the_loss"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
        assert not done.returncode, done.stderr

    assert main([str(ROOT / "notebooks" / "01_the_loss.ipynb"), str(tmp_path)]) == 0
    nbgrader("generate_assignment")
    there = Path("the_loss") / "the_loss.ipynb"
    right = nbformat.read(tmp_path / "source" / there, as_version=4)
    homes = tmp_path / "home"
    for who, number in product(("right", "wrong", "replaces"), range(each)):
        sent = nbformat.read(tmp_path / "release" / there, as_version=4)
        for cell, solved in zip(sent.cells, right.cells, strict=True):
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution") and who == "right":
                cell.source = solved.source
            elif marks.get("grade_id") == "summed_loss" and who == "wrong":
                cell.source = solved.source.replace("-sum", "sum")  # the minus is missing
            elif marks.get("grade_id") == "my_mlm_loss" and who == "wrong":
                cell.source = solved.source
            elif marks.get("grade") and who == "replaces":
                cell.source = "pass"  # which nbgrader undoes
        home = homes / f"jupyter-{who}-{number}"
        home.mkdir(parents=True)
        nbformat.write(sent, home / "the_loss.ipynb")
    [collect] = re.findall(r"^for home in .*", HUB, re.MULTILINE)
    collect = collect.replace("/home/", f"{homes}/")
    subprocess.run(["bash", "-c", collect], cwd=tmp_path, check=True)
    nbgrader("autograde")
    read = (
        "from nbgrader.api import Gradebook\n"
        "with Gradebook('sqlite:///gradebook.db') as book:\n"
        "    for sent in book.assignment_submissions('the_loss'):\n"
        "        print(sent.student.id, sent.score, sent.max_score)"
    )
    points = subprocess.check_output([python, "-c", read], text=True, **settings).splitlines()
    deserved = {"replaces": 0.0, "right": 3.0, "wrong": 1.0}
    assert sorted(points) == [
        f"{who}-{number} {deserved[who]} 3.0" for who in deserved for number in range(each)
    ]
    graded = (tmp_path / "autograded" / "wrong-0" / there).read_text(encoding="utf-8")
    assert "AssertionError: Not yet. Your loss is negative" in re.sub(
        r"\\u001b\[[\d;]*m", "", graded
    )
