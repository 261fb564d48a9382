"""A run of the tests says what it has changed in the checkout, and fails for it in CI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHANGES = """
from pathlib import Path

def test_that_writes():
    Path("kept.txt").write_text("changed")
    Path("new.txt").touch()

def test_that_does_not():
    pass
"""


@pytest.mark.parametrize(
    ("git", "ci", "workers", "failed", "said"),
    [
        (True, True, "2", True, True),
        (True, False, "0", False, True),
        (False, True, "0", False, False),
    ],
    ids=["in CI", "at home", "source archive"],
)
def test_a_file_that_a_test_changes_is_named(
    tmp_path: Path, git: bool, ci: bool, workers: str, failed: bool, said: bool
) -> None:
    shutil.copy(Path(__file__).resolve().parents[1] / "conftest.py", tmp_path)
    (tmp_path / "kept.txt").touch()
    (tmp_path / "test_it.py").write_text(CHANGES)
    if git:
        who = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
    environment = {name: os.environ[name] for name in os.environ if name != "CI"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({"CI": "true"} if ci else {})

    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", workers],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "2 passed" in result.stdout
    assert result.returncode == failed
    assert all((name in result.stdout) == said for name in (" M kept.txt", "?? new.txt"))
