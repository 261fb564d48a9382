"""What to hide: typos counted by hand, masks prepared beforehand, and the results file."""

from __future__ import annotations

from random import Random

import pytest
import torch

from cloze.lessons.what_to_hide import checks, results
from cloze.masking import StaticMasks, seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance
from cloze.teaching.measurements import load_results
from cloze.vocabulary import VOCABULARY
from measured.shared import area_under_curve
from measured.what_to_hide.comparison import KEYBOARD, KINDS, mistyped, prepared


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


def test_prepared_masks_are_the_static_ones() -> None:
    text = VOCABULARY.encode("rain fell on the old umbrella " * 9)
    objective = prepared(text, 0.3, 3, seed=4)
    masks = StaticMasks(text, 0.3, copies=3, seed=4)
    windows = torch.zeros(5, 16, dtype=torch.int64)
    met = set()
    for seed in range(12):
        batch = objective.ask(windows, 0.9, seeded(seed), VOCABULARY)
        assert batch.inputs.shape == (5, 16)
        for inputs, labels in zip(*batch, strict=True):
            found = [
                copy
                for copy in range(3)
                for at in range(len(text) - 15)
                if torch.equal(masks.epoch(copy).inputs[at : at + 16], inputs)
                and torch.equal(masks.epoch(copy).labels[at : at + 16], labels)
            ]
            assert found
            met.update(found)
    assert met == {0, 1, 2}


def test_models_of_two_parts_are_trained_once() -> None:
    by_seed = load_results("what_to_hide", "comparison")["runs"]["rates"]["30%"].values()
    held_out = results.paid("rates", "30%", "held-out")
    assert held_out.mean == pytest.approx(sum(run["held-out"] for run in by_seed) / 3)
    assert results.paid("shares", "80/10/10", "held-out") == held_out


KEYS = " ".join(KEYBOARD)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistyped_word_has_at_most_one_typo_of_its_kind(kind: str) -> None:
    word = "umbrella"
    for seed in range(50):
        typo = mistyped(word, kind, Random(seed))
        if kind == "letter missing":
            assert typo in {word[:i] + word[i + 1 :] for i in range(8)}
            continue
        wrong = ["".join(pair) for pair in zip(word, typo, strict=True) if pair[0] != pair[1]]
        if kind == "two letters swapped":
            assert not wrong or wrong[0] == wrong[1][::-1]
        else:
            assert len(wrong) <= 1
        if kind == "neighbouring key":
            assert all(pair in KEYS or pair[::-1] in KEYS for pair in wrong)
