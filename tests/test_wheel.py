"""The package as others install it: what it reads comes along."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILT_FROM = (
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "LICENSE-TEXT.md",
)

LOADED = """
import cloze
from cloze.checkpoint import CHECKPOINTS, load_model
from cloze.corpus import DATA, Corpus
from cloze.widgets import markup

print(cloze.__file__)
print(Corpus.load().sha256)
print(sum(parameter.numel() for parameter in load_model().parameters()))
print(sorted(path.name for path in CHECKPOINTS.iterdir()))
print(sorted(path.name for path in (DATA / "labelled").iterdir()), (DATA / "sample.txt").is_file())
for pattern in ("*.js", "*.css", "quiz.md"):
    print(sorted(path.name for path in markup.BROWSER.parents[1].rglob(pattern)))
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


@pytest.mark.slow
def test_a_wheel_made_of_the_source_archive_brings_all_that_it_reads(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, source)
    for folder in ("src", "data"):
        left_out = shutil.ignore_patterns("*.egg-info", "__pycache__")
        shutil.copytree(ROOT / folder, source / folder, ignore=left_out)
    run("-c", "from setuptools import build_meta as b; b.build_sdist('..')", cwd=source)
    (archive,) = tmp_path.glob("*.tar.gz")
    shutil.rmtree(source)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir")
    run("-m", "pip", "wheel", *offline, "-w", str(tmp_path), str(archive), cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)

    first, *found = run("-c", LOADED, cwd=tmp_path, PYTHONPATH=str(installed)).splitlines()
    assert Path(first).is_relative_to(installed)
    here, *expected = run("-c", LOADED, cwd=tmp_path, PYTHONPATH=str(ROOT / "src")).splitlines()
    assert Path(here).is_relative_to(ROOT)
    assert found == expected


def test_another_data_folder_can_be_named(tmp_path: Path) -> None:
    said = run(
        "-c",
        "from cloze.checkpoint import CHECKPOINTS; from cloze.corpus import DATA; "
        "print(DATA); print(CHECKPOINTS.parent)",
        cwd=tmp_path,
        PYTHONPATH=str(ROOT / "src"),
        CLOZE_DATA=str(tmp_path),
    )
    assert said.splitlines() == [str(tmp_path)] * 2
