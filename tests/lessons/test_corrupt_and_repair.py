"""What notebook 09 measures: what is lost, the truth about fillings, typos, probes, the widget."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import pytest
import torch

from cloze.lessons.corrupt_and_repair import checks, corruptions, exact
from cloze.lessons.corrupt_and_repair.corruptions import take_out
from cloze.lessons.corrupt_and_repair.objective_infilling import INFILLING
from cloze.lessons.corrupt_and_repair.widget import LineSpoiler
from cloze.masking import seeded
from cloze.world import World
from measured.corrupt_and_repair import probes
from measured.corrupt_and_repair.comparing import one_replaced

SENTENCES = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
WORLD = World(SENTENCES)
LONGER = World({" ".join(words): 1 / 32 for words in product("ab", repeat=5)})


# What is lost


def test_deletion_loses_what_the_exercise_says() -> None:
    assert exact.lost(WORLD, exact.deleted(1)) == pytest.approx(
        checks.still_open(checks.originals_of(SENTENCES))
    )


def test_channels_are_what_the_corruptions_draw() -> None:
    line = tuple(range(5))
    drawn: dict[str, set[tuple[int, ...]]] = {"delete": set(), "replace": set(), "rotate": set()}
    for seed in range(1500):
        for name, found in drawn.items():
            spoilt = getattr(corruptions, name)(
                torch.tensor(line), 0.2, WORLD.vocabulary, seeded(seed)
            )
            found.add(tuple(spoilt.inputs.tolist()))
    n = WORLD.vocabulary.n_ordinary
    assert set(exact.deleted(1)(line)) <= drawn["delete"]
    assert set(one_replaced(n)(line)) <= drawn["replace"]
    assert set(exact.rotated(line)) == drawn["rotate"]


# What belongs into the gaps


def test_fillings_are_bayes_rule_over_all_that_can_be_drawn() -> None:
    """Draw many, and compare the shares of targets behind one input with the exact ones."""
    words = INFILLING.vocabulary(LONGER.vocabulary)
    chance = seeded(0)
    seen: dict[tuple[int, ...], Counter[tuple[int, ...]]] = {}
    for row in LONGER.sample(4_000, generator=chance):
        line = row[row < words.n_ordinary]
        spoilt = take_out(line, 0.4, words, chance)
        counts = seen.setdefault(tuple(spoilt.inputs.tolist()), Counter())
        counts[tuple(spoilt.target.tolist())] += 1
    asked, counts = max(seen.items(), key=lambda item: item[1].total())
    truth = exact.fillings(LONGER, words, torch.tensor(asked), 0.4)
    assert sum(truth.values()) == pytest.approx(1)
    assert counts.keys() <= truth.keys()
    for target, p in truth.items():
        n = counts.total()
        assert abs(counts[target] / n - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9


# Probes


def test_tasks_are_broken_off_before_the_answer() -> None:
    world = World.load()
    for name, words in (("opinion", ("liked", "hated")), ("weather", ("raining", "snowing"))):
        lines, labels = probes.tasks(world)[name]
        said = {*lines.flatten().tolist()}
        assert not {world.vocabulary.ids[word] for word in words} & said
        assert labels.double().mean().item() == pytest.approx(0.5)


def test_a_probe_finds_what_is_there_and_nothing_else() -> None:
    labels = torch.arange(200) % 2 == 0
    noise = torch.randn(200, 16, generator=seeded(0))
    assert 0.4 < probes.accuracy(noise, labels) < 0.6
    noise[:, 0] += 12 * labels
    assert probes.accuracy(noise[:, :2], labels) > 0.95


# The results file


# The widget


def test_what_is_no_word_of_the_line_stands_out_where_nothing_runs() -> None:
    widget = LineSpoiler("the cat sat. the dog ran!")
    assert widget.spoilt.original == ("the", "cat", "sat", ".", "the", "dog", "ran")
    widget.answer_spoil(line="the cat sat", corruption="token masking", share=1.0)
    assert str(widget.still()).count("<b>[MASK]</b>") == 3
