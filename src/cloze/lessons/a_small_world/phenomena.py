"""What a sentence of the small world holds together, and from which side each word of it follows.

Every phenomenon has one line with four words to hide: one that only the right side can fill, one
that only the left side can, one that takes both, and one that nobody can.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from cloze.encoder import DIRECTIONS
from cloze.world import World


class Phenomenon(NamedTuple):
    """A line, and the words of it that are known from the right, the left, both or nowhere."""

    line: str
    right: str
    left: str
    both: str
    nobody: str


PHENOMENA = {
    "umbrella and rain": Phenomenon(
        "on monday anna took her red umbrella to work because it was raining again",
        right="took",
        left="raining",
        both="umbrella",
        nobody="anna",
    ),
    "cell, microscope": Phenomenon(
        "on monday the doctor studied the small red cell under the microscope again",
        right="doctor",
        left="microscope",
        both="cell",
        nobody="small",
    ),
    "cell, prison": Phenomenon(
        "on monday the guard locked the big blue cell after midnight",
        right="guard",
        left="midnight",
        both="cell",
        nobody="blue",
    ),
    "bank, money": Phenomenon(
        "on tuesday the clerk locked the big blue bank after midnight",
        right="clerk",
        left="midnight",
        both="bank",
        nobody="tuesday",
    ),
    "bank, river": Phenomenon(
        "the fisher sat on the big bank for two hours and watched the river",
        right="fisher",
        left="river",
        both="bank",
        nobody="two",
    ),
    "names and places": Phenomenon(
        "pierre speaks french with two friends in nice in the south",
        right="pierre",
        left="south",
        both="nice",
        nobody="friends",
    ),
    "not bad": Phenomenon(
        "on monday anna said that the big film was not bad and tom liked it",
        right="not",
        left="liked",
        both="bad",
        nobody="film",
    ),
    "agreement": Phenomenon(
        "the big red dogs near the house of anna bark every night",
        right="dogs",
        left="every",
        both="bark",
        nobody="house",
    ),
}


def known_from(world: World, line: str, word: str) -> dict[str, float]:
    """Return the probability that the truth gives to a word of a line when it alone is hidden.

    Args:
        world: gives the truth.
        line: a sentence of the world.
        word: occurs once in the line.

    Returns:
        By what is read: "left", "right", "both".
    """
    at = world.vocabulary.ids[word]
    input_ids = world.encode(line)[None]
    selected = input_ids == at
    hidden = input_ids.masked_fill(selected, world.vocabulary.mask_id)
    return {
        direction: float(world.truth(hidden, selected, direction)[0, at])
        for direction in DIRECTIONS
    }


def vectors(world: World, encoder: nn.Module, word: str, *around: str) -> Tensor:
    """Return what an encoder makes of a word in all sentences that hold it and some other words.

    Args:
        world: whose sentences are read, each once and uncorrupted.
        encoder: gives hidden states ``(n, length, d_model)`` for ids ``(n, length)`` and a mask of
            padding.
        word: stands at most once in a sentence.
        around: words that stand in the sentence as well.

    Returns:
        Shape ``(sentences, d_model)``.
    """
    wanted = {word, *around}
    rows = [k for k, sentence in enumerate(world.sentences) if wanted <= {*sentence.split()}]
    input_ids = world.input_ids[rows]
    with torch.no_grad():
        states = encoder(input_ids, input_ids == world.vocabulary.pad_id)
    found: Tensor = states[input_ids == world.vocabulary.ids[word]]
    return found
