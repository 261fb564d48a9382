"""BERT as `transformers` builds it: AdamW at 2e-3, 15%, no dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM

from benchmarks.recipes import loop
from cloze.encoder import EncoderConfig

if TYPE_CHECKING:
    from benchmarks.lane import Race

SIZE = EncoderConfig()


class Model(nn.Module):
    """``BertForMaskedLM`` from a configuration of our size; nothing is downloaded.

    Without its dropout, which would only halve the speed of so short a training.
    """

    def __init__(self) -> None:
        super().__init__()
        self.model: Any = BertForMaskedLM(
            BertConfig(
                vocab_size=SIZE.vocab_size,
                hidden_size=SIZE.d_model,
                num_hidden_layers=SIZE.n_layers,
                num_attention_heads=4,
                intermediate_size=SIZE.d_ff,
                max_position_embeddings=SIZE.max_len,
                type_vocab_size=1,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
                pad_token_id=None,  # there is no padding; by default it would be a symbol of ours
            )
        )

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        return self.model.cls(self.model.bert(input_ids).last_hidden_state[selected])

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        return self.model(input_ids).logits


def train(race: Race) -> None:
    """Train on a schedule of almost five minutes, which it leaves at 1.3 nats."""
    model = Model()
    optimizers = [(torch.optim.AdamW(model.parameters(), fused=True), 2e-3)]
    loop.train(
        race,
        model,
        optimizers,
        0.995 if race.goal is None else 4.6,
        warmup=0.06,
        mask_prob=0.15,
        moments=[1.0] if race.goal is None else [0.5 + 0.05 * k for k in range(10)],
    )
