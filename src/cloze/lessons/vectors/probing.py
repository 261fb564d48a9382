"""What the layers of an encoder know of the words of the small world: neighbours, and probes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cloze.encoder import Encoder
from cloze.heads import LINES_AT_ONCE
from cloze.masking import seeded
from cloze.tasks.vectors import LinearProbe, layer_states
from cloze.vocabulary import PAD
from cloze.world import World

KINDS = {
    "person": "anna clara eva tom ben david",
    "day": "monday tuesday friday",
    "colour": "red blue green",
    "meal": "coffee tea bread soup",
    "animal": "bird bear fox dog dogs cat",
    "town": "nice paris seville bilbao",
    "trade": "doctor teacher guard clerk fisher farmer player cook",
}
KIND_OF = {word: kind for kind, listed in KINDS.items() for word in listed.split()}
"""By word its kind."""
PARTS_OF_SPEECH = {
    "noun": "anna clara eva tom ben david pierre maria monday tuesday friday school work umbrella "
    "boots sledge coat coffee tea bread soup morning evening doctor teacher cell bone leaf map "
    "microscope lamp guard clerk gate bank shop midnight lunch fisher child boat bridge sand hours "
    "river sea bat bird bear fox farmer cave tree player cook ball spoon pan hand french spanish "
    "friends children nice paris seville bilbao south north film book dog dogs house houses night "
    "colour drink cat mat chair",
    "verb": "took wore was raining snowing drinks eats studied locked sat watched saw held speaks "
    "said liked hated barks barked bark is",
    "adjective": "red blue green big small hot right left good bad last every favorite two three",
    "other": "on her his my to because it again outside in the at under after for and a with that "
    "very not near of",
}
"""What the words of ``data/world.toml`` are."""


def read_world(world: World, encoder: Encoder) -> list[Tensor]:
    """Let an encoder read every sentence of a world.

    Returns:
        The hidden states by layer, the embedding first: ``(sentences, length, d_model)`` each.
    """
    parts = [
        layer_states(encoder, ids, ids == world.vocabulary.ids[PAD])
        for ids in torch.split(world.input_ids, LINES_AT_ONCE)
    ]
    return [torch.cat(layer) for layer in zip(*parts, strict=True)]


def word_vectors(world: World, states: Tensor, names: list[str]) -> Tensor:
    """Return the mean state of each word over all places where it occurs: ``(words, d_model)``."""
    ids = world.vocabulary.ids
    return torch.stack([states[world.input_ids == ids[name]].mean(0) for name in names])


# Probes


class ProbeTask(NamedTuple):
    """What a probe is asked at every word of the world."""

    classes: Tensor
    """The right answers, ``(words of all sentences,)``."""
    learned: Tensor
    """True where it learns; it is tested on the others."""


def _half(n: int, seed: int) -> Tensor:
    return torch.rand(n, generator=seeded(seed)) < 0.5


def _parts_of_speech(world: World) -> Tensor:
    """Return the part of speech of each word of the vocabulary, as a number."""
    speech = torch.zeros(world.vocabulary.n_ordinary, dtype=torch.int64)
    for part, listed in enumerate(PARTS_OF_SPEECH.values()):
        for word in listed.split():
            speech[world.vocabulary.ids[word]] = part
    return speech


def tasks(world: World) -> dict[str, ProbeTask]:
    """Return tasks that are learned from half of the sentences and tested on the others.

    The second is the control task of Hewitt and Liang 2019: every word gets a class drawn at
    random, in the same shares.
    """
    ordinary = world.input_ids < world.vocabulary.n_ordinary
    ids, sentences = world.input_ids[ordinary], ordinary.nonzero()[:, 0]
    learned = _half(len(world.sentences), seed=0)[sentences]
    speech = _parts_of_speech(world)
    control = speech[torch.randperm(len(speech), generator=seeded(2))]
    return {
        "part of speech": ProbeTask(speech[ids], learned),
        "random classes": ProbeTask(control[ids], learned),
    }


def new_words(world: World) -> list[ProbeTask]:
    """Return five tasks: learn the part of speech from half of the *words*, name the others'."""
    ids = world.input_ids[world.input_ids < world.vocabulary.n_ordinary]
    speech = _parts_of_speech(world)
    return [ProbeTask(speech[ids], _half(len(speech), seed)[ids]) for seed in (1, 11, 21, 31, 41)]


def majority(task: ProbeTask) -> float:
    """Return how often it is right to name the most frequent class of those learned from."""
    common = task.classes[task.learned].mode().values
    return float((task.classes[~task.learned] == common).double().mean())


def probe(world: World, states: Tensor, task: ProbeTask) -> float:
    """Return how often a linear probe is right where it is tested."""
    at_words = states[world.input_ids < world.vocabulary.n_ordinary]
    reader = LinearProbe(at_words[task.learned], task.classes[task.learned])
    said = reader(at_words[~task.learned])
    return float((said == task.classes[~task.learned]).double().mean())
