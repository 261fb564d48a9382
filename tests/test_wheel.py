"""The package as others install it: what it reads comes along, and a build can be repeated."""

import errno
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import cloze
from cloze.serving import lab
from cloze.teaching.environment import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

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
for pattern in ("*.js", "*.css", "quiz.md", "overrides.json", "SHA256SUMS"):
    print(sorted(path.relative_to(home).as_posix() for path in home.rglob(pattern)))
"""


def run(*words: str, cwd: Path, **environment: str) -> str:
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CLOZE_DATA")}
    result = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


BUILD = """
import os, sys
from hatchling import build
print(getattr(build, sys.argv[1])(sys.argv[2]))
"""


def built(kind: str, source: Path, into: Path) -> Path:
    """Let the backend build what pip would ask it for; ``kind`` is ``sdist`` or ``wheel``."""
    return into / run("-c", BUILD, f"build_{kind}", str(into), cwd=source).split()[-1]


@pytest.mark.slow
def test_a_wheel_made_of_the_source_archive_brings_all_that_it_reads(tmp_path: Path) -> None:
    both = []
    for attempt in ("one", "two"):  # two copies, made at different times
        source = tmp_path / attempt / "source"
        left_out = shutil.ignore_patterns(".*", "tests", "benchmarks", "__pycache__", "_site*")
        shutil.copytree(ROOT, source, ignore=left_out)
        archive = built("sdist", source, tmp_path / attempt)
        shutil.unpack_archive(archive, tmp_path / attempt, filter="data")
        wheel = built("wheel", archive.with_name(archive.name[: -len(".tar.gz")]), archive.parent)
        both.append((archive.read_bytes(), wheel.read_bytes()))
    assert both[0] == both[1]

    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)
        assert not [
            name
            for name in file.namelist()
            if name.startswith("cloze/notebooks/") and name.endswith(".py")
        ]
    lines = run("-c", LOADED, cwd=tmp_path, PYTHONPATH=str(installed)).splitlines()
    assert all(Path(line).is_relative_to(installed) for line in lines[:2])
    here = run("-c", LOADED, cwd=tmp_path, PYTHONPATH=str(ROOT / "src")).splitlines()
    assert all(Path(line).is_relative_to(ROOT) for line in here[:2])
    assert lines[2:] == here[2:]


def test_one_name_and_one_version() -> None:
    assert PROJECT["project"]["name"] == DISTRIBUTION
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {PROJECT["project"]["version"], citation["version"]} == {cloze.__version__}
    assert f"## {cloze.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# cloze lab


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What JupyterLab would have been started with."""
    calls: list[list[str]] = []
    monkeypatch.setattr("jupyterlab.labapp.main", calls.append)
    return calls


def test_the_notebooks_are_laid_out_and_nothing_is_overwritten(
    tmp_path: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    from cloze.__main__ import main

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
    said = capsys.readouterr().err
    assert "01_the_loss.ipynb" in said
    assert "stay as they are" in said

    first, second = started
    assert f"--ServerApp.root_dir={folder}" in first
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in first
    assert first[-3:] == ["--no-browser", "--port", "9999"]
    assert second[-1] == lab.OPTIONS[-1]


def test_a_full_disk_leaves_no_half_of_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy_half(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:1000])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(shutil, "copyfile", copy_half)
        with pytest.raises(ValueError, match="No space left on device"):
            lab.lay_out(tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert lab.lay_out(tmp_path) == []


def test_a_checkout_opens_its_own_notebooks(started: list[list[str]]) -> None:
    from cloze.__main__ import main

    assert main(["lab", str(lab.NOTEBOOKS)]) == 0
    [options] = started
    assert f"--ServerApp.root_dir={ROOT}" in options
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in options


def test_a_folder_that_is_none_is_refused(
    tmp_path: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    from cloze.__main__ import main

    (tmp_path / "file").touch()
    assert main(["lab", str(tmp_path / "file")]) == 1
    assert "name another folder" in capsys.readouterr().err
    assert started == []


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    from cloze.__main__ import main

    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"cloze {cloze.__version__}\n"
