"""The family: the shape of each encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cloze.ledger import parameter_ledger


@dataclass(frozen=True)
class Relative:
    """An encoder of the family."""

    parts: Mapping[str, Any]
    """Its shape, as :func:`~cloze.ledger.parameter_ledger` wants it."""
    built: tuple[str, Mapping[str, Any]] | None
    """The model in ``transformers`` and its published configuration, as far as it differs from the
    default of that class; None where ``transformers`` has no such model."""

    @property
    def ledger(self) -> dict[str, int]:
        """The parameters by part, without a head."""
        return parameter_ledger(**{"head": False, **self.parts})

    @property
    def n_parameters(self) -> int:
        """All parameters, without a head."""
        return sum(self.ledger.values())

    @property
    def in_layers(self) -> int:
        """The parameters of the layers alone."""
        return sum(count for part, count in self.ledger.items() if part.startswith("layer"))


def _sizes(vocab_size: int, d_model: int, n_layers: int, d_ff: int) -> dict[str, int]:
    return {"vocab_size": vocab_size, "d_model": d_model, "n_layers": n_layers, "d_ff": d_ff}


_POST_NORM = {"embedding_norm": True, "final_norm": False}
"""The norm follows each addition, so the last layer needs none after it."""
_BERTS = {**_POST_NORM, "positions": 512, "segments": 2}
_GATED = {"gated": True, "biases": False, "norm_biases": False}
_MODERN = {**_GATED, "embedding_norm": True, "first_norm": False}
_BASE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
_RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}

FAMILY = {
    "BERT-base": Relative(
        {**_sizes(30522, 768, 12, 3072), **_BERTS, "pooler": True}, ("BertModel", {})
    ),
    "RoBERTa-base": Relative(  # two of its positions are never used
        {**_sizes(50265, 768, 12, 3072), **_BERTS, "positions": 514, "segments": 1, "pooler": True},
        ("RobertaModel", {"max_position_embeddings": 514, "type_vocab_size": 1}),
    ),
    "ALBERT-base": Relative(
        {
            **_sizes(30000, 768, 12, 3072),
            **_BERTS,
            "d_embedding": 128,
            "shared": True,
            "pooler": True,
        },
        ("AlbertModel", _BASE),
    ),
    "ELECTRA-base": Relative(
        {**_sizes(30522, 768, 12, 3072), **_BERTS},
        ("ElectraModel", {**_BASE, "embedding_size": 768}),
    ),
    "DeBERTa-base": Relative(
        {
            **_sizes(50265, 768, 12, 3072),
            **_POST_NORM,
            "relative_positions": 1024,
            "position_projections": True,
            "key_bias": False,
        },
        ("DebertaModel", _RELATIVE),
    ),
    "DeBERTaV3-base": Relative(
        {
            **_sizes(128100, 768, 12, 3072),
            **_POST_NORM,
            "relative_positions": 512,
            "relative_norm": True,
        },
        (
            "DebertaV2Model",
            {
                **_BASE,
                **_RELATIVE,
                "position_buckets": 256,
                "share_att_key": True,
                "norm_rel_ebd": "layer_norm",
            },
        ),
    ),
    "ModernBERT-base": Relative(
        {**_sizes(50368, 768, 22, 1152), **_MODERN}, ("ModernBertModel", {})
    ),
    "NeoBERT": Relative({**_sizes(30522, 768, 28, 2048), **_GATED}, None),
    "EuroBERT-210m": Relative({**_sizes(128256, 768, 12, 3072), **_GATED}, ("EuroBertModel", {})),
    "mmBERT-base": Relative(
        {**_sizes(256000, 768, 22, 1152), **_MODERN}, ("ModernBertModel", {"vocab_size": 256000})
    ),
}
"""From the oldest to the youngest."""
