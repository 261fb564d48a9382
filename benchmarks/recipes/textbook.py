"""The textbook's: post-norm, learned positions, Adam at a constant 1e-3, 15%, no dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from benchmarks.recipes import loop
from cloze.encoder import EncoderConfig

if TYPE_CHECKING:
    from benchmarks.speedrun import Race

SIZE = EncoderConfig()
MINUTES = {"1.3": 2.2, "minute": 0.99}


class Model(nn.Module):
    """``nn.TransformerEncoder`` as its tutorial builds it, without its dropout.

    Nothing so small memorises anything in a few minutes, so dropout would only halve the speed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SIZE.vocab_size, SIZE.d_model)
        self.position = nn.Embedding(SIZE.max_len, SIZE.d_model)
        layer = nn.TransformerEncoderLayer(
            SIZE.d_model, nhead=4, dim_feedforward=SIZE.d_ff, dropout=0.0, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, SIZE.n_layers)
        self.head = nn.Linear(SIZE.d_model, SIZE.vocab_size)

    def hidden(self, input_ids: Tensor) -> Tensor:
        """Return hidden states, shape ``(batch, length, d_model)``."""
        places = torch.arange(input_ids.shape[1])
        return self.layers(self.embedding(input_ids) + self.position(places))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        return self.head(self.hidden(input_ids)[selected])

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        return self.head(self.hidden(input_ids))


def train(race: Race) -> Any:
    """Train at a constant rate; to 0.9 nats it would take too long."""
    model = Model()
    optimizers = [(torch.optim.Adam(model.parameters()), 1e-3)]
    return loop.train(race, model, optimizers, MINUTES[race.track], warmup=None, mask_prob=0.15)
