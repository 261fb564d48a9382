"""The ledger: every parameter of a Transformer encoder, counted from its published shape."""

from __future__ import annotations

from cloze.arguments import Count, Whole, checked


@checked
def parameter_ledger(
    vocab_size: Count,
    d_model: Count,
    n_layers: Count,
    d_ff: Count,
    *,
    d_embedding: Count | None = None,
    positions: Whole = 0,
    segments: Whole = 0,
    embedding_norm: bool = False,
    relative_positions: Whole = 0,
    relative_norm: bool = False,
    position_projections: bool = False,
    key_bias: bool = True,
    gated: bool = False,
    biases: bool = True,
    norm_biases: bool = True,
    first_norm: bool = True,
    shared: bool = False,
    final_norm: bool = True,
    pooler: bool = False,
    head: bool = True,
) -> dict[str, int]:
    """Count the parameters of a Transformer encoder, line by line.

    The defaults are this series' choices (rotary positions, pre-norm, a linear head). BERT has
    learned positions and segments, a norm after the embedding, none at the end, and a pooler:
    ``parameter_ledger(30522, 768, 12, 3072, positions=512, segments=2, embedding_norm=True,
    final_norm=False, pooler=True, head=False)`` sums to 109 482 240.

    Args:
        vocab_size: |V|.
        d_model: the width of the hidden states.
        n_layers: how many layers.
        d_ff: the width between the two matrices of a feed-forward network.
        d_embedding: the width of the embeddings, if a projection widens them (ALBERT).
        positions: rows of the table of learned positions.
        segments: rows of the table of segments.
        embedding_norm: a norm after the embedding.
        relative_positions: rows of a table of relative positions (DeBERTa).
        relative_norm: a norm for that table.
        position_projections: matrices of each layer for that table alone, one for keys without
            biases, one for queries with (DeBERTa of 2020; later it shares those of the symbols).
        key_bias: False where of queries, keys and values only the keys have none.
        gated: two matrices up, one of which says how much of the other passes (GLU).
        biases: of all linear maps in the layers.
        norm_biases: a norm has shifts as well as scales.
        first_norm: False where the first layer has no norm before its attention, because the
            embedding has just been normalised (ModernBERT).
        shared: all layers are the same one (ALBERT).
        final_norm: a norm at the end.
        pooler: a linear map for the first position.
        head: a linear map from d_model to |V| with biases.

    Returns:
        The number of parameters by part, in the order in which data flow.
    """
    wide = d_model if d_embedding is None else d_embedding

    def linear(inputs: int, outputs: int, bias: bool = biases) -> int:
        return inputs * outputs + outputs * bias

    def norm(width: int) -> int:
        return width * (1 + norm_biases)

    ledger = {
        "symbol embedding": vocab_size * wide,
        "position embedding": positions * wide,
        "segment embedding": segments * wide,
        "embedding norm": norm(wide) * embedding_norm,
        "embedding projection": 0 if d_embedding is None else linear(wide, d_model),
        "relative positions": relative_positions * d_model,
        "relative positions: norm": norm(d_model) * relative_norm,
    }
    for n in range(1, 2 if shared else n_layers + 1):
        layer = f"layers 1 to {n_layers}, all one" if shared else f"layer {n}"
        norms = 2 - (n == 1 and not first_norm)
        ledger |= {
            f"{layer}: attention, queries keys values": (
                3 * linear(d_model, d_model) - d_model * (biases and not key_bias)
            ),
            f"{layer}: attention, positions": (
                (linear(d_model, d_model, False) + linear(d_model, d_model)) * position_projections
            ),
            f"{layer}: attention, output": linear(d_model, d_model),
            f"{layer}: feed-forward, up": linear(d_model, d_ff) * (1 + gated),
            f"{layer}: feed-forward, down": linear(d_ff, d_model),
            f"{layer}: {'two norms' if norms == 2 else 'one norm'}": norms * norm(d_model),
        }
    ledger |= {
        "final norm": norm(d_model) * final_norm,
        "pooler": linear(d_model, d_model, True) * pooler,
        "head": linear(d_model, vocab_size, True) * head,
    }
    return {part: count for part, count in ledger.items() if count}
