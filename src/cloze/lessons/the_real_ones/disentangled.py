"""Disentangled attention: what a symbol is and how far away it stands are asked separately."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def disentangled_scores(
    query: Tensor, key: Tensor, position_query: Tensor, position_key: Tensor
) -> dict[str, Tensor]:
    """Return the three parts of DeBERTa's scores of one head, each ``(length, length)``.

    The paper looks up the distance from j to i for its third part, its program that from i to j, as
    here; the tables are learned, so it is a matter of names.

    Args:
        query: of the symbols, shape ``(length, d_head)``.
        key: of the symbols, shape ``(length, d_head)``.
        position_query: of the distances −k … k − 1, shape ``(2k, d_head)``.
        position_key: of the same distances, shape ``(2k, d_head)``.

    Returns:
        By name, what the softmax sees the sum of: row i asks, column j answers.

    Source: He et al. 2021, DeBERTa, section 3.1.
    """
    length, k = len(query), len(position_key) // 2
    place = torch.arange(length)
    distance = (place[:, None] - place + k).clamp(0, 2 * k - 1)  # i − j, from 0 on
    parts = {
        "content → content": query @ key.T,
        "content → position": (query @ position_key.T).gather(1, distance),
        "position → content": (key @ position_query.T).gather(1, distance.T).T,
    }
    return {name: part / math.sqrt(3 * query.shape[1]) for name, part in parts.items()}
