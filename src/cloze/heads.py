"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from torch import Tensor, nn

from cloze.encoder import Encoder, EncoderConfig


class MaskedLM(nn.Module):
    """An encoder with the head that predicts the symbol at every position."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.config = self.encoder.config
        self.head = nn.Linear(self.config.d_model, self.config.vocab_size)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        return self.head(self.encoder(input_ids, padding_mask))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``.

        Args:
            input_ids: shape ``(batch, length)``.
            selected: boolean, shape ``(batch, length)``.
        """
        return self.head(self.encoder(input_ids, selected=selected))
