"""What a linear reader gets out of each layer in the small world, and what it would get anyway."""

from __future__ import annotations

import re
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.encoder import Encoder
from cloze.masking import seeded
from cloze.use.vectors import LinearProbe, layer_states
from cloze.vocabulary import PAD
from cloze.world import PARTS_OF_SPEECH, World

SCENES = {
    "weather": r"because it was",
    "meal": r" hot ",
    "study": r" studied ",
    "lock": r" locked ",
    "shore": r" watched ",
    "cave": r" saw ",
    "hand": r" held ",
    "nation": r" speaks ",
    "opinion": r" said that ",
    "animal": r" near the ",
    "kind": r"^my favorite ",
    "pet": r" sat on the (mat|chair)$",
}
"""By scene what only its sentences say."""

KINDS = {
    "person": "anna clara eva tom ben david",
    "day": "monday tuesday friday",
    "colour": "red blue green",
    "meal": "coffee tea bread soup",
    "animal": "bird bear fox dog dogs cat",
    "town": "nice paris seville bilbao",
    "trade": "doctor teacher guard clerk fisher farmer player cook",
}
"""Words of a kind."""

AMBIGUOUS = ("bank", "bat", "cell")


def scene_of(sentence: str) -> int:
    """Return the number of the scene of a sentence, in the order of ``SCENES``."""
    [scene] = [i for i, said in enumerate(SCENES.values()) if re.search(said, sentence)]
    return scene


class Read(NamedTuple):
    """All sentences of a world as an encoder reads them."""

    states: list[Tensor]
    """By layer, the embedding first: ``(sentences, length, d_model)``."""
    input_ids: Tensor
    """Shape ``(sentences, length)``."""
    scenes: Tensor
    """The scene of each sentence, ``(sentences,)``."""


def read_world(world: World, encoder: Encoder) -> Read:
    """Let an encoder read every sentence of a world, 256 at a time."""
    padding = world.input_ids == world.vocabulary.ids[PAD]
    parts = [
        layer_states(encoder, ids, pad)
        for ids, pad in zip(
            torch.split(world.input_ids, 256), torch.split(padding, 256), strict=True
        )
    ]
    states = [torch.cat(layer) for layer in zip(*parts, strict=True)]
    scenes = torch.tensor([scene_of(sentence) for sentence in world.sentences])
    return Read(states, world.input_ids, scenes)


# Words of a kind


def word_vectors(world: World, read: Read, names: list[str], layer: int = -1) -> Tensor:
    """Return the mean state of each word over all places where it stands: ``(words, d_model)``."""
    ids = world.vocabulary.ids
    return torch.stack([read.states[layer][read.input_ids == ids[name]].mean(0) for name in names])


# Probes


class Task(NamedTuple):
    """What a reader is asked at some positions."""

    here: Tensor
    """Where it is asked, ``(sentences, length)``."""
    classes: Tensor
    """The answer at each of them, ``(asked,)``."""
    learned: Tensor
    """Which of them it learns from, ``(asked,)``; it is tested on the others."""


def _split(n: int, share: float, seed: int) -> Tensor:
    return torch.rand(n, generator=seeded(seed)) < share


def tasks(world: World, read: Read, seed: int = 0) -> dict[str, Task]:
    """Return what is asked, with the control task of Hewitt and Liang 2019 beside it.

    ``word``, ``scene`` and ``sense`` are learned from half of the sentences and tested on the
    others; so is ``part of speech``, for all words alike. Its control gives every word a class
    drawn once, in the same shares. For ``…, new words`` half of the *words* are learned from and
    the others tested.
    """
    vocabulary = world.vocabulary
    n = vocabulary.n_ordinary
    ordinary = read.input_ids < n
    ids = read.input_ids[ordinary]
    rows = ordinary.nonzero()[:, 0]
    by_sentence = _split(len(read.input_ids), 0.5, seed)
    by_word = _split(n, 0.5, seed + 1)[ids]
    speech = torch.zeros(n, dtype=torch.int64)
    for part, listed in enumerate(PARTS_OF_SPEECH.values()):
        for word in listed.split():
            speech[vocabulary.ids[word]] = part
    control = speech[torch.randperm(n, generator=seeded(seed + 2))]
    ambiguous = torch.isin(
        read.input_ids, torch.tensor([vocabulary.ids[word] for word in AMBIGUOUS])
    )
    where = ambiguous.nonzero()[:, 0]
    _, sense = torch.unique(
        torch.stack([read.input_ids[ambiguous], read.scenes[where]], 1), dim=0, return_inverse=True
    )
    return {
        "word": Task(ordinary, ids, by_sentence[rows]),
        "part of speech": Task(ordinary, speech[ids], by_sentence[rows]),
        "  control": Task(ordinary, control[ids], by_sentence[rows]),
        "part of speech, new words": Task(ordinary, speech[ids], by_word),
        "scene": Task(ordinary, read.scenes[rows], by_sentence[rows]),
        "sense": Task(ambiguous, sense, by_sentence[where]),
    }


def majority(task: Task) -> float:
    """Return what naming the most frequent class of those learned from would get."""
    common = task.classes[task.learned].mode().values
    return float((task.classes[~task.learned] == common).double().mean())


def probe(read: Read, task: Task, layer: int) -> float:
    """Return how many of the tested positions a linear reader names rightly."""
    states = read.states[layer][task.here]
    reader = LinearProbe(states[task.learned], task.classes[task.learned])
    said = reader(states[~task.learned])
    return float((said == task.classes[~task.learned]).double().mean())


def over_splits(world: World, read: Read, name: str, layer: int, splits: int = 5) -> float:
    """Return :func:`probe` on average over several draws of what is learned from."""
    found = [probe(read, tasks(world, read, 10 * seed)[name], layer) for seed in range(splits)]
    return sum(found) / splits
