"""Fast: the numbers of ``encoder.py`` to rounding, computed in fewer steps.

In training a symbol stands at many places, and only the selected positions are asked about. A
causal model reads on in a line whose beginning it has read before. To know what an encoder is, read
``encoder.py``; nothing is added here.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cloze.encoder import Encoder, Layer, join

Past = tuple[tuple[Tensor, Tensor], ...]
"""The KV cache of a text that was read from the left: by layer, the keys and the values, each
``(batch, n_heads, length, d_head)``."""


def states_at(
    encoder: Encoder,
    input_ids: Tensor,
    selected: Tensor,
    padding_mask: Tensor | None = None,
    prefix: Tensor | None = None,
) -> Tensor:
    """Return ``encoder(input_ids, padding_mask, prefix)[selected]``.

    The first layer's norm and projections make the same of a symbol wherever it stands, so that is
    done once per symbol and looked up: 12% of a training step. The last layer needs every position
    as a key and a value, and finishes the selected ones alone.

    Args:
        encoder: any.
        input_ids: shape ``(batch, length)``.
        selected: boolean, of the same shape.
        padding_mask: as for :meth:`Encoder.forward`.
        prefix: as for :meth:`Encoder.forward`.

    Returns:
        Shape ``(|M|, d_model)``.
    """
    layers = [*encoder.layers]
    parts_are_ours = type(encoder.embedding) is nn.Embedding and all(
        type(layer) is Layer for layer in layers
    )
    if not parts_are_ours:  # others, such as a learner's own layer, may compute something else
        return encoder(input_ids, padding_mask, prefix)[selected]
    mask = encoder.make_mask(input_ids, padding_mask, prefix)
    x = encoder.embedding(input_ids)  # (batch, length, d_model)
    for layer in layers:
        assert isinstance(layer, Layer)
        attention = layer.attention
        projections = (attention.query, attention.key, attention.value)
        if layer is layers[0] and input_ids.numel() > encoder.config.vocab_size:
            table = layer.attention_norm(encoder.embedding.weight)  # (|V|, d_model)
            query, key, value = (F.embedding(input_ids, made(table)) for made in projections)
        else:
            normed = layer.attention_norm(x)
            query, key, value = (made(normed) for made in projections)
        query, key, value = attention.to_heads(query, key, value)
        query, key = attention.rotated(query, key)  # (batch, n_heads, length, d_head)
        gathered = join(attention.gather(query, key, value, mask))  # (batch, length, d_model)
        if layer is layers[-1]:
            x, gathered = x[selected], gathered[selected]  # (|M|, d_model)
        x = x + attention.output(gathered)
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return encoder.norm(x)


def read_on(encoder: Encoder, input_ids: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
    """Read on from where another call stopped; only with direction "left".

    What is left of a position never changes when the text goes on, so keys and values are computed
    once and stored (a KV cache).

    Args:
        encoder: one that looks to the left.
        input_ids: what follows, shape ``(batch, length)``.
        past: what the earlier call returned, for a batch of the same size; None to begin.

    Returns:
        Hidden states of shape ``(batch, length, d_model)``, and what the next call needs.

    Raises:
        ValueError: the line gets too long.
    """
    read = past[0][0].shape[2] if past else 0
    length = encoder.length_of(input_ids, read)
    mask = torch.ones(length - read, length, dtype=torch.bool).tril(read)  # (new, read and new)
    x = encoder.embedding(input_ids)  # (batch, new, d_model)
    past_and_new = []
    for n, layer in enumerate(encoder.layers):
        assert isinstance(layer, Layer)
        attention, normed = layer.attention, layer.attention_norm(x)
        query, key, value = attention.to_heads(
            attention.query(normed), attention.key(normed), attention.value(normed)
        )
        query, key = attention.rotated(query, key, read)
        if past:
            key, value = (torch.cat(both, 2) for both in zip(past[n], (key, value), strict=True))
            # (batch, n_heads, read and new, d_head)
        past_and_new.append((key, value))
        x = x + attention.output(join(attention.gather(query, key, value, mask)))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return encoder.norm(x), tuple(past_and_new)
