"""What a corruption loses and what belongs into the gaps, exactly, in a world of known sentences.

Every sentence is spoilt in every possible way, each with its probability, so P(original | what is
read) is a matter of adding up: Bayes' rule without any sampling.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

import torch
from torch import Tensor

from cloze.lessons.corrupt_and_repair.corruptions import (
    lengths_between,
    number_of_spans,
    number_taken,
    out_of,
    placed,
)
from cloze.vocabulary import Vocabulary
from cloze.world import World

Line = tuple[int, ...]
Channel = Callable[[Line], Iterable[Line]]
"""From a line to everything that may be read in its place, each equally likely."""


def lost(world: World, channel: Channel) -> float:
    """Return H(original | what is read) in nats: what a channel loses of a sentence on average."""
    n = world.vocabulary.n_ordinary
    joint: dict[Line, dict[Line, float]] = defaultdict(dict)
    for row, p in zip(world.input_ids, world.probabilities.tolist(), strict=True):
        line = tuple(row[row < n].tolist())  # without what frames it
        outcomes = list(channel(line))
        for read in outcomes:
            originals = joint[read]
            originals[line] = originals.get(line, 0.0) + p / len(outcomes)
    nats = 0.0
    for originals in joint.values():
        total = math.fsum(originals.values())
        nats -= math.fsum(p * math.log(p / total) for p in originals.values())
    return abs(nats)


def deleted(n: int) -> Channel:
    """Delete any ``n`` words."""
    return lambda line: (
        tuple(word for i, word in enumerate(line) if i not in gone)
        for gone in combinations(range(len(line)), n)
    )


def masked(mask: int, n: int) -> Channel:
    """Put ``[MASK]`` in the place of any ``n`` words."""
    return lambda line: (
        tuple(mask if i in hidden else word for i, word in enumerate(line))
        for hidden in combinations(range(len(line)), n)
    )


def one_span(mask: int, lengths: Iterable[int]) -> Channel:
    """Put one ``[MASK]`` in the place of any span of one of these lengths, 0 included.

    A line has more places for a short span than for a long one, so short ones come more often.
    """
    sizes = [*lengths]
    return lambda line: (
        (*line[:i], mask, *line[i + size :]) for size in sizes for i in range(len(line) - size + 1)
    )


def rotated(line: Line) -> Iterator[Line]:
    """Begin at any word."""
    return (line[i:] + line[:i] for i in range(len(line)))


def detection_floor(truth: Tensor, drawn: Tensor, rate: float) -> float:
    """Return what "was it replaced?" costs the best discriminator at one position, in nats.

    Args:
        truth: the probability that each word is the true one, ``(n_ordinary,)``.
        drawn: the probability that the generator draws it, ``(n_ordinary,)``.
        rate: how likely the position is masked.
    """
    replaced = rate * (1 - truth) * drawn
    kept = (1 - rate) * truth + rate * truth * drawn
    joint = torch.stack([replaced, kept])
    return float(torch.special.entr(joint).sum() - torch.special.entr(joint.sum(0)).sum())


# What belongs into the gaps


def fillings(
    world: World, vocabulary: Vocabulary, inputs: Tensor, share: float
) -> dict[Line, float]:
    """Return P(target | input) of every target that is possible, likeliest first.

    ``take_out`` takes the spans out of a line in one of so many ways, all equally likely. Where the
    gaps stand among the words that are left is seen; how long each was is not, so every way to
    share out what is missing is tried on every sentence.

    Args:
        world: whose sentences are spoilt.
        vocabulary: the world's, with sentinels.
        inputs: what is read, shape ``(read,)``.
        share: how much of each sentence was taken out.
    """
    n_ordinary = vocabulary.n_ordinary
    gaps = (inputs >= n_ordinary).nonzero().flatten().tolist()
    kept, count = len(inputs) - len(gaps), len(gaps)
    left = inputs[inputs < n_ordinary]
    sizes_of = (world.input_ids < n_ordinary).sum(1)
    weights: dict[Line, float] = defaultdict(float)
    for length in sorted(set(sizes_of.tolist())):
        taken = number_taken(length, share)
        if length - taken != kept or number_of_spans(length, taken) != count:
            continue
        ways = math.comb(kept + 1, count) * math.comb(taken - 1, count - 1)
        rows = (sizes_of == length).nonzero().flatten()
        lines = world.input_ids[rows, 1 : length + 1]
        for cuts in combinations(range(1, taken), count - 1):
            spans = placed([gap - i for i, gap in enumerate(gaps)], lengths_between(cuts, taken))
            missing = torch.zeros(length, dtype=torch.bool)
            for start, end in spans:
                missing[start:end] = True
            fits = (lines[:, ~missing] == left).all(1)
            for line, p in zip(lines[fits], world.probabilities[rows[fits]].tolist(), strict=True):
                target = tuple(out_of(line, spans, vocabulary).target.tolist())
                weights[target] += p / ways
    total = math.fsum(weights.values())
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {target: weight / total for target, weight in ranked}
