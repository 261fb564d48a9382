"""What a model writes into gaps, against the truth of a small world."""

from __future__ import annotations

import torch
from torch import Tensor

from cloze.lessons.corrupt_and_repair.corruptions import Corrupted, take_out
from cloze.lessons.corrupt_and_repair.exact import fillings
from cloze.lessons.corrupt_and_repair.infilling import log_probability
from cloze.lessons.corrupt_and_repair.objective_infilling import PrefixLM
from cloze.masking import seeded
from cloze.vocabulary import Vocabulary
from cloze.world import World

SHARE = 0.35
"""How much of a sentence is taken out: at 35% half of the sentences have two gaps."""


def spoilt_lines(world: World, vocabulary: Vocabulary, n: int) -> list[Corrupted]:
    """Draw sentences by their probabilities and take spans out of each."""
    chance = seeded(0)
    return [
        take_out(row[row < vocabulary.n_ordinary], SHARE, vocabulary, chance)
        for row in world.sample(n, generator=chance)
    ]


def shares(
    model: PrefixLM, world: World, inputs: Tensor
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return P(target | input) by the truth and by the model, of every target that is possible."""
    truth = fillings(world, model.vocabulary, inputs, SHARE)
    targets = [Corrupted(inputs, torch.tensor(target)) for target in truth]
    said = log_probability(model, targets).double().exp().tolist()
    return {target: (p, q) for (target, p), q in zip(truth.items(), said, strict=True)}
