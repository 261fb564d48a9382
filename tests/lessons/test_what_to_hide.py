"""What to hide: typos counted by hand, masks prepared beforehand, and the results file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.evaluation import area_under_curve
from cloze.lessons.what_to_hide import checks, comparison
from cloze.lessons.what_to_hide.comparison import Plan, Results, prepared
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import StaticMasks, seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance
from cloze.training import Recipe
from cloze.vocabulary import VOCABULARY
from cloze.world import World

WORLD = World({"the dog barks": 0.5, "the cat sleeps": 0.3, "a cat sleeps here": 0.2})
SHAPE = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=24)


def test_typos_are_where_something_else_stands() -> None:
    windows = torch.randint(28, (4000, 64), generator=seeded(1))
    read, typos = planted(windows)
    assert torch.equal(typos, read != windows)
    assert abs(typos.double().mean().item() - 0.05 * 27 / 28) < 0.003
    assert read.max() < 28


def test_the_area_is_that_of_all_pairs() -> None:
    for typos, clean in checks.surprises(Chance(0)):
        scores = torch.tensor([*typos, *clean])
        wanted = torch.arange(len(scores)) < len(typos)
        assert area_under_curve(scores, wanted) == pytest.approx(checks.area(typos, clean))


def test_the_worst_gaps_cost_what_the_model_pays_for_them() -> None:
    hidden = checks.hidden_places(checks.check_hardest_gaps.solution)
    gaps = hidden[0].nonzero().flatten().tolist()
    paid = predict(shipped_model(), VOCABULARY.encode(checks.LINE), gaps).costs.sum()
    assert checks.costs_of_hiding(hidden).item() == pytest.approx(paid.item(), rel=1e-4)


@pytest.mark.parametrize("copies", [1, 3])
def test_prepared_masks_are_the_static_ones(copies: int) -> None:
    text = VOCABULARY.encode("rain fell on the old umbrella " * 9)
    objective = prepared(text, 0.3, copies, seed=4)
    masks = StaticMasks(text, 0.3, copies=copies, seed=4)
    windows = torch.zeros(5, 16, dtype=torch.int64)
    met = set()
    for seed in range(12):
        batch = objective.ask(windows, 0.9, seeded(seed), VOCABULARY)
        assert batch.inputs.shape == (5, 16)
        for inputs, labels in zip(*batch, strict=True):
            found = [
                copy
                for copy in range(copies)
                for at in range(len(text) - 15)
                if torch.equal(masks.epoch(copy).inputs[at : at + 16], inputs)
                and torch.equal(masks.epoch(copy).labels[at : at + 16], labels)
            ]
            assert found
            met.update(found)
    assert met == set(range(copies))


def tiny() -> Plan:
    text = "the quick brown fox jumps over the lazy dog and runs away from it all day long "
    pieces = tuple(Piece(str(k), text * 4) for k in range(2))
    recipe = Recipe(steps=1, batch_size=4)
    return Plan(Corpus(pieces, pieces), WORLD, recipe, recipe, recipe, 30)


def test_what_is_said_twice_is_kept_once_and_meant_over_seeds() -> None:
    found = Results()
    held_out = [paid["held-out"] for paid in found.runs("rates", "30%")]
    assert found.of("rates", "30%", "held-out").mean == pytest.approx(sum(held_out) / 3)
    assert found.of("shares", "80/10/10", "held-out") == found.of("rates", "30%", "held-out")


@pytest.mark.long
def test_the_command_writes_what_the_committed_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "comparison.json"
    monkeypatch.setattr(comparison, "SEEDS", (0,))
    comparison.main(path, tiny())
    monkeypatch.undo()
    new, committed = (json.loads(p.read_text("utf-8")) for p in (path, comparison.RESULTS))
    assert new.keys() == committed.keys()
    real = Plan(Corpus.load(), World.load())
    assert {**committed, "torch": ""} == {
        **real.provenance(),
        "torch": "",
        "runs": committed["runs"],
    }
    kept = {part: {*arms} for part, arms in committed["runs"].items()}
    assert {part: {*arms} for part, arms in new["runs"].items()} == kept
