"""How a run trains, and in which order it reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor

from cloze.adapt.chunks import Chunk, Masks, Texts
from cloze.arguments import between, checked

BATCHES_AT_ONCE = 16
"""Among this many batches, chunks of similar length are put together."""


@checked
@dataclass(frozen=True)
class AdaptRecipe:
    """How to train a model further."""

    epochs: Annotated[float, between(0.01, 10_000)] = 3.0
    """How often your text is read."""
    batch_size: Annotated[int, between(1, 65_536)] = 32
    """How many chunks of all processes make a step."""
    length: Annotated[int, between(16, 8_192)] = 512
    """The most pieces of a chunk."""
    mask_prob: Annotated[float, between(0.01, 0.99)] = 0.3
    learning_rate: Annotated[float, between(1e-8, 1)] = 1e-4
    """The peak step size of AdamW."""
    warmup: Annotated[float, between(0, 1)] = 0.1
    """The share of the steps during which it rises; after them it falls to 0."""
    weight_decay: Annotated[float, between(0, 10)] = 0.01
    mix: Annotated[float, between(0, 0.95)] = 0.0
    """The share of chunks that come from general text."""
    seed: Annotated[int, between(0, 2**31)] = 0
    """Of the order and the masks."""
    steps: Annotated[int, between(0, 10**9)] = 0
    """How many steps are taken; 0 for as many as the epochs need."""


class Examples(torch.utils.data.Dataset[dict[str, Tensor]]):
    """All examples of a run in their order, masked; example k is deterministic."""

    def __init__(self, texts: Texts, masks: Masks, recipe: AdaptRecipe) -> None:
        self.texts, self.masks = texts, masks
        self.per_epoch = len(texts.own)
        if texts.general:
            self.per_epoch += round(len(texts.own) * recipe.mix / (1 - recipe.mix))
        recipe = replace(recipe, batch_size=min(recipe.batch_size, self.per_epoch))
        self.recipe = recipe
        self.steps = recipe.steps or math.ceil(recipe.epochs * self.per_epoch / recipe.batch_size)
        self._order = (0, self._ordered(0))
        characters = sum(int(chunk.characters.sum()) for chunk in self._order[1])
        self.characters_per_step = characters / self.per_epoch * recipe.batch_size
        """How many characters a step reads on average."""

    def __len__(self) -> int:
        return self.steps * self.recipe.batch_size

    def __getitem__(self, k: int) -> dict[str, Tensor]:
        epoch, at = divmod(k, self.per_epoch)
        if self._order[0] != epoch:
            self._order = (epoch, self._ordered(epoch))
        return self.masks.draw(self._order[1][at], epoch)

    def _ordered(self, epoch: int) -> list[Chunk]:
        """Return the chunks of an epoch: shuffled, but with similar lengths in one batch."""
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
            by_length = sorted(
                chunks[start : start + at_once], key=lambda each: len(each.input_ids)
            )
            batches += shuffled([by_length[i : i + size] for i in range(0, len(by_length), size)])
        return [chunk for batch in batches for chunk in batch]
