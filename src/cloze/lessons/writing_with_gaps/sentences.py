"""Sentences of one length in the small world, and a reader for lines that are no sentences yet."""

from __future__ import annotations

from torch import Tensor

from cloze.world import Corruption, World

WORDS = 11
"""The length of the sentences that are written: the most frequent one."""
CAREFUL = Corruption(0.5, 1 - 1e-6, 1e-6)
"""For the exact reader: gaps, and one wrong word in a million, so that it has an answer even beside
words that never stand together."""


def of_length(world: World, words: int = WORDS) -> tuple[Tensor, Tensor]:
    """Return the sentences of ``words`` words, ``(sentences, length)``, and P(each | length)."""
    here = (world.input_ids < world.vocabulary.n_ordinary).sum(1) == words
    return world.input_ids[here], world.probabilities[here] / world.probabilities[here].sum()


def gaps_only(lines: Tensor, world: World) -> Tensor:
    """Return lines with every word hidden."""
    return lines.masked_fill(lines < world.vocabulary.n_ordinary, world.vocabulary.mask_id)
