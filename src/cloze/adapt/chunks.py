"""Chunks: what a model reads at once, and its masks."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.adapt.documents import Document, hold_out
from cloze.handover.pieces import frame_of
from cloze.masking import IGNORE
from cloze.vocabulary import TextError

UNKNOWN = 0.05
"""With a larger share of unknown pieces, a tokenizer does not know the script of a text."""


class Chunk(NamedTuple):
    """A stretch of one document, between the special tokens of its tokenizer."""

    input_ids: Tensor
    """Shape ``(length,)``."""
    characters: Tensor
    """How many characters each piece stands for, shape ``(length,)``; 0 for special tokens."""
    number: int
    """Its place among all chunks. Masks are drawn from this and the seed."""


def cut(documents: Iterable[Document], tokenizer: Any, length: int, first: int = 0) -> list[Chunk]:
    """Cut each document into chunks of about equal length.

    Args:
        documents: the texts.
        tokenizer: one of ``transformers`` that says where its pieces lie in a text.
        length: the most pieces of a chunk, ``[CLS]`` and ``[SEP]`` included.
        first: the number of the first chunk.
    """
    before, after = frame_of(tokenizer)
    none = [torch.zeros_like(before), torch.zeros_like(after)]
    chunks: list[Chunk] = []
    for document in documents:
        read = tokenizer(
            document.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        # A piece counts from where the one before it ends, so the space between is counted, too.
        ends = torch.tensor([0, *(end for _, end in read["offset_mapping"])]).cummax(0).values
        ids = torch.tensor(read["input_ids"], dtype=torch.long)
        n = max(1, math.ceil(len(ids) / (length - len(before) - len(after))))
        for part, size in zip(ids.tensor_split(n), ends.diff().tensor_split(n), strict=True):
            if len(part):
                framed = torch.cat([before, part, after]), torch.cat([none[0], size, none[1]])
                chunks.append(Chunk(*framed, first + len(chunks)))
    return chunks


def _readable(chunks: Sequence[Chunk], documents: Sequence[Document], tokenizer: Any) -> None:
    """Refuse a text in a script that the tokenizer does not know."""
    ids = torch.cat([chunk.input_ids for chunk in chunks])
    unknown = float((ids == tokenizer.unk_token_id).float().mean()) if tokenizer.unk_token else 0.0
    letters = sum(len(re.sub(r"\s", "", document.text)) for document in documents)
    if unknown > UNKNOWN or len(ids) > letters:
        raise TextError(
            "The tokenizer of this model does not know the script of your text; choose a model for "
            "its language."
        )


class Texts(NamedTuple):
    """Chunks to train on and to measure on."""

    own: list[Chunk]
    own_held_out: list[Chunk]
    general: list[Chunk]
    general_held_out: list[Chunk]
    sha256: str
    """A fingerprint of the texts and their split."""
    summary: str
    """How much there is, in words."""


def prepare(
    documents: Sequence[Document], general: Sequence[Document], tokenizer: Any, length: int
) -> Texts:
    """Hold documents out and cut all into chunks.

    Args:
        documents: your own.
        general: general text, to measure forgetting.
        tokenizer: of the model.
        length: the most pieces of a chunk.

    Raises:
        TextError: the tokenizer does not know the script of your text.
    """
    parts: list[list[Chunk]] = []
    digest = hashlib.sha256()
    split = [*hold_out(documents), *hold_out(general)]
    for part in split:
        parts.append(cut(part, tokenizer, length, sum(map(len, parts))))
        for document in part:
            digest.update(document.text.encode() + b"\0")
        digest.update(b"\1")
    _readable(parts[0] + parts[1], documents, tokenizer)
    own, held_out = (sum(len(each.text) for each in part) for part in split[:2])
    n_pieces = sum(len(chunk.input_ids) for chunk in parts[0] + parts[1])
    summary = (
        f"{len(documents)} documents, {own + held_out:,} characters, "
        f"{(own + held_out) / n_pieces:.1f} per piece; {len(split[1])} documents with {held_out:,} "
        "characters are held out"
    )
    return Texts(parts[0], parts[1], parts[2], parts[3], digest.hexdigest(), summary)


class Masks:
    """Masks as ``DataCollatorForLanguageModeling`` draws them, from a chunk and a seed alone.

    The collator's masks depend on what was drawn before, so two processes would draw other masks
    than one. Here each chunk has its own generator.

    Args:
        tokenizer: of the model.
        mask_prob: the share of pieces that are selected.
        seed: another seed, other masks.
    """

    def __init__(self, tokenizer: Any, mask_prob: float, seed: int) -> None:
        from transformers import DataCollatorForLanguageModeling, DataCollatorForTokenClassification

        self.collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=mask_prob)
        self.special = torch.tensor(tokenizer.all_special_ids)
        self.seed = seed
        self.pad = DataCollatorForTokenClassification(tokenizer)
        """Pads inputs and labels to one length, as for tagging."""

    def draw(self, chunk: Chunk, time: int) -> dict[str, Tensor]:
        """Return inputs and labels of a chunk the n-th time it is read, each ``(length,)``."""
        key = hashlib.sha256(f"{self.seed} {chunk.number} {time}".encode()).digest()
        self.collator.generator = torch.Generator().manual_seed(int.from_bytes(key[:8], "little"))
        special = torch.isin(chunk.input_ids, self.special)[None]
        inputs, labels = self.collator.torch_mask_tokens(chunk.input_ids[None].clone(), special)
        if not (labels != IGNORE).any():  # even in a short chunk one piece is selected
            at = int((~special[0]).nonzero()[0])
            labels[0, at] = chunk.input_ids[at]
            inputs[0, at] = self.collator.tokenizer.mask_token_id
        return {"input_ids": inputs[0], "labels": labels[0]}
