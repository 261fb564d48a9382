"""What notebook 14 measures: lenses, switching off, swapping, paths, and removing directions."""

from __future__ import annotations

import pytest
import torch

from cloze.checkpoint import CheckpointError, load_model
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.inside import Change, anatomy, run
from cloze.lenses import INSIDE, measurements_of, off
from cloze.lessons.inside import paths, removing, results
from cloze.masking import MaskedBatch, held_out_batch
from cloze.prediction.shipped import shipped_model
from cloze.teaching.measurements import load_results
from cloze.vocabulary import PAD
from cloze.world import World
from measured.inside import lens, swapping, switching
from measured.inside import paths as measured_paths

# What is kept


@pytest.mark.parametrize("name", lens.MODELS)
def test_translators_and_means_belong_to_their_model(name: str) -> None:
    model = shipped_model(name)
    found = measurements_of(model)
    assert found is not None
    rungs = anatomy(model).rungs
    assert set(found.translators) == set(rungs[:-1])
    assert {key: tuple(mean.shape) for key, mean in found.means.items()} == {
        (part, n): (8, 16) if part == "z" else (128,) for part in lens.AVERAGED for n in (0, 1)
    }
    last = torch.ones(3, 128)
    assert found.translate(rungs[-1], last) is last


def test_nothing_is_kept_of_another_model_and_what_is_kept_is_no_model() -> None:
    assert measurements_of(MaskedLM()) is None
    with pytest.raises(CheckpointError, match="not a model"):
        load_model(INSIDE / "masked.safetensors")


def test_the_committed_costs_are_those_of_the_committed_translators() -> None:
    model = shipped_model()
    batch = lens.questions(Corpus.load())
    found = measurements_of(model)
    assert found is not None
    measured = lens.costs(model, batch, dict(found.translators))
    for reader, nats in load_results("inside", "lens")["nats"]["masked"].items():
        assert measured[reader] == pytest.approx(nats, abs=2e-3)
    for reader in load_results("inside", "lens")["nats"].values():
        below = [*reader["head"]][:-1]
        assert all(reader["translator"][rung] < reader["head"][rung] for rung in below)


def test_the_mean_of_a_part_is_over_the_selected_positions() -> None:
    model, found = shipped_model(), measurements_of(shipped_model())
    assert found is not None
    batch = held_out_batch(Corpus.load().held_out_windows())
    parts = run(model, batch.inputs[:300])
    mean = parts["mlp_out", 0][batch.selected[:300]].mean(dim=0)
    assert (mean - found.means["mlp_out", 0]).norm() < 0.2 * mean.norm()
    change = off("z", 1, found.means, head=2)
    assert torch.equal(torch.as_tensor(change.to), found.means["z", 1][2])


# Switching off


def test_an_effect_is_paired_and_its_error_is_over_windows() -> None:
    before = torch.tensor([1.0, 5.0, 2.0, 9.0])
    after = before + torch.tensor([0.1, 0.3, 0.2, 0.2])
    window = torch.tensor([0, 0, 1, 1])
    # Both windows have the same mean, however much their positions differ.
    assert switching.effect(before, after, window) == {"nats": 0.2, "error": 0.0}


def test_ranks_share_ties_and_correlate() -> None:
    assert results.ranks(torch.tensor([3.0, 1.0, 3.0, 7.0])).tolist() == [1.5, 0.0, 1.5, 3.0]
    steps = torch.arange(5.0)
    assert results.rank_correlation(steps, steps.exp()) == pytest.approx(1)
    assert results.rank_correlation(steps, -steps) == pytest.approx(-1)


def test_the_committed_effect_of_a_head_is_measured_again() -> None:
    model, found = shipped_model(), measurements_of(shipped_model())
    assert found is not None
    batch = held_out_batch(Corpus.load().held_out_windows())
    window = batch.selected.nonzero()[:, 0]
    before = switching.costs(model, batch)
    after = switching.costs(model, batch, off("z", 0, found.means, head=1))
    measured = switching.effect(before, after, window)
    assert measured["nats"] == pytest.approx(
        load_results("inside", "switching")["one"]["1.2"]["nats"], abs=2e-3
    )


