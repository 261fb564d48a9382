"""The commands whose results the lessons keep: a short run writes what the committed file holds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cloze.corpus import Corpus
from cloze.lessons.put_to_use import without_masks
from cloze.lessons.the_real_ones import hidden_shares
from cloze.lessons.training import parts, recorded
from cloze.lessons.writing_with_gaps import repeating
from cloze.teaching import measurements
from cloze.training import Recipe
from cloze.widgets.curve import LINE


def few_pieces() -> Corpus:
    corpus = Corpus.load()
    return replace(corpus, train=corpus.train[:10], held_out=corpus.held_out[:1])


SHORT: dict[ModuleType, tuple[dict[str, Any], Callable[[Path], None]]] = {
    parts: ({"SEEDS": (0,), "Recipe": partial(Recipe, steps=2)}, parts.main),
    recorded: (
        {"LEVELS": (9.9,), "Recipe": partial(Recipe, steps=2, evaluations=1)},
        recorded.main,
    ),
    hidden_shares: ({"SEEDS": (0,), "QUESTIONS": 8}, partial(hidden_shares.main, steps=2)),
    without_masks: (
        {"SEEDS": (0,), "LABELS": (4,)},
        partial(without_masks.main, steps=2, draws=1),
    ),
    repeating: ({"EPOCHS": (1, 2)}, lambda path: repeating.main(path, few_pieces(), seeds=(0,))),
}


def arms(runs: dict[str, Any], module: ModuleType) -> set[str]:
    """Name what is compared, which are the keys of a file or, where seeds come first, of a seed."""
    return set(runs["0"] if module is repeating else runs)


@pytest.mark.parametrize("module", SHORT, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_short_run_writes_what_the_committed_file_holds(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter, main = SHORT[module]
    for name, value in shorter.items():
        monkeypatch.setattr(module, name, value)
    main(tmp_path / "new.json")
    paths = (tmp_path / "new.json", module.RESULTS)
    new, committed = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    assert new.keys() == committed.keys()
    assert arms(new["runs"], module) == arms(committed["runs"], module)


def test_the_parts_have_the_parameters_that_the_file_says() -> None:
    counted = {
        name: sum(p.numel() for p in make().parameters()) for name, make in parts.ARMS.items()
    }
    assert counted == {name: n for name, (n, _) in parts.results().items()}


def test_the_recorded_run_filled_the_lines_that_are_shown() -> None:
    file, run = measurements.read(recorded.RESULTS), recorded.results()
    assert (file["line"], tuple(file["lines"])) == (LINE, recorded.LINES)
    gaps = [sum(map(len, re.findall(r"\[(.+?)\]", line))) for line in (LINE, *recorded.LINES)]
    assert {len(filled) for filled in run["filled"].values()} == {gaps[0]}
    assert [float(level) for level in run["levels"]] == [*recorded.LEVELS]
    for level, at in run["levels"].items():
        assert at["nats"] < float(level)
        assert [*map(len, at["filled"])] == gaps
    truth = ["".join(re.findall(r"\[(.+?)\]", line)) for line in recorded.LINES]
    right = [
        sum(a == b for a, b in zip("".join(at["filled"][1:]), "".join(truth), strict=True))
        for at in run["levels"].values()
    ]
    assert right == sorted(right), "the lower the loss, the more is right"
