"""Measurements kept in files: begun again, gone on with, written whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import cloze.lessons
from cloze.teaching.measurements import made_by, measure, read, write

PROJECT = Path(__file__).parents[2]
LESSONS = Path(cloze.lessons.__file__).parent
KEPT = sorted(path for path in LESSONS.glob("*/*.json") if path.with_suffix(".py").exists())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name + "/" + path.name)
def test_every_committed_file_is_as_it_would_be_written(path: Path, tmp_path: Path) -> None:
    kept, again = read(path), tmp_path / path.name
    module = path.relative_to(LESSONS).with_suffix("").parts
    assert kept["command"] == f"python -m cloze.lessons.{'.'.join(module)}"
    write(again, kept)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name + "/" + path.name)
def test_the_data_card_says_how_to_make_every_file_again(path: Path) -> None:
    table = (PROJECT / "data" / "README.md").read_text("utf-8").splitlines()
    named = f"`src/cloze/lessons/{path.relative_to(LESSONS).as_posix()}`"
    [row] = [line for line in table if named in line]
    assert f"`{read(path)['command']}`" in row


def test_what_is_made_is_kept_and_made_again_only_in_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done = tmp_path / "kept.json", []

    def one(name: str, seed: int) -> int:
        if name == "stops":
            raise KeyboardInterrupt
        done.append((name, seed))
        return len(done)

    made = made_by("cloze.measured", steps=3, seeds=[0, 1])
    assert made["torch"] == torch.__version__
    with pytest.raises(KeyboardInterrupt):
        measure(path, made, "runs", [("a", 0), ("stops", 0)], one)
    measure(path, made, "runs", [("a", 0), ("a", 1)], one)
    kept = measure(path, made, "last", [()], lambda: "whole")
    assert done == [("a", 0), ("a", 1)]
    assert kept == {**made, "runs": {"a": {"0": 1, "1": 2}}, "last": "whole"} == read(path)
    for other in (
        made_by("cloze.measured", steps=4, seeds=[0, 1]),
        made_by("cloze.measured", steps=3, seeds=[0, 1], lines=5),
        made_by("cloze.else", steps=3, seeds=[0, 1]),
    ):
        assert measure(path, other, "last", [()], int) == {**other, "last": 0}
        write(path, kept)
    monkeypatch.setattr(torch, "__version__", "1.0")
    anew = made_by("cloze.measured", steps=3, seeds=[0, 1])
    assert measure(path, anew, "last", [()], int) == {**anew, "last": 0}