# Swapping


def test_swapping_everything_at_the_gap_moves_the_whole_answer() -> None:
    model = shipped_model()
    lines = swapping.pairs(model, Corpus.load().held_out_windows()[::20], side=1)
    theirs = run(model, lines.theirs)
    last = Change("resid_post", 1, theirs["resid_post", 1], at=[swapping.GAP])
    nothing = Change("embed", 0, theirs["embed"], at=[swapping.GAP])
    assert swapping.shares(model, lines, {"all": last, "none": nothing}) == {"all": 1, "none": 0}


# Paths


@pytest.fixture(scope="module")
def world() -> World:
    return World.load()


def test_the_world_says_which_word_decides(world: World) -> None:
    bound, free = measured_paths.questions(world)
    assert (len(bound), len(free)) == (7064, 51360)
    p = dict(zip(world.sentences, world.probabilities.tolist(), strict=True))
    together = [q for q in free if {"coffee", "tea"} & {q.ours[q.gap], q.ours[q.decider]}]
    partly = [q for q in free if abs(measured_paths.log_odds(p, q)) > 1e-6]
    assert len(partly) == 144
    assert set(partly) <= set(together)


def test_the_ways_of_a_rule_are_measured_again(world: World) -> None:
    rule = "barks/bark by dog/dogs at -6"
    asked = [q for q in measured_paths.questions(world)[0] if q.rule == rule]
    [batch] = paths.batches(world, asked)
    leans, moved = paths.ways(shipped_model("world"), batch, world.vocabulary.ids[PAD])
    shares = (moved / (leans[:, 0] - leans[:, 1])[:, None]).mean(dim=0).tolist()
    committed = load_results("inside", "paths")["rules"][rule]
    assert shares == pytest.approx([committed[way] for way in paths.WAYS], abs=2e-3)


def test_readers_name_the_head_and_the_word() -> None:
    dogs = "the big red dogs near the house of anna bark every night"
    other = dogs.replace("dogs", "dog").replace("bark", "barks")
    question = paths.SentencePair(tuple(dogs.split()), tuple(other.split()), gap=9, decider=3)
    best = paths.readers(shipped_model("world"), question, layer=1, at=9)
    assert [(head, read) for _, head, read in best[:2]] == [("2.6", "[END]"), ("2.4", "night")]


# Removing


def test_what_is_removed_is_gone_and_nothing_else(world: World) -> None:
    states = torch.randn(50, 8, generator=torch.Generator().manual_seed(0)) + 2
    direction, mean = torch.arange(1.0, 9.0), states.mean(dim=0)
    left = removing.without(states, direction, mean)
    along = left @ direction
    assert (along - mean @ direction).abs().max() < 1e-4
    other = torch.linalg.qr(torch.stack([direction, *torch.eye(8)[:7]]).T)[0][:, 1:]
    assert (left @ other - states @ other).abs().max() < 1e-5
    sentences, woman, rain = removing.weather(world)
    assert (len(sentences), int(woman.sum()), int(rain.sum())) == (864, 432, 432)


def test_only_the_direction_that_is_read_costs_something(world: World) -> None:
    sentences, _, rain = removing.weather(world)
    found = removing.removal(shipped_model("world"), sentences, 7, rain)
    assert found.probe == 1
    assert found.again < 0.6
    assert found.removed > found.before + 0.5
    assert abs(found.control - found.before) < 0.05


def test_costs_with_a_change_are_those_of_the_changed_model() -> None:
    model = shipped_model()
    batch = MaskedBatch(*(part[:3] for part in held_out_batch(Corpus.load().held_out_windows())))
    logits = run(model, batch.inputs, Change("mlp_out", 1))["logits"][batch.selected]
    truth = batch.labels[batch.selected]
    expected = -logits[:, :28].log_softmax(dim=-1).gather(1, truth[:, None])[:, 0]
    found = switching.costs(model, batch, Change("mlp_out", 1))
    assert (found - expected).abs().max() < 1e-4
