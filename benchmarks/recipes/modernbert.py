"""ModernBERT of `transformers`, `torch.optim.Muon` at 0.02 for its matrices, AdamW at 4e-3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from transformers import ModernBertConfig, ModernBertForMaskedLM

from benchmarks.recipes import loop
from cloze.encoder import EncoderConfig

if TYPE_CHECKING:
    from benchmarks.speedrun import Race

SIZE = EncoderConfig()
MINUTES = {"1.3": 0.6, "0.9": 2.6, "minute": 0.99}


class Model(nn.Module):
    """``ModernBertForMaskedLM`` from a configuration of our size; nothing is downloaded.

    Its own rotary bases, 160,000 and 10,000, are made for texts of thousands of symbols, so it gets
    ours, 100.
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


def train(race: Race) -> Any:
    """Train on a schedule made for the goal."""
    model = Model()
    named = dict(model.named_parameters())
    matrices = [name for name, p in named.items() if p.dim() == 2 and "embedding" not in name]
    optimizers = [
        (torch.optim.Muon([named.pop(name) for name in matrices]), 0.02),
        (torch.optim.AdamW(named.values(), fused=True), 4e-3),
    ]
    return loop.train(race, model, optimizers, MINUTES[race.track], warmup=0.06)
