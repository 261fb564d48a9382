"""What to hide: typos counted by hand, masks prepared beforehand, and the results file."""

from __future__ import annotations

import pytest
import torch

from cloze.evaluation import area_under_curve
from cloze.lessons.what_to_hide import checks, results
from cloze.lessons.what_to_hide.typos import planted
from cloze.masking import StaticMasks, seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance
from cloze.teaching.measurements import load_results
from cloze.vocabulary import VOCABULARY
from measured.what_to_hide.comparison import prepared


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


def test_models_of_two_parts_are_trained_once() -> None:
    by_seed = load_results("what_to_hide", "comparison")["runs"]["rates"]["30%"].values()
    held_out = results.paid("rates", "30%", "held-out")
    assert held_out.mean == pytest.approx(sum(run["held-out"] for run in by_seed) / 3)
    assert results.paid("shares", "80/10/10", "held-out") == held_out
