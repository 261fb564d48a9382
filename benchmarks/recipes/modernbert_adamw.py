"""ModernBERT of `transformers` with AdamW at 4e-3, and with our rotary base of 100; 30%."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import ModernBertConfig, ModernBertForMaskedLM

from benchmarks.recipes import loop
from cloze.encoder import EncoderConfig

if TYPE_CHECKING:
    from benchmarks.lane import Race

SIZE = EncoderConfig()


class Model(nn.Module):
    """``ModernBertForMaskedLM`` from a configuration of our size; nothing is downloaded.

    Its own rotary bases, 160,000 and 10,000, are made for texts of thousands of symbols.
    """

    def __init__(self) -> None:
        super().__init__()
        kinds = ("full_attention", "sliding_attention")
        rotary = {kind: {"rope_type": "default", "rope_theta": 100.0} for kind in kinds}
        self.model: Any = ModernBertForMaskedLM(
            ModernBertConfig(
                vocab_size=SIZE.vocab_size,
                hidden_size=SIZE.d_model,
                num_hidden_layers=SIZE.n_layers,
                num_attention_heads=4,
                intermediate_size=3 * SIZE.d_ff // 4,  # its feed-forward has three matrices
                max_position_embeddings=SIZE.max_len,
                rope_parameters=rotary,
                # No symbol is special to it; by default it would look for ids that we do not have.
                **dict.fromkeys(f"{name}_token_id" for name in ("pad", "bos", "eos", "cls", "sep")),
            )
        )

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        hidden = self.model.model(input_ids).last_hidden_state
        return self.model.decoder(self.model.head(hidden[selected]))

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        return self.model(input_ids).logits


def train(race: Race) -> None:
    """Train on a schedule made for 1.3 nats, or for a minute."""
    model = Model()
    optimizers = [(torch.optim.AdamW(model.parameters(), fused=True), 4e-3)]
    minutes = 0.995 if race.goal is None else 1.2
    loop.train(race, model, optimizers, minutes, warmup=0.06)
