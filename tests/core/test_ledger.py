"""The ledger against models that `transformers` builds, at sizes drawn at random."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.ledger import parameter_ledger
from cloze.lessons.the_real_ones.family import FAMILY, counted, results
from cloze.lessons.the_real_ones.rebuilt import build

SHAPES: dict[str, dict[str, Any]] = {
    "BertModel": {
        "positions": 40,
        "segments": 2,
        "embedding_norm": True,
        "final_norm": False,
        "pooler": True,
    },
    "ModernBertModel": {
        "gated": True,
        "biases": False,
        "norm_biases": False,
        "embedding_norm": True,
        "first_norm": False,
    },
    "EuroBertModel": {"gated": True, "biases": False, "norm_biases": False},
}


@pytest.mark.parametrize("name", SHAPES)
@settings(deadline=None, max_examples=8)
@given(st.integers(10, 99), st.integers(1, 5), st.integers(1, 4), st.integers(1, 70))
def test_any_size_is_counted(name: str, vocab: int, width: int, layers: int, d_ff: int) -> None:
    special = {f"{token}_token_id": 0 for token in ("pad", "bos", "eos", "cls", "sep", "mask")}
    arguments: dict[str, Any] = {
        "vocab_size": vocab,
        "hidden_size": 8 * width,
        "num_attention_heads": 2,
        "num_hidden_layers": layers,
        "intermediate_size": d_ff,
        "max_position_embeddings": 40,
        **special,
    }
    with torch.device("meta"):
        model = build(name, arguments)
    ledger = parameter_ledger(vocab, 8 * width, layers, d_ff, head=False, **SHAPES[name])
    assert sum(ledger.values()) == sum(p.numel() for p in model.parameters())


def test_every_relative_is_counted_to_the_last_parameter() -> None:
    found = counted()
    assert found == results()["counted"]
    assert set(FAMILY) - set(found) == {"NeoBERT"}
    for name, count in found.items():
        assert FAMILY[name].n_parameters == count, name


def test_neobert_has_what_its_authors_say() -> None:
    with_head = sum(parameter_ledger(**FAMILY["NeoBERT"].parts).values())
    assert 240e6 < with_head < 255e6
