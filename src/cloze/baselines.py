"""What a loss is judged against: predictors that know only frequencies and neighbours."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated

import torch
from torch import Tensor

from cloze.arguments import Count, Ids, Lines, Whole, between, checked, known_symbols
from cloze.corpus import Corpus, windows
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, mask_tokens, seeded
from cloze.vocabulary import VOCABULARY


@lru_cache(maxsize=1)
def letter_frequencies(corpus: Corpus | None = None) -> Tensor:
    """Return P(character) in training pieces, by default the shipped: shape ``(n_ordinary,)``."""
    train_ids = (corpus or Corpus.load()).train_ids
    counts = torch.bincount(train_ids, minlength=VOCABULARY.n_ordinary)
    return counts / counts.sum()


MOST_NEIGHBOURS = 3
"""A table has 30 times as many rows for each neighbour more: 27 000 for three."""
MOST_IN_EPOCH = 2**20
"""How many characters an epoch counts: more than the training pieces of the series have."""


class NeighbourBaseline:
    """Counts of characters given the symbols at some offsets, and nothing else.

    ``offsets=()`` is the unigram, ``(-1,)`` the left bigram, ``(-1, 1)`` the both-neighbours
    trigram. A baseline reads the same corrupted input as the model, so a neighbour may be
    ``[MASK]`` or a random character; it learns what that is worth from masked training text.
    Beyond the ends of a window the neighbour is a symbol of its own.

    The counts are smoothed towards the baseline with one neighbour less (the unigram towards
    uniform) by ``strength`` imaginary observations.
    """

    @checked
    def __init__(
        self,
        offsets: tuple[int, ...],
        strength: Annotated[float, between(1e-9, 1e9)] = 2.0,
    ) -> None:
        if len(offsets) > MOST_NEIGHBOURS:
            raise ValueError(f"A table of more than {MOST_NEIGHBOURS} neighbours is too large.")
        self.offsets, self.strength = offsets, strength
        self._edge = len(VOCABULARY)
        self.table: Tensor | None = None

    @checked
    def fit(self, windows: Lines, epochs: Count = 10, seed: Whole = 0) -> NeighbourBaseline:
        """Count over masked training windows ``(n, length)``, with fresh masks each epoch.

        Of a text longer than ``MOST_IN_EPOCH`` characters each epoch counts another part.
        """
        generator = seeded(seed)
        contexts = [self.offsets[:used] for used in range(len(self.offsets) + 1)]
        sizes = [(len(VOCABULARY) + 1) ** len(offsets) * len(VOCABULARY) for offsets in contexts]
        counts = [torch.zeros(size, dtype=torch.float64) for size in sizes]
        parts = torch.split(windows, max(1, MOST_IN_EPOCH // windows.shape[1]))
        for epoch in range(epochs):  # one masked copy in memory, not all of them
            batch = mask_tokens(parts[epoch * len(parts) // epochs], generator=generator)
            labels = batch.labels[batch.selected]
            for offsets, count in zip(contexts, counts, strict=True):
                context = self._context(batch.inputs, offsets)[batch.selected]
                pair = context * len(VOCABULARY) + labels
                count += torch.bincount(pair, minlength=len(count)).double()
        table = torch.full((1, len(VOCABULARY)), 1 / len(VOCABULARY), dtype=torch.float64)
        for count in counts:
            count = count.view(-1, len(VOCABULARY))
            # The last neighbour is the lowest digit of a context, so each shorter context
            # covers a run of |V| + 1 longer ones.
            shorter = table.repeat_interleave(len(count) // len(table), dim=0)
            smoothed = count + self.strength * shorter
            table = smoothed / smoothed.sum(1, keepdim=True)
        self.table = table
        return self

    def _context(self, inputs: Tensor, offsets: tuple[int, ...]) -> Tensor:
        """Number each position's neighbourhood; shape ``(batch, length)``."""
        context = torch.zeros_like(inputs)
        length = inputs.shape[-1]
        for offset in offsets:
            neighbour = torch.full_like(inputs, self._edge)
            source = torch.arange(length) + offset
            inside = (source >= 0) & (source < length)
            neighbour[..., inside] = inputs[..., source[inside]]
            context = context * (len(VOCABULARY) + 1) + neighbour
        return context

    @checked
    def log_probs(self, inputs: Ids) -> Tensor:
        """Return log P(x_i | the neighbours of i), shape ``(batch, length, |V|)``."""
        if self.table is None:
            raise ValueError("Call fit(windows) first: this baseline has counted nothing yet.")
        known_symbols(inputs, len(VOCABULARY))
        return self.table.log()[self._context(inputs, self.offsets)].float()


BASELINES = {"unigram": (), "left bigram": (-1,), "both neighbours": (-1, 1)}
"""The fitted baselines by name, with the offsets that each looks at."""


def baseline_losses(corpus: Corpus, held_out: MaskedBatch) -> dict[str, float]:
    """Fit every baseline on the training pieces and score it on held-out masks.

    Returns:
        Mean loss in nats by name, from log|V|, that of knowing nothing, downwards.
    """
    train = windows(corpus.train_ids, held_out.inputs.shape[1])
    losses = {"uniform": math.log(len(VOCABULARY))}
    for name, offsets in BASELINES.items():
        log_probs = NeighbourBaseline(offsets).fit(train).log_probs(held_out.inputs)
        losses[name] = mlm_loss(log_probs, held_out.labels).item()
    return losses
