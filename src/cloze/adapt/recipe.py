"""How a run trains, and in which order it reads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cloze.adapt.chunks import Chunk, Masks, Texts

BATCHES_AT_ONCE = 16
"""Among so many batches, chunks of equal length are put together."""


@dataclass(frozen=True)
class Recipe:
    """How to go on training.

    Attributes:
        epochs: How often your text is read.
        batch_size: How many chunks of all processes make a step.
        length: The most pieces of a chunk.
        mask_prob: The share of pieces that are asked for.
        learning_rate: Of AdamW, at its highest.
        warmup: The share of the steps during which it rises; after them it falls to 0.
        weight_decay: How fast weights shrink.
        mix: The share of chunks that come from general text.
        seed: Of the order and the masks.
        steps: How many steps are taken; 0 for as many as the epochs need.
    """

    epochs: float = 3.0
    batch_size: int = 32
    length: int = 512
    mask_prob: float = 0.3
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    mix: float = 0.0
    seed: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        for name, least, most in LIMITS:
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(
                    f"--{name.replace('_', '-')} is between {least:g} and {most:g}, not {value:g}."
                )


LIMITS = (
    ("epochs", 0.01, 10_000),
    ("batch_size", 1, 65_536),
    ("length", 16, 8_192),
    ("mask_prob", 0.01, 0.99),
    ("learning_rate", 1e-8, 1),
    ("warmup", 0, 1),
    ("weight_decay", 0, 10),
    ("mix", 0, 0.95),
    ("seed", 0, 2**31),
    ("steps", 0, 10**9),
)
"""The least and the most of what may be chosen."""


class Examples(torch.utils.data.Dataset[dict[str, Tensor]]):
    """All examples of a run in their order, masked: number k is the same whoever asks for it."""

    def __init__(self, texts: Texts, masks: Masks, recipe: Recipe) -> None:
        self.texts, self.masks, self.recipe = texts, masks, recipe
        n_own = len(texts.own)
        self.n_mixed = round(n_own * recipe.mix / (1 - recipe.mix)) if texts.general else 0
        self.per_epoch = n_own + self.n_mixed
        self._order: tuple[int, list[Chunk]] = (-1, [])

    def __len__(self) -> int:
        return self.steps * self.recipe.batch_size

    @property
    def steps(self) -> int:
        """How many steps the recipe takes."""
        n = math.ceil(self.recipe.epochs * self.per_epoch / self.recipe.batch_size)
        return self.recipe.steps or n

    @property
    def characters_per_step(self) -> float:
        """How many characters a step reads in the mean."""
        own, general = (
            sum(int(chunk.characters.sum()) for chunk in part) / max(1, len(part))
            for part in (self.texts.own, self.texts.general)
        )
        per_epoch = own * (self.per_epoch - self.n_mixed) + general * self.n_mixed
        return per_epoch / self.per_epoch * self.recipe.batch_size

    def __getitem__(self, k: int) -> dict[str, Tensor]:
        epoch, at = divmod(k, self.per_epoch)
        if self._order[0] != epoch:
            self._order = (epoch, self._ordered(epoch))
        return self.masks.draw(self._order[1][at], epoch)

    def _ordered(self, epoch: int) -> list[Chunk]:
        """Return the chunks of an epoch: shuffled, but with those of one length in one batch."""
        chance = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + epoch)

        def shuffled(items: list[Any]) -> list[Any]:
            return [items[i] for i in torch.randperm(len(items), generator=chance)]

        chunks = [*self.texts.own]
        while len(chunks) < self.per_epoch:
            chunks += shuffled(self.texts.general)[: self.per_epoch - len(chunks)]
        chunks, size = shuffled(chunks), self.recipe.batch_size
        at_once = size * BATCHES_AT_ONCE
        batches: list[list[Chunk]] = []
        for start in range(0, len(chunks), at_once):
            alike = sorted(chunks[start : start + at_once], key=lambda each: len(each.input_ids))
            batches += shuffled([alike[i : i + size] for i in range(0, len(alike), size)])
        return [chunk for batch in batches for chunk in batch]
