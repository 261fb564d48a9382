"""What Colab needs of a notebook: in each the same, nothing elsewhere, and no pins there."""

from __future__ import annotations

import builtins
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

from notebooks import colab

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@each_notebook
def test_every_notebook_is_as_colab_needs_it(path: Path) -> None:
    notebook = read(path)
    assert colab.with_colab(notebook, path.name) == notebook, "python notebooks/colab.py writes it"


@pytest.mark.parametrize("owner", ["OWNER", "somebody"])
def test_there_is_a_link_only_if_it_leads_somewhere(
    monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    described = colab.project()
    described["urls"]["Source"] = f"https://github.com/{owner}/cloze"
    monkeypatch.setattr(colab, "project", lambda: described)
    for _ in range(2):  # it is taken out again, and never there twice
        made = colab.with_colab(read(NOTEBOOKS[0]), NOTEBOOKS[0].name)
        assert made.cells[0].source.count("[Open in Colab]") == (owner != "OWNER")


def run_cell(monkeypatch: pytest.MonkeyPatch, *, in_colab: bool) -> tuple[list[str], list[bool]]:
    """Run the cell as IPython does; return the magics that it called, and whether it used Colab."""
    called: list[str] = []
    enabled: list[bool] = []

    def magic(name: str, line: str) -> None:
        called.append(f"{name} {line}")

    output = SimpleNamespace(enable_custom_widget_manager=lambda: enabled.append(True))
    if in_colab:
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace(output=output))
    else:
        monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    shell = SimpleNamespace(run_line_magic=magic)
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    exec(TransformerManager().transform_cell(colab.setup()), {})  # type: ignore[no-untyped-call]
    return called, enabled


def test_elsewhere_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_cell(monkeypatch, in_colab=False) == ([], [])


def test_in_colab_it_installs_what_is_missing_and_pins_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [package, *rest], enabled = run_cell(monkeypatch, in_colab=True)
    assert enabled == [True]
    assert package.startswith("pip install --quiet --no-deps git+https://github.com/")
    names = [name for line in rest for name in line.removeprefix("pip install --quiet ").split()]
    # A bare name is content with any version that is there; --upgrade would not be.
    assert all(re.fullmatch(r"[a-z]+", name) for name in names)
    required = {Requirement(line).name for line in colab.project()["dependencies"]}
    assert set(names) | colab.NOT_THERE.keys() == required
    assert colab.NOT_THERE.keys() < required
