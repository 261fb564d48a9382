"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from torch import Tensor, nn

from cloze.encoder import Encoder, EncoderConfig
from cloze.vocabulary import VOCABULARY, Vocabulary


class MaskedLM(nn.Module):
    """An encoder with the head that predicts the symbol at every position.

    Args:
        config: the shape of the encoder.
        vocabulary: what its ids mean; nobody looks at a ``[PAD]`` of it.
    """

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.encoder = Encoder(config)
        self.config = self.encoder.config
        self.head = nn.Linear(self.config.d_model, self.config.vocab_size)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        if padding_mask is None:
            padding_mask = self._padding(input_ids)
        return self.head(self.encoder(input_ids, padding_mask))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``.

        Args:
            input_ids: shape ``(batch, length)``.
            selected: boolean, shape ``(batch, length)``.
        """
        return self.head(self.encoder(input_ids, self._padding(input_ids), selected))

    def _padding(self, input_ids: Tensor) -> Tensor | None:
        pad_id = self.vocabulary.pad_id
        return None if pad_id is None else input_ids == pad_id
