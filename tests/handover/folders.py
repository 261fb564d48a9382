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
N_PIECES = 600
KINDS = ("bert", "roberta", "modernbert")


def tokenizer(kind: str, n_pieces: int = N_PIECES) -> Any:
    """Train a tokenizer such as a model of this kind has."""
    from tokenizers import AddedToken, BertWordPieceTokenizer, ByteLevelBPETokenizer
    from tokenizers.processors import BertProcessing
    from transformers import BertTokenizer, PreTrainedTokenizerFast, RobertaTokenizer

    texts = [piece.text for piece in Corpus.load().train][:40]
    learn = {"vocab_size": n_pieces, "show_progress": False}
    if kind == "bert":
        trained = BertWordPieceTokenizer()
        trained.train_from_iterator(texts, **learn)
        return BertTokenizer(vocab=trained.get_vocab(), model_max_length=40)
    roles = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "unk": "[UNK]"}
    if kind == "roberta":
        roles = {"bos": "<s>", "eos": "</s>", "pad": "<pad>", "unk": "<unk>"}
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, **learn, special_tokens=[*roles.values()])
    named = {f"{role}_token": sign for role, sign in roles.items()}
    if kind == "roberta":
        model = json.loads(trained.to_str())["model"]
        merges = [tuple(merge) for merge in model["merges"]]
        mask = AddedToken("<mask>", lstrip=True)
        return RobertaTokenizer(vocab=model["vocab"], merges=merges, mask_token=mask, **named)
    ends = [(sign, trained.token_to_id(sign)) for sign in ("[SEP]", "[CLS]")]
    trained.post_processor = BertProcessing(*ends)
    mask = AddedToken("[MASK]", lstrip=True)
    backend = trained._tokenizer
    return PreTrainedTokenizerFast(tokenizer_object=backend, mask_token=mask, **named)


def folder(kind: str, path: Path) -> Path:
    """Write a model that says all sorts of things, and its tokenizer."""
    import transformers

    reads = tokenizer(kind)
    name = {"bert": "Bert", "roberta": "Roberta", "modernbert": "ModernBert"}[kind]
    torch.manual_seed(1)
    roles = ("pad", "cls", "sep", "bos", "eos")
    ids = {f"{role}_token_id": getattr(reads, f"{role}_token_id") for role in roles}
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(reads) + 8, initializer_range=0.5, **SHAPE, **ids
    )
    with quiet():
        getattr(transformers, f"{name}ForMaskedLM")(config).save_pretrained(path)
        reads.save_pretrained(path)
    return path
