"""The package as a whole: light to import, one thread, complete as a wheel, no network."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import cloze
from cloze.__main__ import main
from cloze.serving import lab

ROOT = Path(__file__).resolve().parents[1]
THREADS = "import torch; print(torch.get_num_threads())"


def run(code: str, *words: str, cwd: Path = ROOT, **environment: str) -> str:
    """Run Python code in a fresh process and return what it prints."""
    unset = ("OMP_NUM_THREADS", "PYTHONPATH", "CLOZE_DATA")
    inherited = {k: v for k, v in os.environ.items() if k not in unset}
    result = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        env=inherited | {"PYTHONPATH": str(ROOT / "src")} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


# Importing

NEEDED = """
import os, sys
def loaded(name):
    print(name, name in sys.modules)
import cloze.vocabulary
loaded("numpy")
import cloze.__main__, cloze.widgets.quiz
loaded("torch")
import cloze.training
loaded("matplotlib")
from cloze.explorer import MaskExplorer
MaskExplorer()
loaded("torch._dynamo")  # it takes nearly as long to load as torch, and nothing is compiled
print(sys.modules["torch"].get_num_threads(), os.environ["OMP_NUM_THREADS"])
"""


def test_a_module_loads_only_what_it_needs() -> None:
    expected = ["numpy False", "torch False", "matplotlib False", "torch._dynamo False", "1 1"]
    assert run(NEEDED).splitlines() == expected


def test_threads_and_a_data_folder_can_be_chosen(tmp_path: Path) -> None:
    code = f"from cloze.checkpoint import CHECKPOINTS; print(CHECKPOINTS.parent); {THREADS}"
    printed = run(code, OMP_NUM_THREADS="2", CLOZE_DATA=str(tmp_path)).splitlines()
    assert printed == [str(tmp_path), "2"]


def test_imports_run_one_way() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout


# What is committed


def test_no_tracked_file_holds_a_path_of_this_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    assert len(files) > 180
    own = {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix}
    own -= {"/", "/root", "/usr", "/usr/local", "/home", "/tmp"}
    anywhere = r"/(?:home|Users|root)/(?!jovyan|jupyter-)\w+|[A-Z]:\\\\Users"
    paths = re.compile("|".join([anywhere, *map(re.escape, own)]).encode())
    assert not [str(path.relative_to(ROOT)) for path in files if paths.search(path.read_bytes())]


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {project["version"], citation["version"]} == {cloze.__version__}
    assert f"## {cloze.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# As a wheel

BUILD = "import sys, hatchling.build as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
LOADED = """
import cloze
from cloze.checkpoint import CHECKPOINTS, load_model
from cloze.corpus import DATA, Corpus
from cloze.serving.lab import NOTEBOOKS
from cloze.widgets import markup

print(cloze.__file__)
print(NOTEBOOKS)
print(Corpus.load().sha256)
print(sum(parameter.numel() for parameter in load_model().parameters()))
print(sorted(path.name for path in CHECKPOINTS.iterdir()))
print(sorted(path.name for path in (DATA / "labelled").iterdir()), (DATA / "sample.txt").is_file())
home = markup.BROWSER.parents[1]
for pattern in ("*.js", "*.css", "mistakes.md", "quiz.md", "results.json", "overrides.json"):
    print(sorted(path.relative_to(home).as_posix() for path in home.rglob(pattern)))
"""


@pytest.mark.slow
def test_a_wheel_made_of_the_source_archive_brings_all_that_it_reads(tmp_path: Path) -> None:
    run(BUILD, "build_sdist", str(tmp_path))
    [archive] = tmp_path.iterdir()
    shutil.unpack_archive(archive, tmp_path, filter="data")
    source = archive.with_name(archive.name.removesuffix(".tar.gz"))
    wheel = run(BUILD, "build_wheel", str(tmp_path), cwd=source).splitlines()[-1]
    installed = tmp_path / "installed"
    with zipfile.ZipFile(tmp_path / wheel) as file:
        file.extractall(installed)
    assert not [*installed.glob("cloze/notebooks/*.py")]
    there = run(LOADED, cwd=tmp_path, PYTHONPATH=str(installed)).splitlines()
    here = run(LOADED, cwd=tmp_path).splitlines()
    assert all(Path(line).is_relative_to(installed) for line in there[:2])
    assert there[2:] == here[2:]


# The command `cloze lab`


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What JupyterLab would have been started with."""
    calls: list[list[str]] = []
    monkeypatch.setattr("jupyterlab.labapp.main", calls.append)
    return calls


def test_the_notebooks_are_laid_out_and_nothing_is_overwritten(
    tmp_path: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["lab", str(folder), "--no-browser", "--port", "9999"]) == 0
    assert capsys.readouterr().err == ""
    pages = {path.name for pattern in ("*.ipynb", "*.md") for path in lab.NOTEBOOKS.glob(pattern)}
    assert {path.name for path in folder.iterdir()} == pages | {"images"}
    for name in pages:
        assert (folder / name).read_bytes() == (lab.NOTEBOOKS / name).read_bytes()

    (folder / "01_the_loss.ipynb").write_text("my own work")
    (folder / "glossary.md").unlink()
    assert main(["lab", str(folder)]) == 0
    assert (folder / "01_the_loss.ipynb").read_text() == "my own work"
    assert (folder / "glossary.md").is_file()
    assert "01_the_loss.ipynb. To get new ones" in capsys.readouterr().err

    (tmp_path / "file").touch()
    assert main(["lab", str(tmp_path / "file")]) == 1
    assert "name another folder" in capsys.readouterr().err

    first, second = started
    assert f"--ServerApp.root_dir={folder}" in first
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in first
    assert first[-3:] == ["--no-browser", "--port", "9999"]
    assert second[-1] == lab.OPTIONS[-1]


def test_a_checkout_opens_its_own_notebooks(started: list[list[str]]) -> None:
    assert main(["lab", str(lab.NOTEBOOKS)]) == 0
    [options] = started
    assert f"--ServerApp.root_dir={ROOT}" in options
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in options
