"""Executing notebooks: each failure is a sentence, and a notebook is never left half written."""

import re
import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest

EXECUTE = runpy.run_path(str(Path(__file__).resolve().parents[2] / "notebooks" / "execute.py"))
main = EXECUTE["main"]


def notebook(path: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(made, path)
    return path


def test_a_notebook_is_executed_and_only_what_somebody_wrote_is_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "a.ipynb", "from pathlib import Path; Path.cwd().name")
    made = nbformat.read(path, as_version=4)
    kept = {"jupyter": {"source_hidden": True}, "tags": ["colab"]}
    made.cells[0].metadata = nbformat.from_dict({**kept, "execution": {"iopub.execute_input": "x"}})
    made.metadata = nbformat.from_dict({"kernelspec": {"name": "python3"}, "widgets": {}})
    nbformat.write(made, path)
    assert main([str(path)]) == 0
    printed = capfd.readouterr()
    assert re.fullmatch(r"a\.ipynb: \S+ s\n", printed.out)
    assert "CellExecutionError" not in printed.err
    written = nbformat.read(path, as_version=4)
    assert written.cells[0].metadata == kept
    assert written.metadata == EXECUTE["METADATA"]
    assert written.cells[0].outputs[0].data == {"text/plain": repr(tmp_path.name)}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (["1 + 1", "def f():\n    1 / 0", "f()"], "cell 3 raised ZeroDivisionError: division by"),
        (["import os; os._exit(3)"], "Kernel died"),
        ("{half a notebook", "does not appear to be JSON"),
    ],
)
def test_a_failure_is_one_line_and_the_notebook_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: Any, reason: str
) -> None:
    path = tmp_path / "bad.ipynb"
    if isinstance(content, str):
        path.write_text(content)
    else:
        notebook(path, *content)
    before = path.read_bytes()
    assert main([str(path)]) == 1
    printed = capfd.readouterr()
    assert re.fullmatch(rf"bad\.ipynb: FAILED, not written: .*{reason}.*\.\n", printed.out)
    assert "CellExecutionError" not in printed.err
    assert path.read_bytes() == before


def test_a_wrong_name_is_reported_before_anything_is_executed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "good.ipynb", "1 + 1")
    before = path.read_bytes()
    assert main([str(path), str(tmp_path / "missing.ipynb")]) == 2
    assert "There is no notebook" in capfd.readouterr().out
    assert path.read_bytes() == before
