"""The small world: its truth against chance, against brute force, and against itself."""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cloze.encoder import DIRECTIONS, Direction
from cloze.heads import MaskedLM
from cloze.masking import IGNORE
from cloze.training import Recipe, TrainingRun
from cloze.vocabulary import PAD, TextError
from cloze.world import Corruption, Truth, World

THREE = {"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25}
UNEVEN = {"a b": 0.4, "b a": 0.15, "a b a": 0.2, "b b": 0.1, "a": 0.15}
"""Lengths differ, and every word stands in every place."""


shares = st.tuples(st.floats(0.3, 0.8), st.floats(0.05, 0.2))
few = settings(max_examples=15, deadline=None)


def everything_read(world: World, corruption: Corruption) -> list[tuple[float, Tensor, Tensor]]:
    """Enumerate by brute force: P(x, x̃, M), the corrupted line, and the labels."""
    n, mask = world.vocabulary.n_ordinary, world.vocabulary.mask_id
    rate, masked, random = astuple(corruption)
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for ids, p in zip(world.input_ids, world.probabilities.tolist(), strict=True):
        fates = []
        for symbol in ids.tolist():
            if symbol >= n:
                fates.append([(1.0, symbol, IGNORE)])
                continue
            drawn = [(rate * random / n, other, symbol) for other in range(n)]
            kept = rate * (1 - masked - random)
            own = [
                (1 - rate, symbol, IGNORE),
                (rate * masked, mask, symbol),
                (kept, symbol, symbol),
            ]
            fates.append([fate for fate in own + drawn if fate[0] > 0])
        for fate in product(*fates):
            key = tuple(f[1] for f in fate), tuple(f[2] for f in fate)
            found[key] = found.get(key, 0.0) + p * math.prod(f[0] for f in fate)
    return [(p, torch.tensor(x), torch.tensor(labels)) for (x, labels), p in found.items()]


tiny_worlds = st.dictionaries(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=2).map(" ".join),
    st.integers(1, 9),
    min_size=2,
    max_size=4,
).map(lambda counts: World({s: n / sum(counts.values()) for s, n in counts.items()}))


def seen(inputs: Tensor, at: int, direction: Direction, pad: int) -> tuple[int, ...]:
    """Return all that a reader sees who is asked about a position of one line."""
    symbols = [i for i in inputs.tolist() if i != pad]
    if direction == "left":
        return tuple(symbols[: at + 1])
    return tuple(symbols[at:]) if direction == "right" else (at, *symbols)


@few
@given(tiny_worlds, shares, st.floats(0.1, 0.9), st.sampled_from(DIRECTIONS))
def test_the_truth_is_that_of_a_world_that_is_enumerated_whole(
    world: World, share: tuple[float, float], rate: float, direction: Direction
) -> None:
    corruption, pad = Corruption(rate, *share), world.vocabulary.ids[PAD]
    stood: dict[tuple[int, ...], Tensor] = {}  # by what is read, how probable each word is
    asked: dict[tuple[int, ...], tuple[Tensor, int]] = {}  # a line and a position where it is read
    for p, inputs, labels in everything_read(world, corruption):
        for at in (labels != IGNORE).nonzero().flatten().tolist():
            key = seen(inputs, at, direction, pad)
            zeros = torch.zeros(world.vocabulary.n_ordinary, dtype=torch.float64)
            stood.setdefault(key, zeros)[labels[at]] += p
            asked[key] = inputs, at
    for key, (inputs, at) in asked.items():
        selected = (torch.arange(len(inputs)) == at)[None]
        found = world.truth(inputs[None], selected, direction, corruption)[0]
        torch.testing.assert_close(found, stood[key] / stood[key].sum())


