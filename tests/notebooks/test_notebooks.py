"""The notebooks as they are committed: executed, clean, short cells, working links, solutions."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

from cloze.lessons.your_own_text import packages
from cloze.teaching.quiz import AnswerSheet
from cloze.widgets import Quiz
from notebooks.minutes import exercises_of
from tests.series import LECTURES, NOTEBOOKS, ROOT, code_cells, each_notebook, prose, read

MAX_LINES = 25
WIDGET = "application/vnd.jupyter.widget-view+json"
GUESS = re.compile(
    r"(?<!\*)\b([Bb]efore you (look|run)|[Gg]uess (first|before)"
    r"|when you have (guessed|named|an answer))"
)
"""How a text asks for a guess."""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
each = pytest.mark.parametrize("path", NOTEBOOKS + LECTURES, ids=lambda path: path.stem)


@each
def test_every_cell_has_run_in_order_without_an_error(path: Path) -> None:
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]


@each
def test_nothing_of_the_machine_is_kept(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert set(notebook.metadata.language_info) == {"name"}
    assert all(set(cell.metadata) <= {"jupyter", "tags"} for cell in notebook.cells)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|Users|tmp|usr)/|0x[0-9a-f]{8,}", text)


@each
def test_a_notebook_is_small_enough_to_be_reviewed(path: Path) -> None:
    assert path.stat().st_size <= 250_000


@each
def test_cells_are_short(path: Path) -> None:
    lengths = [len(cell.source.splitlines()) for cell in code_cells(path)]
    assert max(lengths) <= MAX_LINES
    assert statistics.median(lengths) <= 7
    assert 0 not in lengths


@each
def test_one_title_and_headings_in_order(path: Path) -> None:
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose(path), flags=re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


@each_notebook
def test_it_opens_and_ends_as_all_do(path: Path) -> None:
    first, *others = read(path).cells
    for words in ("You will be able to", "You need", "Time"):
        assert len(re.findall(rf"^\*\*{words}\*\* .{{,160}}$", first.source, re.M)) == 1, words
    folds = [cell.metadata.get("jupyter", {}).get("source_hidden") for cell in others]
    assert folds.index(None) <= 2, "the first screen holds the bet or the story"
    headings = re.findall(r"^## (.+)$", prose(path), flags=re.MULTILINE)
    assert headings[-2:] == ["Checkpoint", "What comes next"]


@each
def test_links_resolve_and_images_have_a_text(path: Path) -> None:
    text = prose(path)
    links = re.findall(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)", text)
    for link in links:
        target = link.split("#")[0]
        assert link.startswith("http") or (path.parent / target).exists(), link
    assert not re.search(r"!\[\s*\]\(", text)
    assert all("alt=" in tag for tag in re.findall(r"<img[^>]*>", text))


def test_first_hints_ask_and_show_no_code() -> None:
    for path in NOTEBOOKS:
        text = prose(path)
        hints = re.findall(
            r"<summary>(First|Second) hint</summary>\s*(.+?)\s*</details>", text, re.S
        )
        if hints:  # two for each exercise
            exercises = re.findall(r"^### Exercise", text, re.M)
            assert [which for which, _ in hints] == ["First", "Second"] * len(exercises), path.stem
        for which, hint in hints:
            assert which == "Second" or ("?" in hint and "`" not in hint), hint


@each_notebook
def test_the_checkpoint_is_a_form_and_its_answers_stay(path: Path) -> None:
    cells, lesson = read(path).cells, path.stem[3:]
    [at] = [i for i, cell in enumerate(cells) if re.search(r"^## Checkpoint$", cell.source, re.M)]
    form, sheet = [cell for cell in cells[at:] if cell.cell_type == "code"][:2]
    assert form.source.splitlines()[-1] == f'Quiz("{lesson}")'
    assert sheet.source.splitlines()[-1] == f'AnswerSheet("{lesson}")'
    assert form.outputs[0].data["text/plain"] == repr(Quiz(lesson))
    assert sheet.outputs[0].data["text/plain"] == repr(AnswerSheet(lesson))
    assert sheet.outputs[0].data["text/html"] == AnswerSheet(lesson)._repr_html_()


@each_notebook
def test_what_is_to_be_guessed_is_not_in_sight(path: Path) -> None:
    cells = read(path).cells
    for i, cell in enumerate(cells):
        if cell.cell_type == "markdown" and GUESS.search(cell.source):
            code = [each for each in cells[i:] if each.cell_type == "code"]
            # The first may show what is asked about; a widget answers when it is asked.
            widget = any(WIDGET in output.get("data", {}) for output in code[0].outputs)
            folds = [each.metadata.get("jupyter", {}).get("outputs_hidden") for each in code[:2]]
            assert widget or any(folds), cell.source


def test_few_cells_skip_the_comparison() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS + LECTURES)
    assert len(re.findall(r"NBVAL_|nbval-", text)) <= 3


@each_notebook
def test_an_unfilled_exercise_says_not_yet(path: Path) -> None:
    for cell in code_cells(path):
        if re.fullmatch(r"check_\w+\(.+\)", cell.source.splitlines()[-1]):
            assert "Not yet" in str(cell.outputs[-1]), cell.source


def notebook_of(*sources: str) -> Any:
    """Make an executed-looking notebook of cells without outputs."""
    cells = [nbformat.v4.new_code_cell(source, execution_count=1) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    return notebook


def printing(now: str, stored: str) -> Any:
    """Make a cell whose stored output differs from what it prints now."""
    output = nbformat.v4.new_output("stream", name="stdout", text=stored)
    return nbformat.v4.new_code_cell(f"print({now!r})", execution_count=1, outputs=[output])


def test_notebooks_are_compared_as_the_readme_says(tmp_path: Path) -> None:
    """To the letter except for what follows ≈, without a network, and a dead kernel is noticed."""
    asks = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=2)"
    shows = notebook_of()
    shows.cells = [printing("≈ 1.4 nats", "≈ 1.5 nats\n"), printing("1.4 nats", "1.5 nats\n")]
    notebooks = {
        "asks": notebook_of(asks),
        "dies": notebook_of("import os\nos._exit(1)"),
        "shows": shows,
    }
    for name, notebook in notebooks.items():
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    options = ["-v", "-n", "0", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    output = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "notebooks.conftest", *options, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=550,  # nbval itself waits 600 seconds for the dead
        check=False,
    ).stdout
    outcomes = re.findall(r"(\w+)(?:::|\.)ipynb::Cell (\d+) (PASSED|FAILED)", output)
    assert outcomes == [
        ("asks", "0", "FAILED"),
        ("dies", "0", "FAILED"),
        ("shows", "0", "PASSED"),
        ("shows", "1", "FAILED"),
    ], output
    assert "The series touches no network" in output
    assert "The kernel died" in output


def test_without_its_packages_notebook_15_shows_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "copy.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[printing("now", "stored\n")]), file)
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    exec("".join(packages.shown_again(["print('now')\n"])), {})
    assert capsys.readouterr().out == "stored\n"


@each_notebook
def test_every_exercise_of_the_lesson_is_in_its_notebook(path: Path) -> None:
    source = "\n".join(cell.source for cell in code_cells(path))
    for name in exercises_of(path.stem[3:]):
        assert f"check_{name}(" in source
