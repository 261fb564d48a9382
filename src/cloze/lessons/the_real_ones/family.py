"""The family: what shape each encoder has, and what ``transformers`` makes of the same shape.

``python -m cloze.lessons.the_real_ones.family`` builds each model that ``transformers`` contains
from its published configuration, without a download and without memory for its weights, counts its
parameters, runs some of them, tiny, beside the encoder of this series with the same weights, and
writes what it found to family.json. It needs ``transformers``; reading the file does not.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cloze.ledger import parameter_ledger
from cloze.lessons.the_real_ones import rebuilt
from cloze.teaching import measurements

RESULTS = Path(__file__).with_suffix(".json")


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


def counted() -> dict[str, int]:
    """Return how many parameters ``transformers`` gives to each relative that it has."""
    counts = {}
    for name, relative in FAMILY.items():
        if relative.built:
            with torch.device("meta"):  # shapes alone, and no memory
                model = rebuilt.build(*relative.built)
            counts[name] = sum(p.numel() for p in model.parameters())
    return counts


def apart() -> dict[str, float]:
    """Return by how much a tiny relative and ours, rebuilt with its weights, differ at most."""
    found = {}
    for name in rebuilt.REBUILT:
        built = FAMILY[name].built
        assert built is not None
        found[name] = rebuilt.apart(name, *built)
    return found


def results() -> dict[str, Any]:
    """Return what was found: "counted" and "apart" by name, and by which versions."""
    return measurements.read(RESULTS)


def main(path: Path = RESULTS) -> None:
    """Count and compare, and write what was found with what it takes to repeat it."""
    try:
        import transformers
    except ModuleNotFoundError:
        sys.exit(f"{__spec__.name} counts the models of transformers: `pip install transformers`.")

    made = measurements.made_by(__spec__.name, transformers=transformers.__version__)
    measurements.measure(path, made, "counted", [()], counted)
    measurements.measure(path, made, "apart", [()], apart)


if __name__ == "__main__":
    main()