def test_two_gaps_are_what_happens_together() -> None:
    world, corruption = World(UNEVEN), Corruption(0.6)
    n, line = world.vocabulary.n_ordinary, world.encode("_ _")
    together = torch.zeros(n, n, dtype=torch.float64)
    for p, inputs, labels in everything_read(world, corruption):
        if inputs.tolist() == [*line.tolist(), world.vocabulary.ids[PAD]]:
            together[labels[1], labels[2]] += p
    found = world.joint(line, 1, 2, corruption)
    torch.testing.assert_close(found, together / together.sum())
    # The two are not independent, so the product of the single answers is something else.
    alone = world.truth(line[None], line[None] == world.vocabulary.mask_id, corruption=corruption)
    assert (torch.outer(*alone) - found).abs().max() > 0.1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_floor_is_what_the_truth_pays_for_many_questions(direction: Direction) -> None:
    world, corruption = World(UNEVEN), Corruption(0.6)
    batch = world.questions(4000, corruption)
    truth = world.truth(batch.inputs, batch.selected, direction, corruption)
    paid = -truth.gather(1, batch.labels[batch.selected][:, None]).log()
    floor, error = world.floor(batch, direction, corruption)
    typically_off = float(paid.std()) / len(paid) ** 0.5
    assert abs(float(paid.mean()) - floor) < 4 * typically_off
    assert error < typically_off < 0.02


@few
@given(tiny_worlds, shares, st.floats(0.05, 0.95), st.sampled_from(DIRECTIONS))
def test_a_model_that_is_the_truth_pays_exactly_the_floor(
    world: World, share: tuple[float, float], rate: float, direction: Direction
) -> None:
    corruption = Corruption(rate, *share)
    batch = world.questions(200, corruption)
    reader = Truth(world, direction, corruption)
    assert world.excess(reader, batch, direction, corruption).nats == pytest.approx(0, abs=1e-9)
    logits = reader.logits_at(batch.inputs, batch.selected)
    torch.testing.assert_close(logits.exp().sum(1), torch.ones(len(logits), dtype=torch.float64))
    wrong = Truth(world, direction, Corruption(min(1.0, rate + 0.05), 0.3, 0.6))
    assert world.excess(wrong, batch, direction, corruption).nats >= 0


def test_probabilities_are_those_of_the_text() -> None:
    world = World.load()
    assert world.probability("river river") == world.probability("the zebra") == 0
    assert world.probability("The cat sat on the mat.") == pytest.approx(0.03 * 0.7 * 0.6)


def test_a_run_on_a_world_brings_its_words(tmp_path: Path) -> None:
    world = World(UNEVEN)
    model = MaskedLM(world.config(), world.vocabulary)
    with pytest.raises(TextError, match=r"has 5 symbols .* not 4"):
        TrainingRun(model, world, Recipe(length=4))
    with pytest.raises(ValueError, match="reads other symbols"):
        TrainingRun(MaskedLM(), world, Recipe(length=5))
    run = TrainingRun(model, world, Recipe(length=5))
    assert (run.held_out.labels[run.held_out.selected] < world.vocabulary.n_ordinary).all()
    run.save(tmp_path / "run")
    assert TrainingRun.load(tmp_path / "run", world).model.vocabulary == world.vocabulary


SCENE = "[[scene]]\nshare = 1.0\nsentence = "


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[scene]\n", r"world\.toml cannot be read as TOML"),
        ("a = 1", r"world\.toml: A world has at least one \[\[scene"),
        (SCENE.replace("1.0", "0.9") + "'the'", "sum to 0.9, not to 1"),
        (SCENE + "'what?'", "words of letters"),
        (SCENE + "'the {cat}'", r"\{cat\} in the scene .* names no choice"),
    ],
)
def test_a_text_that_describes_no_world(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "world.toml"
    file.write_text(text)
    with pytest.raises(TextError, match=reason):
        World.load(file)


def test_lines_that_are_not_of_this_world() -> None:
    shipped = World.load()
    with pytest.raises(TextError, match=r"'umbrela' is not among .* the nearest is 'umbrella'"):
        shipped.encode("anna took her umbrela")
    with pytest.raises(TextError, match="has 16 words, and no sentence of this world has more"):
        shipped.encode("the " * 16)
    short = shipped.encode("the _")[None]
    with pytest.raises(TextError, match="can have become 'the _'"):
        shipped.truth(short, short == shipped.vocabulary.mask_id)


def test_signs_are_words_that_stand_alone() -> None:
    world = World({"x = ( 1 )": 0.5, "x == 1": 0.5})
    assert world.vocabulary.decode(world.encode("X==_")) == "[BEGIN] x == [MASK] [END]"
    assert world.vocabulary.decode(world.encode("x=(1)")) == "[BEGIN] x = ( 1 ) [END]"
    spoken = World({"the cat": 1.0})
    assert torch.equal(spoken.encode("The, cat!"), spoken.encode("the cat"))
