"""What people would use instead, at our size: the textbook's encoder, BERT and ModernBERT.

The first two have the dropout that their libraries give them unless told otherwise, 0.1. It can be
switched off: in trainings as short as these nothing is memorised, and whoever knows that is twice
as fast. All turn hidden states into logits at the selected positions only, which is not usual and
helps.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cloze.encoder import EncoderConfig
from cloze.vocabulary import VOCABULARY

SIZE = EncoderConfig()


class Peer(nn.Module):
    """A model that answers at selected positions, and so at all."""

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        raise NotImplementedError

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        everywhere = torch.ones_like(input_ids, dtype=torch.bool)
        return self.logits_at(input_ids, everywhere).view(*input_ids.shape, -1)


class Textbook(Peer):
    """``nn.TransformerEncoder`` as its tutorial builds it: post-norm, learned positions."""

    vocabulary = VOCABULARY

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SIZE.vocab_size, SIZE.d_model)
        self.position = nn.Embedding(SIZE.max_len, SIZE.d_model)
        layer = nn.TransformerEncoderLayer(
            SIZE.d_model, nhead=4, dim_feedforward=SIZE.d_ff, dropout=dropout, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, SIZE.n_layers)
        self.head = nn.Linear(SIZE.d_model, SIZE.vocab_size)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        places = torch.arange(input_ids.shape[1])
        x = self.layers(self.embedding(input_ids) + self.position(places))
        return self.head(x[selected])


class Bert(Peer):
    """``transformers.BertForMaskedLM`` from a configuration of our size; nothing is downloaded.

    Raises:
        ImportError: transformers is not installed.
    """

    vocabulary = VOCABULARY

    def __init__(self, dropout: float = 0.1) -> None:
        from transformers import BertConfig, BertForMaskedLM

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
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=dropout,
                pad_token_id=None,  # there is no padding; by default it would be a symbol of ours
            )
        )

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        return self.model.cls(self.model.bert(input_ids).last_hidden_state[selected])


class ModernBert(Peer):
    """``transformers.ModernBertForMaskedLM`` from a configuration of our size, not downloaded.

    Args:
        rotary_base: of all its layers; by default what its library gives them, 160 000 and 10 000,
            which is made for texts of thousands of symbols.

    Raises:
        ImportError: transformers is not installed.
    """

    vocabulary = VOCABULARY

    def __init__(self, rotary_base: float | None = None) -> None:
        from transformers import ModernBertConfig, ModernBertForMaskedLM

        super().__init__()
        base = {} if rotary_base is None else {"rope_theta": rotary_base}
        kinds = ("full_attention", "sliding_attention")
        self.model: Any = ModernBertForMaskedLM(
            ModernBertConfig(
                vocab_size=SIZE.vocab_size,
                hidden_size=SIZE.d_model,
                num_hidden_layers=SIZE.n_layers,
                num_attention_heads=4,
                intermediate_size=3 * SIZE.d_ff // 4,  # its feed-forward has three matrices
                max_position_embeddings=SIZE.max_len,
                rope_parameters={kind: {"rope_type": "default", **base} for kind in kinds},
                # No symbol is special to it; by default it would look for ids that we do not have.
                **dict.fromkeys(f"{name}_token_id" for name in ("pad", "bos", "eos", "cls", "sep")),
            )
        )

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions, shape ``(|M|, |V|)``."""
        hidden = self.model.model(input_ids).last_hidden_state
        return self.model.decoder(self.model.head(hidden[selected]))
