"""What a loss is judged against: predictors that know only frequencies and neighbours."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, mask_tokens
from cloze.vocabulary import VOCABULARY


def uniform_loss(vocab_size: int = len(VOCABULARY)) -> float:
    """Return log|V|: the price in nats of knowing nothing."""
    return math.log(vocab_size)


@lru_cache(maxsize=1)
def letter_frequencies(corpus: Corpus | None = None) -> Tensor:
    """Return P(character) in training pieces, by default the shipped: shape ``(n_characters,)``."""
    train_ids = (corpus or Corpus.load()).train_ids
    counts = torch.bincount(train_ids, minlength=VOCABULARY.n_characters)
    return counts / counts.sum()


class NeighbourBaseline:
    """Counts of characters given the symbols at some offsets, and nothing else.

    ``offsets=()`` is the unigram, ``(-1,)`` the left bigram, ``(-1, 1)`` the both-neighbours
    trigram. A baseline reads the same corrupted input as the model, so a neighbour may be
    ``[MASK]`` or a random character; it learns what that is worth from masked training text.
    Beyond the ends of a window the neighbour is a symbol of its own.

    The counts are smoothed towards the baseline with one neighbour less (the unigram towards
    uniform) by ``strength`` imaginary observations.
    """

    def __init__(self, offsets: tuple[int, ...], strength: float = 2.0) -> None:
        self.offsets = offsets
        self.strength = strength
        self._edge = len(VOCABULARY)
        self.table: Tensor | None = None

    def fit(self, windows: Tensor, epochs: int = 10, seed: int = 0) -> NeighbourBaseline:
        """Count over masked training windows ``(n, length)``, with fresh masks each epoch."""
        generator = torch.Generator().manual_seed(seed)
        contexts = [self.offsets[:used] for used in range(len(self.offsets) + 1)]
        sizes = [(len(VOCABULARY) + 1) ** len(offsets) * len(VOCABULARY) for offsets in contexts]
        counts = [torch.zeros(size, dtype=torch.float64) for size in sizes]
        for _ in range(epochs):  # one masked copy of the text in memory, not all of them
            batch = mask_tokens(windows, generator=generator)
            labels = batch.labels[batch.selected]
            for offsets, count in zip(contexts, counts, strict=True):
                context = self._context(batch.inputs, offsets)[batch.selected]
                pair = context * len(VOCABULARY) + labels
                count += torch.bincount(pair, minlength=len(count)).double()
        self.table = torch.full((1, len(VOCABULARY)), 1 / len(VOCABULARY), dtype=torch.float64)
        for count in counts:
            count = count.view(-1, len(VOCABULARY))
            # The last neighbour is the lowest digit of a context, so each shorter context
            # covers a run of |V| + 1 longer ones.
            shorter = self.table.repeat_interleave(len(count) // len(self.table), dim=0)
            smoothed = count + self.strength * shorter
            self.table = smoothed / smoothed.sum(1, keepdim=True)
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

    def log_probs(self, inputs: Tensor) -> Tensor:
        """Return log P(x_i | the neighbours of i), shape ``(batch, length, |V|)``."""
        if self.table is None:
            raise RuntimeError("Call fit(windows) first: this baseline has counted nothing yet.")
        return self.table.log()[self._context(inputs, self.offsets)].float()


BASELINES = {"unigram": (), "left bigram": (-1,), "both neighbours": (-1, 1)}
"""The fitted baselines by name, with the offsets that each looks at."""


def baseline_losses(corpus: Corpus, held_out: MaskedBatch) -> dict[str, float]:
    """Fit every baseline on the training pieces and score it on held-out masks.

    Returns:
        Mean loss in nats by name, from the price of knowing nothing downwards.
    """
    length = held_out.inputs.shape[1]
    train = corpus.train_ids[: len(corpus.train_ids) // length * length].view(-1, length)
    losses = {"uniform": uniform_loss()}
    for name, offsets in BASELINES.items():
        log_probs = NeighbourBaseline(offsets).fit(train).log_probs(held_out.inputs)
        losses[name] = mlm_loss(log_probs, held_out.labels).item()
    return losses
