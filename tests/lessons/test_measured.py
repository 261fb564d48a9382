"""The commands in ``measured/``, and the files of results that they wrote."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from cloze.corpus import Corpus
from cloze.lessons.training import results as training_results
from cloze.objectives import MASKED
from cloze.teaching.measurements import load_results
from cloze.training import Recipe, TrainingRun
from cloze.widgets.curve import LINE
from measured import shared
from measured.shared import LESSONS, ResultsFile

ROOT = Path(__file__).parents[2]
FILES = {f"{path.parent.name}.{path.stem}": path for path in sorted(LESSONS.glob("*/*.json"))}
NUMBER = re.compile(r"[\d.]+")
SMALL: dict[str, dict[str, Any]] = {
    "corrupt_and_repair.comparing": {
        "LINES": 2,
        "ROUNDS": 1,
        "baselines": lambda _: {},
        "save_model": lambda *_: None,
    },
    "inside.lens": {"STEPS": 1, "MODELS": ("world",), "write": lambda *_: None},
    "inside.paths": {"EVERY": 700},
    "inside.swapping": {"EVERY": 8},
    "inside.switching": {"WINDOWS": 2, "GAPS": 40},
    "one_side_or_both.filling": {"LINES": {1: 3}, "LENGTHS": {1: 12}, "CURVE_LINES": 3},
    "put_to_use.comparison": {"START": ("frozen",)},
    "put_to_use.without_masks": {"LABELS": (4,), "DRAWS": 1},
    "the_real_ones.context": {"WAYS": ("fused",)},
    "training.plateau": {"MOMENTS": (1,), "STEPS": 1},
    "training.recorded": {"EPOCHS": 1},
    "vectors.words": {"GROUPED": ("counted words, tf-idf",)},
    "what_to_hide.comparison": {"SENTENCES": 8},
    "writing_with_gaps.bounds": {"BOTH_SIDES": ("masked",)},
    "writing_with_gaps.samplers": {
        "DRAWS": 10,
        "LINES": 16,
        "PASSES": (1,),
        "TRAINED": {"masked": MASKED},
    },
    "your_own_text.comparison": {
        "DRAWS": 1,
        "TIMES": 1,
        "WAYS": {"half and half": {"mix": 0.5}},
        "sentences": lambda _: [
            ["they", "kneaded", "the", "dough", "and", "left", "it", "to", "rise"]
        ],
    },
}
"""The constants by which a command's short run differs from the run that wrote its file."""


def fewer(keys: Iterable[object]) -> list[object]:
    """Keep all names, and of seeds and other numbers the first."""
    keys = [*keys]
    return [key for key in keys if isinstance(key, str)] or keys[:1]


def within(new: Any, committed: Any) -> bool:
    """Whether results are nested as in a file, under some of its names; any number is a key."""
    if not isinstance(committed, Mapping):
        return not isinstance(new, Mapping)
    inside = dict.fromkeys(filter(NUMBER.fullmatch, new), next(iter(committed.values())))
    inside |= committed
    return all(key in inside and within(value, inside[key]) for key, value in new.items())


ELSEWHERE = "training.words"
"""It needs texts that are not part of the project; ``test_words.py`` runs it on a few sentences."""
QUICK = ("inside.paths", "one_side_or_both.filling", "training.parts", "vectors.comparison")
"""Commands that run with every change: one that asks a model, one that compares, two that train."""


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(c, marks=() if c in QUICK else pytest.mark.slow)
        for c in FILES
        if c != ELSEWHERE
    ],
)
def test_a_short_run_writes_what_the_committed_file_holds(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, measure = Corpus.load(), ResultsFile.measure
    small = replace(corpus, held_out=corpus.held_out[:1])

    def of_fewer(file: ResultsFile, part: str, one: Any, *keys: Iterable[object]) -> Any:
        return measure(file, part, one, *map(fewer, keys))

    monkeypatch.setattr(Corpus, "load", lambda *_: small)
    monkeypatch.setattr(TrainingRun, "finished", property(lambda run: run.step >= 2))
    monkeypatch.setattr(
        Recipe, "evaluated_after", lambda recipe: {2} if recipe.evaluations else set()
    )
    monkeypatch.setattr(ResultsFile, "measure", of_fewer)
    monkeypatch.setattr(shared, "LESSONS", tmp_path)
    module = importlib.import_module(f"measured.{command}")
    if hasattr(module, "RECIPE"):
        monkeypatch.setattr(module, "RECIPE", replace(module.RECIPE, steps=2))
    for name, value in SMALL.get(command, {}).items():
        monkeypatch.setattr(module, name, value)
    (tmp_path / FILES[command].parent.name).mkdir()
    module.main()
    new = json.loads((tmp_path / FILES[command].relative_to(LESSONS)).read_text("utf-8"))
    committed = json.loads(FILES[command].read_text("utf-8"))
    assert new.keys() == committed.keys()
    assert new["command"] == committed["command"]
    assert within(new, committed)


@pytest.mark.parametrize("path", FILES.values(), ids=FILES)
def test_the_data_card_says_how_to_make_every_file_again(path: Path) -> None:
    command = json.loads(path.read_text("utf-8"))["command"]
    assert command == f"python -m measured.{path.parent.name}.{path.stem}"
    card = (ROOT / "data" / "README.md").read_text("utf-8").splitlines()
    [row] = [line for line in card if f"`{path.relative_to(ROOT).as_posix()}`" in line]
    assert f"`{command}`" in row


def test_a_command_goes_on_where_it_stopped_and_begins_again_in_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done = tmp_path / "results.json", []

    def one(name: str, seed: int) -> int:
        if name == "stops":
            raise KeyboardInterrupt
        done.append((name, seed))
        return len(done)

    made = {"steps": 3, "sizes": (1, 2)}
    with pytest.raises(KeyboardInterrupt):
        ResultsFile("measured.here", path, **made).measure("runs", one, ["a", "stops"], [0])
    again = ResultsFile("measured.here", path, **made)
    assert again.measure("runs", one, ["a"], [0, 1]) == {"a": {"0": 1, "1": 2}}
    assert again.measure("last", lambda: "whole") == "whole"
    assert done == [("a", 0), ("a", 1)]
    assert json.loads(path.read_text("utf-8")) == again.results
    for other in (
        ResultsFile("measured.here", path, steps=4, sizes=(1, 2)),
        ResultsFile("measured.here", path, **made, lines=5),
        ResultsFile("measured.there", path, **made),
    ):
        assert "runs" not in other.results
    monkeypatch.setattr(torch, "__version__", "1.0")
    assert "runs" not in ResultsFile("measured.here", path, **made).results


def test_the_recorded_run_learns_to_fill_the_line_that_is_shown() -> None:
    assert load_results("training", "recorded")["line"] == LINE
    truth = "".join(re.findall(r"\[(.+?)\]", LINE))
    moments = training_results.moments()
    right = [sum(a == b for a, b in zip(gaps, truth, strict=True)) for _, _, gaps in moments]
    assert (moments[0][0], moments[-1][0]) == (0, Recipe().steps)
    assert right[0] < 3, "noise"
    assert right[-1] == len(truth), "English"
    assert moments[0][1] > 3.3
    assert moments[-1][1] < training_results.six_neighbours() < 1.73
