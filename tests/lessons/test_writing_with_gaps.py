"""What notebook 10 measures: samplers against the truth, spoilt lines, the results files."""

from __future__ import annotations

import pytest
import torch

from cloze.corpus import Corpus
from cloze.lessons.writing_with_gaps.sentences import CAREFUL, of_length
from cloze.prediction.causal import text_costs
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY
from cloze.world import Corruption, Truth, World
from measured.writing_with_gaps import bounds, samplers

WORLD = World(
    {"the dog barks": 0.3, "the cat sleeps": 0.3, "a dog sleeps": 0.2, "a cat": 0.15, "a dog": 0.05}
)
EXACT = Truth(WORLD, corruption=CAREFUL)
BLURRED = Truth(WORLD, corruption=Corruption(0.5, 0.7, 0.3))


def test_sentences_are_told_from_nonsense() -> None:
    sentences, _ = of_length(WORLD, 2)
    nonsense = sentences[:1].clone()
    nonsense[0, 2] = nonsense[0, 1]
    lines = torch.cat([sentences[:1], sentences, nonsense])
    assert samplers.share_of_sentences(lines, sentences) == 0.75


def test_kl_is_zero_for_the_exact_reader_in_any_order_and_positive_at_once() -> None:
    sentences, p = of_length(WORLD, 3)
    for order in ("left to right", "easiest first"):
        assert samplers.exact_kl(EXACT, sentences, p, order) == pytest.approx(0, abs=1e-4)
        assert samplers.exact_kl(BLURRED, sentences, p, order) > 0.01
    places = [
        torch.zeros(7, dtype=torch.float64).index_add_(0, sentences[:, i], p) for i in (1, 2, 3)
    ]
    apart = sum(float(torch.special.entr(shares).sum()) for shares in places)
    together = float(torch.special.entr(p).sum())
    at_once = samplers.exact_kl(EXACT, sentences, p, "all at once")
    assert at_once == pytest.approx(apart - together, abs=1e-4)
    found = samplers.random_order_kl(EXACT, sentences, p, 20, seed=0)
    assert found == pytest.approx(0, abs=1e-4)


def test_real_words_leave_out_what_may_be_cut() -> None:
    real, distinct = samplers.real_words(["he cat sat on t", "xx cat\nsat yy"], {"cat", "sat"})
    assert real == 4 / 5
    assert distinct == 3 / 5
    assert samplers.real_words(["ab"], {"ab"}) == (0.0, 0.0)


def test_windows_cost_a_causal_model_what_the_chain_rule_says() -> None:
    windows = Corpus.load().held_out_windows()[::200]
    exact = [float(text_costs(VOCABULARY.decode(window)).mean()) for window in windows]
    cost = bounds.cost(shipped_model("causal"), windows)
    assert cost == pytest.approx(sum(exact) / len(exact), abs=1e-3)
