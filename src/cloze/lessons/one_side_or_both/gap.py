"""One gap in a sentence of a small world: four answers, and how far each is from the truth."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from cloze.heads import CausalLM, MaskedLM, log_probs_at
from cloze.masking import seeded
from cloze.prediction.causal import log_posterior
from cloze.vocabulary import PAD
from cloze.world import GAPS_ONLY, World


@torch.no_grad()
def four_answers(
    world: World, masked: MaskedLM, causal: CausalLM, line: Tensor, gap: int
) -> dict[str, Tensor]:
    """Return P(word in the gap) by four ways to answer, each of shape ``(n_ordinary,)``.

    Args:
        world: the world of the sentence.
        masked: a masked model of it.
        causal: a causal model of it.
        line: a sentence between ``[BEGIN]`` and ``[END]``, shape ``(length,)``; the word in the
            gap is not read.
        gap: its position.
    """
    hidden = line.clone()
    hidden[gap] = world.vocabulary.mask_id
    asked = (torch.arange(len(line)) == gap)[None]
    return {
        "left side": log_probs_at(causal, line[None], asked)[0].exp(),
        "masked": log_probs_at(masked, hidden[None], asked)[0].exp(),
        "causal, Bayes": log_posterior(causal, hidden, [gap]).exp(),
        "truth": world.truth(hidden[None], asked, corruption=GAPS_ONLY)[0].float(),
    }


def single_gaps(world: World, n: int) -> list[tuple[Tensor, int]]:
    """Draw sentences by their probabilities, without padding, and one word of each."""
    chance = seeded(0)
    found = []
    for row in world.sample(n, generator=chance):
        line = row[row != world.vocabulary.ids[PAD]]
        gap = int(torch.randint(1, len(line) - 1, (), generator=chance))
        found.append((line, gap))
    return found


def distances(answers: Mapping[str, Tensor]) -> dict[str, float]:
    """Return KL(truth ‖ answer) in nats for every answer except the truth itself."""
    truth = answers["truth"]
    return {
        way: float(torch.where(truth > 0, truth * (truth / said).log(), 0.0).sum().clamp(min=0))
        for way, said in answers.items()
        if way != "truth"
    }
