"""Small fill-mask models of ``transformers`` in folders, made here from the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from cloze.corpus import Corpus
from cloze.handover.packages import quiet

SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
}


def tokenizer(kind: str, n_pieces: int = 600) -> Any:
    """Train a tokenizer such as BERT or RoBERTa has."""
    from tokenizers import AddedToken, BertWordPieceTokenizer, ByteLevelBPETokenizer
    from transformers import BertTokenizer, RobertaTokenizer

    texts = [piece.text for piece in Corpus.load().train][:40]
    learn = {"vocab_size": n_pieces, "show_progress": False}
    if kind == "bert":
        trained = BertWordPieceTokenizer()
        trained.train_from_iterator(texts, **learn)
        return BertTokenizer(vocab=trained.get_vocab(), model_max_length=40)
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, **learn, special_tokens=["<s>", "</s>", "<pad>", "<unk>"])
    model = json.loads(trained.to_str())["model"]
    merges = [tuple(merge) for merge in model["merges"]]
    mask = AddedToken("<mask>", lstrip=True)
    return RobertaTokenizer(vocab=model["vocab"], merges=merges, mask_token=mask)


def folder(kind: str, path: Path) -> Path:
    """Write a model that says all sorts of things, and its tokenizer."""
    from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM

    reads = tokenizer(kind)
    torch.manual_seed(1)
    configure, model = (
        (BertConfig, BertForMaskedLM) if kind == "bert" else (RobertaConfig, RobertaForMaskedLM)
    )
    config = configure(
        vocab_size=len(reads) + 8,
        pad_token_id=reads.pad_token_id,
        initializer_range=0.5,
        **SHAPE,
    )
    with quiet():
        model(config).save_pretrained(path)
        reads.save_pretrained(path)
    return path
