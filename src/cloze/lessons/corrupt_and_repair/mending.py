"""A model that writes what was taken out, against the truth of a small world."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cloze.lessons.corrupt_and_repair.corruptions import Corrupted, restore, take_out
from cloze.lessons.corrupt_and_repair.exact import beside, entropy, fillings
from cloze.lessons.corrupt_and_repair.infilling import PrefixLM, fill, log_probability
from cloze.masking import seeded
from cloze.vocabulary import Vocabulary
from cloze.world import World

SHARE = 0.35
"""How much of a sentence is taken out: at 35% half of the sentences have two gaps."""


class Mended(NamedTuple):
    """How well gaps are filled, as means over spoilt lines."""

    floor: float
    """What the best writer pays for what was taken out, in nats per line."""
    excess: float
    """KL(truth ‖ model): what the model pays above it."""
    possible: float
    """The probability that the model writes something that can have stood there."""
    sentences: float
    """The share of lines that are sentences of the world once what was drawn is put back."""


def spoilt_lines(
    world: World, vocabulary: Vocabulary, n: int, *, share: float = SHARE, seed: int = 0
) -> list[Corrupted]:
    """Draw sentences by their probabilities and take spans out of each."""
    chance = seeded(seed)
    return [
        take_out(row[row < vocabulary.n_ordinary], share, vocabulary=vocabulary, generator=chance)
        for row in world.sample(n, generator=chance)
    ]


def shares(
    model: PrefixLM, world: World, inputs: Tensor
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return P(target | input) by the truth and by the model, of every target that is possible."""
    truth = fillings(world, model.vocabulary, inputs, SHARE)
    said = log_probability(model, beside(inputs, truth)).double().exp().tolist()
    return {target: (p, q) for (target, p), q in zip(truth.items(), said, strict=True)}


def against_truth(model: PrefixLM, world: World, n: int = 200, seed: int = 0) -> Mended:
    """Ask a model about spoilt lines, and let it write once for each by its own probabilities."""
    totals = torch.zeros(4, dtype=torch.float64)
    chance = seeded(seed)
    for inputs, _ in spoilt_lines(world, model.vocabulary, n, seed=seed):
        truth = fillings(world, model.vocabulary, inputs, SHARE)
        said = log_probability(model, beside(inputs, truth)).double()
        p = torch.tensor([*truth.values()], dtype=torch.float64)
        floor = entropy(truth)
        written = fill(model, inputs, temperature=1.0, generator=chance)
        totals += torch.tensor(
            [
                floor,
                max(0.0, float(-(p * said).sum()) - floor),
                float(said.exp().sum()),
                float(is_sentence(world, model.vocabulary, written)),
            ]
        )
    return Mended(*(totals / n).tolist())


def is_sentence(world: World, vocabulary: Vocabulary, filled: Corrupted) -> bool:
    """Tell whether a spoilt line with what was written put back is a sentence of the world."""
    try:
        whole = restore(*filled, vocabulary)
    except ValueError:  # a sentinel is missing, or comes twice
        return False
    return world.probability(vocabulary.decode(whole)) > 0
