"""What notebook 10 measures: samplers against the truth, spoilt lines, the results files."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cloze.causal import shipped_causal, text_costs
from cloze.checkpoint import CHECKPOINTS, provenance
from cloze.corpus import Corpus
from cloze.generation import POLICIES
from cloze.lessons.writing_with_gaps import bounds, samplers, scoring
from cloze.lessons.writing_with_gaps.diffusion import bound
from cloze.objectives import MASKED
from cloze.prediction import shipped_model
from cloze.training import Recipe
from cloze.vocabulary import VOCABULARY
from cloze.world import Corruption, Mean, Truth, World

WORLD = World(
    {"the dog barks": 0.3, "the cat sleeps": 0.3, "a dog sleeps": 0.2, "a cat": 0.15, "a dog": 0.05}
)
EXACT = Truth(WORLD, corruption=samplers.CAREFUL)
BLURRED = Truth(WORLD, corruption=Corruption(0.5, 0.7, 0.3))


def test_sentences_of_one_length_and_their_shares() -> None:
    sentences, p = samplers.of_length(WORLD, 2)
    assert len(sentences) == 2
    assert p.tolist() == pytest.approx([0.75, 0.25])
    hidden = samplers.gaps_only(sentences, WORLD)
    assert ((hidden == WORLD.vocabulary.mask_id).sum(1) == 2).all()
    assert torch.equal(hidden[:, 0], sentences[:, 0])


def test_counts_tell_sentences_from_what_is_none() -> None:
    sentences, _ = samplers.of_length(WORLD, 2)
    nonsense = sentences[:1].clone()
    nonsense[0, 2] = nonsense[0, 1]
    lines = torch.cat([sentences[:1].repeat(60, 1), sentences[1:].repeat(30, 1), nonsense] * 2)
    counts, others, distinct = samplers.counts_of(lines, sentences)
    assert counts.tolist() == [120, 60]
    assert others == 2
    assert distinct == 3


def test_kl_is_zero_for_the_exact_reader_in_any_order_and_positive_at_once() -> None:
    sentences, p = samplers.of_length(WORLD, 3)
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
    assert found.nats == pytest.approx(0, abs=1e-4)


def test_every_policy_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "of_length", lambda world: _of_three(world))
    found = samplers.in_world(EXACT, WORLD, 400, seed=0)
    assert set(found) == set(POLICIES)
    for policy in ("left to right", "easiest first", "random order"):
        assert found[policy].valid == 1
        assert found[policy].kl == pytest.approx(0, abs=1e-3)
    assert found["all at once"].valid < 0.9
    assert found["all at once"].kl == pytest.approx(
        samplers.exact_kl(EXACT, *_of_three(WORLD), "all at once")
    )
    assert samplers.exact_kl(EXACT, *_of_three(WORLD), "all at once") > 0.3
    assert 1 <= found["Gibbs"].distinct <= 100
    assert [policy for policy in found if found[policy].kl is None] == ["mask-predict", "Gibbs"]
    again = samplers.in_world(EXACT, WORLD, 400, seed=0)
    assert again == found


def _of_three(world: World) -> tuple[torch.Tensor, torch.Tensor]:
    here = (world.input_ids < world.vocabulary.n_ordinary).sum(1) == 3
    return world.input_ids[here], world.probabilities[here] / world.probabilities[here].sum()


def test_what_was_not_measured_is_left_out_of_the_means() -> None:
    runs = {"0": {"Gibbs": {"valid": 0.5, "kl": None}}, "1": {"Gibbs": {"valid": 1.0, "kl": None}}}
    assert samplers.over_seeds(runs) == {"Gibbs": {"valid": (0.75, 0.5)}}


def test_real_words_leave_out_what_may_be_cut() -> None:
    real, different = samplers.real_words(["he cat sat on t", "xx cat\nsat yy"], {"cat", "sat"})
    assert real == 4 / 5
    assert different == 3 / 5
    assert samplers.real_words(["ab"], {"ab"}) == (0.0, 0.0)


def test_lines_are_spoilt_in_one_place() -> None:
    chance = random.Random(0)
    for text in ("the old sea is grey", "a a b", "rain fell on the roof"):
        words = scoring.exchanged(text, chance).split()
        assert sorted(words) == sorted(text.split())
        assert words != text.split()
        spoilt, at = scoring.misspelt(text, chance)
        assert [i for i in range(len(text)) if text[i] != spoilt[i]] == [at]
        assert text[at] != " " != spoilt[at]


def test_a_score_is_judged_by_what_it_notices() -> None:
    def dear_x(text: str) -> torch.Tensor:
        return torch.tensor([float(c == "x") for c in text])

    assert scoring.preferred(dear_x, [("ab", "ax"), ("ax", "ab")]) == 0.5
    assert scoring.found(dear_x, [("abx", 2), ("xab", 1)]) == 0.5


def test_results_are_of_this_corpus_and_this_world() -> None:
    results = json.loads(samplers.RESULTS.read_text("utf-8"))
    assert results["corpus_sha256"] == Corpus.load().sha256
    assert results["world_sha256"] == World.load().sha256


def test_a_trained_reader_is_judged_in_the_small_world() -> None:
    world = World.load()
    model = samplers.trained(MASKED, world, seed=0, steps=2)
    sentences, p = samplers.of_length(world)
    assert len(sentences) == 364
    assert samplers.exact_kl(model, sentences, p, "left to right") > 5
    found = samplers.in_english(shipped_model(), {"the"}, 2, 0)
    assert set(found) == set(POLICIES)


def test_windows_cost_what_the_bound_says_and_what_the_chain_rule_says() -> None:
    windows = Corpus.load().held_out_windows()[::200]
    paid = bounds.judged(shipped_model(), windows, 1.23)
    assert paid.nats == pytest.approx(bound(shipped_model(), windows).nats, abs=1e-3)
    assert paid.nats == pytest.approx(sum(paid.quarters) / 4, abs=1e-3)
    assert paid.quarters == sorted(paid.quarters)
    assert paid.seconds == 1.2
    causal = bounds.judged(shipped_causal(), windows, 0)
    exact = [float(text_costs(VOCABULARY.decode(window)).mean()) for window in windows]
    assert causal.nats == pytest.approx(sum(exact) / len(exact), abs=1e-3)
    assert causal.quarters == []


def test_the_command_asks_three_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus.load()
    corpus = replace(corpus, held_out=corpus.held_out[:1])
    path = tmp_path / "bounds.json"
    monkeypatch.setattr(bounds, "curve", lambda *_: [Mean(2.0, 0.1)])
    bounds.main(path, corpus, Recipe(steps=2, evaluations=0), seeds=(0,))
    written = json.loads(path.read_text("utf-8"))
    assert written["corpus_sha256"] == corpus.sha256
    assert set(written["runs"]["0"]) == {"masked", "diffusion", "causal"}
    assert written["curves"] == {"masked": [2.0], "diffusion": [2.0]}


def test_bounds_are_of_this_corpus_and_the_causal_model_is_the_cheapest() -> None:
    kept = json.loads(bounds.RESULTS.read_text("utf-8"))
    assert kept["corpus_sha256"] == Corpus.load().sha256
    for of_seed in bounds.results().values():
        assert of_seed["causal"].nats < of_seed["masked"].nats


def test_the_shipped_models_curves_rise_and_their_means_are_the_bounds() -> None:
    for name, costs in bounds.curves().items():
        few, some, many, most = (sum(costs[at : at + 16]) for at in (0, 16, 32, 48))
        assert few < some < many < most
        kept = provenance(CHECKPOINTS / f"{name}.safetensors").get("bound_nats")
        if kept is not None:
            assert sum(costs) / len(costs) == pytest.approx(kept, abs=0.02)
    masked = bounds.curves()["masked"]
    assert masked == sorted(masked)
