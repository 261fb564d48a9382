"""What notebook 14 measures: lenses, switching off, swapping, paths, and removing directions."""

from __future__ import annotations

import math

import pytest
import torch

from cloze.checkpoint import CheckpointError, load_model
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.inside import Change, anatomy, run
from cloze.lenses import INSIDE, measurements_of
from cloze.lessons.inside import paths, removing
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
    with pytest.raises(CheckpointError, match="neither a model nor a run"):
        load_model(INSIDE / "masked.safetensors")


# Switching off


def test_an_effect_is_paired_and_its_error_is_over_windows() -> None:
    before = torch.tensor([1.0, 5.0, 2.0, 9.0])
    after = before + torch.tensor([0.1, 0.3, 0.2, 0.2])
    window = torch.tensor([0, 0, 1, 1])
    # Both windows have the same mean, however much their positions differ.
    assert switching.effect(before, after, window) == {"nats": 0.2, "error": 0.0}


# Swapping


def test_swapping_everything_at_the_gap_moves_the_whole_answer() -> None:
    model = shipped_model()
    lines = swapping.pairs(model, Corpus.load().held_out_windows()[::20])
    theirs = run(model, lines.theirs)
    last = Change("resid_post", 1, theirs["resid_post", 1], at=[swapping.GAP])
    nothing = Change("embed", 0, theirs["embed"], at=[swapping.GAP])
    everything = {"all": 1, "none": 0}
    found = swapping.shares(model, lines, {"all": last, "none": nothing})
    assert found == {"shares": everything, "tips": everything}


# Paths


@pytest.fixture(scope="module")
def world() -> World:
    return World.load()


def test_the_world_says_which_word_decides(world: World) -> None:
    bound, free = measured_paths.questions(world)
    assert (len(bound), len(free)) == (7064, 51360)
    p = dict(zip(world.sentences, world.probabilities.tolist(), strict=True))
    assert sum(abs(measured_paths.log_odds(p, q)) > 1e-6 for q in free) == 144


def test_the_ways_of_a_rule_are_measured_again(world: World) -> None:
    rule = "barks/bark by dog/dogs at -6"
    asked = [q for q in measured_paths.questions(world)[0] if q.rule == rule]
    [batch] = paths.batches(world, asked)
    leans, moved = paths.ways(shipped_model("world"), batch, world.vocabulary.ids[PAD])
    shares = (moved / (leans[:, 0] - leans[:, 1])[:, None]).mean(dim=0).tolist()
    committed = load_results("inside", "paths")["rules"][rule]
    assert shares == pytest.approx([committed[way] for way in paths.WAYS], abs=2e-3)
    assert committed["mostly"] == {"near": 0, "straight": 0, "relay": len(asked)}


# Removing


def test_what_the_answer_depends_on_turns_all_answers_and_nothing_else_turns_any(
    world: World,
) -> None:
    sentences, woman, rain = removing.weather(world)
    about_woman, about_rain = (
        [removing.removal(shipped_model("world"), sentences, at, labels) for at in (5, 7)]
        for labels in (woman, rain)
    )  # in the gap at *her* and at *umbrella*
    assert [found.turned for found in about_woman] == [432, 0]
    assert [found.turned for found in about_rain] == [0, 432]
    for found in (*about_woman, *about_rain):
        assert (found.probe, found.asked) == (1, 432)
        assert found.neighbour > 0.6
    used, unused = about_woman
    assert used.removed - used.cost == pytest.approx(math.log(2), abs=0.05)
    assert unused.removed - unused.cost < 0.01


def test_costs_with_a_change_are_those_of_the_changed_model() -> None:
    model = shipped_model()
    batch = MaskedBatch(*(part[:3] for part in held_out_batch(Corpus.load().held_out_windows())))
    logits = run(model, batch.inputs, Change("mlp_out", 1))["logits"][batch.selected]
    truth = batch.labels[batch.selected]
    expected = -logits[:, :28].log_softmax(dim=-1).gather(1, truth[:, None])[:, 0]
    found = switching.costs(model, batch, Change("mlp_out", 1))
    assert (found - expected).abs().max() < 1e-4
