"""Lines that share a row: what a line sees of its neighbour, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.adapt.chunks import Chunk, Masks
from cloze.adapt.costs import losses_at
from cloze.masking import IGNORE


def short_lines(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks that fit into ModernBERT's window, so that each of its layers sees all."""
    return [chunk for chunk in chunks if len(chunk.input_ids) <= 32]


@torch.no_grad()
def costs_of_second(
    model: Any, masks: Masks, pairs: Sequence[tuple[Chunk, Chunk]], *, apart: bool
) -> Tensor:
    """Return what the questions about the second line of each row cost, in nats per piece.

    Args:
        model: a ModernBERT.
        masks: draws the questions.
        pairs: two lines for each row; nothing is asked about the first.
        apart: whether attention stays within a line.
    """
    model.eval()
    found = []
    for first, second in pairs:
        drawn = masks.draw(second, 0)
        ids = torch.cat([first.input_ids, drawn["input_ids"]])
        labels = torch.cat([torch.full_like(first.input_ids, IGNORE), drawn["labels"]])
        line = torch.tensor([0] * len(first.input_ids) + [1] * len(second.input_ids))
        seen = (line[:, None] == line[None, :]) if apart else torch.ones(2 * [len(line)]).bool()
        seen = seen[None, None]  # (batch, head, reader, read)
        attended = {"full_attention": seen, "sliding_attention": seen}
        row: dict[str, Any] = {
            "input_ids": ids[None],
            "labels": labels[None],
            "attention_mask": attended,
        }
        found.append(losses_at(model, row))
    return torch.cat(found)


def alone(model: Any, masks: Masks, lines: Sequence[Chunk]) -> Tensor:
    """Return what the same questions cost in rows of their own."""
    nothing = Chunk(torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long), -1)
    return costs_of_second(model, masks, [(nothing, line) for line in lines], apart=True)
