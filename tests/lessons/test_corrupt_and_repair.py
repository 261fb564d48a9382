"""What notebook 09 measures: what is lost, the truth about fillings, typos, probes, the widget."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from cloze.checkpoint import CHECKPOINTS, load_model
from cloze.evaluation import area_under_curve
from cloze.lessons.corrupt_and_repair import checks, corruptions, exact, mending
from cloze.lessons.corrupt_and_repair.corruptions import take_out
from cloze.lessons.corrupt_and_repair.objective_infilling import INFILLING, PrefixLM
from cloze.lessons.corrupt_and_repair.objective_replaced import ReplacedLM
from cloze.lessons.corrupt_and_repair.widget import LineSpoiler
from cloze.masking import seeded
from cloze.teaching.measurements import load_results
from cloze.vocabulary import VOCABULARY
from cloze.world import World
from measured.corrupt_and_repair import comparing, probes

SENTENCES = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
WORLD = World(SENTENCES)
LONGER = World(
    {
        f"{a} {b} {c} {d} {e}": 1 / 32
        for a in "ab"
        for b in "ab"
        for c in "ab"
        for d in "ab"
        for e in "ab"
    }
)


# What is lost


def test_deletion_loses_what_the_exercise_says() -> None:
    assert exact.lost(WORLD, exact.deleted(1)) == pytest.approx(
        checks.still_open(checks.originals_of(SENTENCES))
    )


def test_what_is_lost_by_hand() -> None:
    # Deleting or masking "dog" or "cat" leaves "the sleeps"; the last word, "the dog".
    third = 1 / 3
    sleeps = third * 0.5 * math.log(2)
    h = -(2 / 3 * math.log(2 / 3) + third * math.log(third))
    by_hand = sleeps + third * 0.75 * h
    mask = WORLD.vocabulary.mask_id
    for channel in (exact.deleted(1), exact.masked(mask, 1)):
        assert exact.lost(WORLD, channel) == pytest.approx(by_hand)
    assert exact.lost(WORLD, exact.rotated) == pytest.approx(0, abs=1e-9)
    assert exact.lost(WORLD, exact.one_span(mask, [3])) == pytest.approx(WORLD.entropy)


def test_channels_are_what_the_corruptions_draw() -> None:
    line = tuple(range(5))
    drawn: dict[str, set[tuple[int, ...]]] = {"delete": set(), "replace": set(), "rotate": set()}
    for seed in range(1500):
        for name, found in drawn.items():
            spoilt = getattr(corruptions, name)(
                torch.tensor(line), 0.2, vocabulary=WORLD.vocabulary, generator=seeded(seed)
            )
            found.add(tuple(spoilt.inputs.tolist()))
    n = WORLD.vocabulary.n_ordinary
    assert set(exact.deleted(1)(line)) <= drawn["delete"]
    assert set(exact.one_replaced(n)(line)) <= drawn["replace"]
    assert set(exact.rotated(line)) == drawn["rotate"]


def test_two_words_may_be_deleted_so_that_their_places_are_open() -> None:
    # "a b" and "b a" without one word are the same two lines; "a a b" keeps its places.
    world = World({"a b a": 0.5, "b a a": 0.5})
    gap = world.vocabulary.mask_id
    assert exact.lost(world, exact.masked(gap, 2)) == pytest.approx(math.log(2) / 3)
    # One deletion in three leaves "b", the others "a".
    assert exact.lost(world, exact.deleted(2)) == pytest.approx(math.log(2))
    for n in (1, 2, 3):
        assert len([*exact.deleted(n)(tuple(range(5)))]) == math.comb(5, n)


def test_the_best_discriminator_pays_the_entropy_of_its_suspicion() -> None:
    truth = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
    floors = []
    for drawn in (torch.full((4,), 0.25, dtype=torch.float64), truth):
        floor = 0.0
        for p, q in zip(truth.tolist(), drawn.tolist(), strict=True):
            seen = 0.15 * q + 0.85 * p
            said = checks.suspicion(p, q, 0.15) if seen else 0.0
            floor -= seen * sum(share * math.log(share) for share in (said, 1 - said) if share > 0)
        assert exact.detection_floor(truth, drawn, 0.15) == pytest.approx(floor)
        floors.append(floor)
    assert floors[0] < floors[1]


# What belongs into the gaps


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6])
def test_fillings_are_bayes_rule_over_all_that_can_be_drawn(share: float) -> None:
    """Draw many, and compare the shares of targets behind one input with the exact ones."""
    words = INFILLING.vocabulary(LONGER.vocabulary)
    chance = seeded(0)
    seen: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}
    for row in LONGER.sample(4_000, generator=chance):
        line = row[row < words.n_ordinary]
        spoilt = take_out(line, share, vocabulary=words, generator=chance)
        counts = seen.setdefault(tuple(spoilt.inputs.tolist()), Counter())
        counts[tuple(spoilt.target.tolist())] += 1
    asked, counts = max(seen.items(), key=lambda item: item[1].total())
    truth = exact.fillings(LONGER, words, torch.tensor(asked), share)
    assert sum(truth.values()) == pytest.approx(1)
    assert counts.keys() <= truth.keys()
    for target, p in truth.items():
        n = counts.total()
        assert abs(counts[target] / n - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9


def test_the_shipped_model_writes_little_that_is_impossible() -> None:
    world = World.load()
    shipped = load_model(CHECKPOINTS / "world_infilling.safetensors")
    assert isinstance(shipped, PrefixLM)
    [spoilt] = mending.spoilt_lines(world, shipped.vocabulary, 1, seed=3)
    assert sum(q for _, q in mending.shares(shipped, world, spoilt.inputs).values()) > 0.9


# Probes


def test_tasks_are_broken_off_before_the_answer() -> None:
    world = World.load()
    for name, words in (("opinion", ("liked", "hated")), ("weather", ("raining", "snowing"))):
        task = probes.tasks(world)[name]
        said = {*task.lines.flatten().tolist()}
        assert not {world.vocabulary.ids[word] for word in words} & said
        assert task.labels.double().mean().item() == pytest.approx(0.5)


def test_a_probe_finds_what_is_there_and_nothing_else() -> None:
    labels = torch.arange(200) % 2 == 0
    noise = torch.randn(200, 16, generator=seeded(0))
    assert 0.4 < probes.accuracy(noise, labels) < 0.6
    noise[:, 0] += 12 * labels
    assert probes.accuracy(noise[:, :2], labels) > 0.95


# The results file


def test_the_committed_results_are_of_equal_time() -> None:
    results = load_results("corrupt_and_repair", "comparing")
    for text, milliseconds in results["milliseconds"].items():
        for name, each in milliseconds.items():
            budget = comparing.BUDGETS[text] * milliseconds["masked"]
            assert results["steps"][text][name] == round(budget / each)


def test_the_shipped_detector_is_better_than_chance() -> None:
    model = load_model(CHECKPOINTS / "replaced.safetensors")
    assert isinstance(model, ReplacedLM)
    line = VOCABULARY.encode("she took her umbrelqa because it wxs raining")
    wrong = torch.zeros(len(line), dtype=torch.bool)
    wrong[[19, 34]] = True
    assert area_under_curve(comparing.suspicion(model, line[None])[0], wrong) > 0.7


# The widget


def test_what_is_no_word_of_the_line_stands_out_where_nothing_runs() -> None:
    widget = LineSpoiler("the cat sat. the dog ran!")
    assert widget.spoilt.original == ("the", "cat", "sat", ".", "the", "dog", "ran")
    widget.answer_spoil(line="the cat sat", corruption="token masking", share=1.0)
    assert str(widget.still()).count("<b>[MASK]</b>") == 3
