"""Evaluation: the area under the curve, and runs that are repeated."""

from __future__ import annotations

import math

import pytest
import torch

from cloze.evaluation import Repeated
from measured.shared import area_under_curve


def test_the_area_under_the_curve_counts_pairs() -> None:
    scores, wanted = torch.tensor([0.1, 0.4, 0.4, 0.9]), torch.tensor([False, True, False, True])
    pairs = [(a > b) + 0.5 * (a == b) for a in (0.4, 0.9) for b in (0.1, 0.4)]
    assert area_under_curve(scores, wanted) == pytest.approx(sum(pairs) / 4, abs=1e-6)
    for all_alike in (torch.ones(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)):
        with pytest.raises(ValueError, match="mark at least one of each"):
            area_under_curve(scores, all_alike)
    with pytest.raises(ValueError, match="A score is NaN"):
        area_under_curve(scores * math.nan, wanted)


def test_repeated_runs_have_a_mean_and_a_spread() -> None:
    runs = Repeated.of(iter([0.25, 0.5, 0.75]))
    assert runs == (0.5, 0.25)
    assert repr(runs) == f"{runs}" == "0.50 ± 0.25"
    assert f"{runs:.3f}" == "0.500 ± 0.250"
    assert Repeated.of([1.0]) == (1.0, 0.0)
