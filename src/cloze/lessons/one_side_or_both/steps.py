"""A causal model against the truth of a small world, step by step.

All sentences are known, so nothing here is sampled. Means over what the world says are weighted by
the world's probabilities, and means over what the model writes by the model's own.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional as F

from cloze.heads import CausalLM
from cloze.prediction.causal import log_probs
from cloze.vocabulary import PAD
from cloze.world import World


class StepErrors(NamedTuple):
    """How well the next symbol is predicted after a number of words."""

    words: int
    """The number of words so far."""
    taught: float
    """Mean KL(truth ‖ model) in nats after beginnings as the world says them, as in training."""
    written: float
    """The same after beginnings as the model writes them, if a sentence can begin like that."""
    possible: float
    """The probability that what the model has written so far is still possible."""


@torch.no_grad()
def steps(world: World, model: CausalLM) -> list[StepErrors]:
    """Compare a model with the truth after every possible beginning of a sentence, exactly."""
    ids, pad = world.input_ids, world.vocabulary.ids[PAD]
    # log P of every symbol at every place of every sentence: (sentences, length, |V|)
    said = torch.cat([log_probs(model, part).double() for part in torch.split(ids, 512)])
    given = ids == pad
    given[:, 0] = True  # [BEGIN]
    paid = said.gather(2, ids[..., None]).squeeze(2).masked_fill(given, 0.0)
    # log P of the first t symbols by the model, at [:, t]
    own = F.pad(paid.cumsum(1), (1, 0))
    found = []
    for t in range(1, world.max_len):
        goes_on = ids[:, t] != pad
        weights = world.probabilities[goes_on]
        beginnings, which = torch.unique(ids[goes_on, :t], dim=0, return_inverse=True)
        truth = torch.zeros(len(beginnings), len(world.vocabulary), dtype=torch.float64)
        truth.index_put_((which, ids[goes_on, t]), weights, accumulate=True)
        mass = truth.sum(1)
        truth /= mass[:, None]
        one = torch.zeros(len(beginnings), dtype=torch.int64)
        one[which] = torch.arange(len(which))  # any one sentence with each beginning
        model_says = said[goes_on][one, t, : len(world.vocabulary)]
        kl = torch.where(truth > 0, truth * (truth.log() - model_says), 0.0).sum(1)
        written = own[goes_on][one, t].exp()
        ended = own[~goes_on, -1].exp().sum()
        found.append(
            StepErrors(
                t - 1,
                float((mass * kl).sum() / mass.sum()),
                float((written * kl).sum() / written.sum()),
                float(written.sum() + ended),
            )
        )
    return found
