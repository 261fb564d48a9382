"""Heads that look at neighbours from the start, squared ReLU, and our Muon with one rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.recipes import loop
from cloze.encoder import Layer, join
from cloze.heads import MaskedLM
from cloze.training import EVEN, _optimizers

if TYPE_CHECKING:
    from torch import Tensor

    from benchmarks.lane import Race

MINUTES = {1.3: 0.17, 0.9: 1.1, None: 0.995}
"""With the schedule for 1.3 nats, batches are smaller."""


class Model(MaskedLM):
    """The default's model before anything was looked up per symbol."""

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, where alone the last layer is finished."""
        x = self.encoder.embedding(input_ids)
        for layer in self.encoder.layers:
            assert isinstance(layer, Layer)
            attention, normed = layer.attention, layer.attention_norm(x)
            query, key, value = attention.to_heads(
                attention.query(normed), attention.key(normed), attention.value(normed)
            )
            gathered = join(attention.gather(*attention.rotated(query, key), value, None))
            if layer is self.encoder.layers[-1]:
                x, gathered = x[selected], gathered[selected]
            x = x + attention.output(gathered)
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        return self.head(self.encoder.norm(x))


def train(race: Race) -> None:
    """Train on a schedule made for the goal."""
    model = Model()
    lines = 24 if race.goal == 1.3 else 32
    loop.train(race, model, _optimizers(model, EVEN, head=True), MINUTES[race.goal], lines=lines)
