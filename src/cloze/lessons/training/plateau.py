"""How a training gets stuck on a plateau: learned positions, trained as the textbook does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import torch
from torch import Tensor, nn

from cloze.baselines import NeighbourBaseline
from cloze.corpus import Corpus, windows
from cloze.encoder import Attention, EncoderConfig
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, seeded
from cloze.objectives import MASKED
from cloze.training import Recipe


def by_adam(model: MaskedLM, corpus: Corpus, seed: int) -> Iterator[int]:
    """Train as the textbook does: Adam at 1e-3, 15% selected, the same windows as the recipe.

    Yields:
        The number of steps done, until nobody asks for more.
    """
    chance, recipe = seeded(seed), Recipe()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in count(1):
        windows = corpus.sample(recipe.batch_size, recipe.length, chance)
        loss = MASKED.loss(model, MASKED.ask(windows, 0.15, chance, model.vocabulary))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield step


class Placed(nn.Embedding):
    """An embedding of symbols that adds a learned vector for every position."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config.vocab_size, config.d_model)
        self.places = nn.Embedding(config.max_len, config.d_model)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return vectors ``(batch, length, d_model)`` of ids ``(batch, length)``."""
        return super().forward(input_ids) + self.places.weight[: input_ids.shape[-1]]


def placed() -> MaskedLM:
    """Make a model with ordinary heads and learned positions in place of rotary ones."""
    model = MaskedLM(EncoderConfig(neighbour_focus=0.0))
    model.encoder.embedding = Placed(model.config)
    for part in model.encoder.modules():
        if isinstance(part, Attention):
            part.angles.zero_()  # queries and keys are no longer rotated
    return model


def own_position(corpus: Corpus, held_out: MaskedBatch) -> float:
    """Return the loss in nats of a reader of its own position alone: where a stuck model sits."""
    reader = NeighbourBaseline((0,)).fit(windows(corpus.train_ids, held_out.inputs.shape[1]))
    return mlm_loss(reader.log_probs(held_out.inputs), held_out.labels).item()
