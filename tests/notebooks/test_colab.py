"""What Colab needs of a notebook: in each the same, nothing elsewhere, and no pins there."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement

from notebooks import colab
from tests.series import NOTEBOOKS, ROOT, each_notebook

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@each_notebook
def test_every_notebook_is_as_colab_needs_it(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    made = colab.with_colab(notebook, path.name, colab.written())
    assert made == notebook, "python -m notebooks.colab writes it"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project with two notebooks, of which nothing tells where it is on GitHub."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = re.sub(r"^Source = .*\n", "", text, flags=re.MULTILINE)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for path in NOTEBOOKS[:2]:
        made = colab.with_colab(nbformat.read(path, as_version=4), path.name, "")
        nbformat.write(made, folder / path.name)
    monkeypatch.setattr(colab, "ROOT", folder)
    monkeypatch.setattr(colab, "HERE", folder)
    monkeypatch.setattr(colab, "SHIPPED", folder / "SHA256SUMS")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)


def test_a_name_is_written_and_can_be_changed(project: Path) -> None:
    assert (colab.written(), colab.here(), colab.at_home()) == ("", "", False)
    before = {path: nbformat.read(path, as_version=4) for path in project.glob("*.ipynb")}
    for name in ("somebody", "https://github.com/Another/course.git"):
        repository = colab.named(name)
        assert colab.main(["owner", name]) == 0
        assert (colab.written(), colab.here(), colab.at_home()) == (repository, repository, True)
        for path, notebook in before.items():
            made = nbformat.read(path, as_version=4)
            link = f"[Open in Colab]({colab.address(path.name, repository)})"
            assert made.cells[0].source.count("[Open in Colab]") == 1
            assert link in made.cells[0].source
            assert sum(f"{colab.GITHUB}{repository}\n" in each.source for each in made.cells) == 1
            assert colab.with_colab(made, path.name, "") == notebook, "nothing else has changed"
    assert colab.project()["urls"] == {"Source": "https://github.com/Another/course"}


@pytest.mark.parametrize(
    ("remote", "repository"),
    [
        ("https://github.com/some-body/my.cloze.git", "some-body/my.cloze"),
        ("git@github.com:some-body/my.cloze.git", "some-body/my.cloze"),
        ("https://gitlab.com/a/b", ""),
    ],
)
def test_gits_remote_tells_where_a_copy_belongs(
    project: Path, remote: str, repository: str
) -> None:
    for folder, address in ((project.parent, "https://github.com/other/thing"), (project, remote)):
        assert colab.here() == ""
        git(folder, "init", "--quiet")
        git(folder, "remote", "add", "origin", address)
    assert (colab.here(), colab.at_home()) == (repository, False)
    assert (colab.main(["owner"]) == 0) == colab.at_home() == bool(repository)


def test_a_workflow_knows_better_than_the_notebooks(
    monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    assert project == colab.ROOT
    colab.write_name("somebody/cloze")
    monkeypatch.setenv("GITHUB_REPOSITORY", "fork/cloze")
    assert (colab.here(), colab.written(), colab.at_home()) == (
        "fork/cloze",
        "somebody/cloze",
        False,
    )


@pytest.mark.parametrize("name", ["", "two words", "https://gitlab.com/a/b"])
def test_a_name_that_is_none_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    assert colab.main(["owner", name]) == 2
    problem = f"“{name}” is no name on GitHub" if name else colab.NO_REMOTE
    assert capsys.readouterr().out == f"{problem}: give the owner's name, or owner/repository.\n"
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before


def run_cell(
    monkeypatch: pytest.MonkeyPatch, *, in_colab: bool, repository: str = "somebody/cloze"
) -> tuple[list[str], list[bool]]:
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
    code = TransformerManager().transform_cell(colab.setup(repository))  # type: ignore[no-untyped-call]
    exec(code, {})
    return called, enabled


def test_elsewhere_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_cell(monkeypatch, in_colab=False) == ([], [])


def test_in_colab_a_copy_that_is_not_published_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="This copy is not published yet"):
        run_cell(monkeypatch, in_colab=True, repository="")


def test_in_colab_it_installs_what_is_missing_and_pins_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [package, *rest], enabled = run_cell(monkeypatch, in_colab=True)
    assert enabled == [True]
    assert package.startswith("pip install --quiet --no-deps git+https://github.com/somebody/cloze")
    names = [name for line in rest for name in line.removeprefix("pip install --quiet ").split()]
    # A bare name is content with any version that is there; --upgrade would not be.
    assert all(re.fullmatch(r"[a-z]+", name) for name in names)
    required = {Requirement(line).name for line in colab.project()["dependencies"]}
    assert set(names) | colab.NOT_THERE.keys() == required
    assert colab.NOT_THERE.keys() < required
