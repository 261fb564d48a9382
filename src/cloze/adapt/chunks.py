"""Chunks: what a model reads at once, and its masks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from unicodedata import category

import torch
from torch import Tensor

from cloze.adapt.documents import Document, hold_out
from cloze.handover.pieces import frame_of
from cloze.masking import IGNORE
from cloze.vocabulary import TextError, counted

LEAST_READ = 0.95
"""If its pieces cover a smaller share of the letters, a tokenizer does not know a text's script."""


class Chunk(NamedTuple):
    """A stretch of one document, between the special tokens of its tokenizer."""

    input_ids: Tensor
    """Shape ``(length,)``."""
    characters: Tensor
    """How many characters each piece stands for, with the spaces before it, shape ``(length,)``.
    Letters that the tokenizer drops, or replaces by a special token, are not among them."""
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
    specials = torch.tensor(tokenizer.all_special_ids)
    chunks: list[Chunk] = []
    for document in documents:
        read = tokenizer(
            document.text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        ids = torch.tensor(read["input_ids"], dtype=torch.long)
        starts, ends = torch.tensor(read["offset_mapping"], dtype=torch.long).view(-1, 2).T
        # A piece counts from where the one before it ends, so the space between is counted, too,
        # but not the letters that no ordinary piece covers.
        ends = torch.cat([torch.zeros(1, dtype=torch.long), ends]).cummax(0).values
        begin = torch.where(torch.isin(ids, specials), ends[1:], starts.clamp(min=ends[:-1]))
        letters = torch.tensor([0, *(not sign.isspace() for sign in document.text)]).cumsum(0)
        sizes = ends.diff() - (letters[begin] - letters[ends[:-1]])
        n = max(1, math.ceil(len(ids) / (length - len(before) - len(after))))
        for part, size in zip(ids.tensor_split(n), sizes.tensor_split(n), strict=True):
            if len(part):
                framed = torch.cat([before, part, after]), torch.cat([none[0], size, none[1]])
                chunks.append(Chunk(*framed, first + len(chunks)))
    return chunks


def _share_read(own: list[Chunk], held_out: list[Chunk], documents: Sequence[Document]) -> float:
    """Return which share of the letters of a text its pieces cover.

    Raises:
        TextError: so few, or in so many pieces, that the tokenizer does not know the script, or
            nothing is left of one part.
    """
    chunks = own + held_out
    text = "".join(document.text.rstrip() for document in documents)
    marks = sum(category(sign)[0] in "MC" and not sign.isspace() for sign in text)
    letters = len("".join(text.split())) - marks  # an accent or an invisible sign is no letter
    missed = len(text) - marks - sum(int(chunk.characters.sum()) for chunk in chunks)
    share = max(0.0, 1 - max(0, missed) / max(1, letters))
    pieces = sum(len(chunk.input_ids) for chunk in chunks)
    if share < LEAST_READ or pieces > letters or not own or not held_out:
        raise TextError(
            "The tokenizer of this model does not know the script of your text, or of what is held "
            f"out: its {pieces:,} pieces cover {share:.0%} of {letters:,} letters; choose a model "
            "for its language."
        )
    return share


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
        TextError: the tokenizer does not know the script of your text, or nothing of it can be
            asked.
    """
    parts: list[list[Chunk]] = []
    specials = torch.tensor(tokenizer.all_special_ids)
    left_out = 0
    digest = hashlib.sha256()
    split = [*hold_out(documents), *hold_out(general)]
    for part in split:
        chunks = cut(part, tokenizer, length, left_out + sum(map(len, parts)))
        # In a chunk without an ordinary piece, nothing can be asked.
        parts.append([c for c in chunks if not torch.isin(c.input_ids, specials).all()])
        left_out += len(chunks) - len(parts[-1])
        for document in part:
            digest.update(document.text.encode() + b"\0")
        digest.update(b"\1")
    share = _share_read(parts[0], parts[1], documents)
    own, held_out = (sum(len(each.text) for each in part) for part in split[:2])
    n_pieces = sum(len(chunk.input_ids) for chunk in parts[0] + parts[1])
    summary = (
        f"{len(documents)} documents, {own + held_out:,} characters, "
        f"{(own + held_out) / n_pieces:.1f} per piece; {len(split[1])} documents with {held_out:,} "
        "characters are held out"
    )
    if share < 1:
        summary += f"; the pieces cover {share:.2%} of the letters"
    if left_out:
        summary += f"; {counted(left_out, 'chunk')} without an ordinary piece left out"
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
        if not (labels != IGNORE).any():  # even in a short chunk one ordinary piece is selected
            at = (~special[0]).nonzero()[:1, 0]
            labels[0, at] = chunk.input_ids[at]
            inputs[0, at] = self.collator.tokenizer.mask_token_id
        return {"input_ids": inputs[0], "labels": labels[0]}
