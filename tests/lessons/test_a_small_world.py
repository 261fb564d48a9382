"""The small world as a lesson: what is claimed of its phenomena, and what is measured."""

import pytest
import torch

from cloze.heads import log_probs_at
from cloze.lessons.a_small_world import checks
from cloze.lessons.a_small_world.phenomena import PHENOMENA, Phenomenon, known_from
from cloze.prediction.shipped import shipped_model
from cloze.world import GAPS_ONLY, World


@pytest.fixture(scope="module")
def world() -> World:
    return World.load()


def who_knows(p: dict[str, float]) -> str:
    """Return which word of a phenomenon has such probabilities, or ""."""
    if p["both"] < 0.7:
        return "nobody"
    sure = [side for side in ("left", "right") if p[side] > 0.85]
    if p["both"] > 0.85 and all(p[side] <= 0.6 for side in ("left", "right") if side not in sure):
        return {0: "both", 1: "".join(sure)}.get(len(sure), "")
    return ""


@pytest.mark.parametrize("name", PHENOMENA)
def test_each_phenomenon_has_a_word_for_each_reader(name: str, world: World) -> None:
    line, *words = PHENOMENA[name]
    assert world.probability(line) > 0
    for kind, word in zip(Phenomenon._fields[1:], words, strict=True):
        assert who_knows(known_from(world, line, word)) == kind, word


def test_the_exercise_on_gaps_is_the_truth_of_the_package(world: World) -> None:
    sentences = dict(zip(world.sentences, world.probabilities.tolist(), strict=True))
    line = "on monday _ took her red _ to work because it was raining again"
    ids = world.encode(line)[None]
    first = torch.zeros_like(ids, dtype=torch.bool)
    first[0, 3] = True
    exact = world.truth(ids, first, corruption=GAPS_ONLY)[0]
    for word, p in checks.fillings(sentences, line).items():
        assert exact[world.vocabulary.ids[word]] == pytest.approx(p)


def test_excess_of_the_exercises_is_the_package_s(world: World) -> None:
    batch = world.questions(30)
    truth = world.truth(batch.inputs, batch.selected)
    model = shipped_model("world")
    answers = log_probs_at(model, batch.inputs, batch.selected).exp()
    each = [checks.excess(p, q) for p, q in zip(truth.tolist(), answers.tolist(), strict=True)]
    assert sum(each) / len(each) == pytest.approx(world.excess(model, batch).nats, abs=1e-6)
