"""Relatives rebuilt: the encoder of this series, with the parts exchanged in which they differ.

Each relative has a function that takes a model of ``transformers`` and returns our
:class:`~cloze.encoder.Encoder` with its weights. What is not exchanged is as in notebook 03.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from cloze.encoder import Attention, Encoder, EncoderConfig, Layer

CONFIG = EncoderConfig(vocab_size=50, max_len=24, d_model=32, n_heads=4, n_layers=3, d_ff=64)
"""The shape of the tiny models that are compared."""
NEAR = 4
"""How far the local layers of a tiny ModernBERT look to either side."""
TINY: Mapping[str, Any] = {
    "vocab_size": CONFIG.vocab_size,
    "max_position_embeddings": CONFIG.max_len,
    "hidden_size": CONFIG.d_model,
    "num_attention_heads": CONFIG.n_heads,
    "num_hidden_layers": CONFIG.n_layers,
    "intermediate_size": CONFIG.d_ff,
    **{f"{special}_token_id": 0 for special in ("pad", "bos", "eos", "cls", "sep", "mask")},
}
"""The same shape in the words of ``transformers``."""


# Parts in which they differ


class Embedding(nn.Module):
    """A vector for each symbol, perhaps another for each position, and a norm."""

    def __init__(self, words: Tensor, norm: nn.Module, added: Tensor | float = 0.0) -> None:
        super().__init__()
        self.words, self.norm, self.added = words, norm, added

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return the vectors of ids ``(batch, length)``: ``(batch, length, d_model)``."""
        return self.norm(self.words[input_ids] + self.added)


class PostNorm(Layer):
    """A layer as in BERT: each norm follows an addition; in ours it precedes the computation."""

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Refine ``x`` of shape ``(batch, length, d_model)``."""
        x = self.attention_norm(x + self.attention(x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


class Gated(nn.Module):
    """A gated feed-forward network: one matrix says how much of the other passes."""

    def __init__(self, gate: Tensor, up: Tensor, down: Tensor) -> None:
        super().__init__()
        self.gate, self.up, self.down = gate, up, down

    def forward(self, x: Tensor) -> Tensor:
        """Return a tensor of the shape of ``x``, ``(…, d_model)``."""
        return (nn.functional.gelu(x @ self.gate.T) * (x @ self.up.T)) @ self.down.T


class Local(Attention):
    """Attention to ``NEAR`` places on either side."""

    def gather(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Gather as :class:`~cloze.encoder.Attention` does, but from near by."""
        place = torch.arange(query.shape[2])
        near = (place[:, None] - place).abs() <= NEAR
        return super().gather(query, key, value, near if mask is None else near & mask)


# Weights that change places


def in_pairs(weight: Tensor) -> Tensor:
    """Reorder the rows of a projection of queries or keys, ``(d_model, …)``, from halves to pairs.

    A head turns pairs of numbers. Here a pair stands together, (x_0, x_1), (x_2, x_3) …; in
    ``transformers`` its second number stands half a head away. Only names of numbers differ.
    """
    halves = weight.view(CONFIG.n_heads, 2, -1, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


def filled(
    attention: Attention, weights: Sequence[Tensor], biases: Sequence[Tensor] | None = None
) -> Attention:
    """Give our attention the weights, and perhaps biases, of queries, keys, values and output."""
    parts = (attention.query, attention.key, attention.value, attention.output)
    for i, part in enumerate(parts):
        part.weight.copy_(weights[i])
        if biases is None:
            part.bias.zero_()
        else:
            part.bias.copy_(biases[i])
    return attention


def exchanged(whole: nn.Module, **parts: nn.Module) -> Any:
    """Put other parts into a module, by name."""
    for name, part in parts.items():
        whole.add_module(name, part)
    return whole


# The relatives


def bert(theirs: Any) -> Encoder:
    """Rebuild BERT, RoBERTa or ELECTRA."""
    layers = []
    for layer in theirs.encoder.layer:
        looks = layer.attention.self
        parts = [looks.query, looks.key, looks.value, layer.attention.output.dense]
        attention = Attention(CONFIG)
        attention.angles.zero_()  # queries and keys do not turn
        filled(attention, [part.weight for part in parts], [part.bias for part in parts])
        layers.append(
            exchanged(
                PostNorm(CONFIG),
                attention=attention,
                attention_norm=layer.attention.output.LayerNorm,
                feed_forward_norm=layer.output.LayerNorm,
                feed_forward=nn.Sequential(layer.intermediate.dense, nn.GELU(), layer.output.dense),
            )
        )
    given = theirs.embeddings
    first = 1 + given.padding_idx if hasattr(given, "padding_idx") else 0  # RoBERTa skips some
    positions = given.position_embeddings.weight[first : first + CONFIG.max_len]
    added = positions + given.token_type_embeddings.weight[0]
    embedding = Embedding(given.word_embeddings.weight, given.LayerNorm, added)
    made: Encoder = exchanged(
        Encoder(CONFIG), embedding=embedding, layers=nn.ModuleList(layers), norm=nn.Identity()
    )
    return made


def modernbert(theirs: Any) -> Encoder:
    """Rebuild ModernBERT or mmBERT: our layers, gated, two of three of them local."""
    layers = []
    for layer in theirs.layers:
        turns = theirs.config.rope_parameters[layer.attention_type]["rope_theta"]
        kind = Local if layer.attention_type == "sliding_attention" else Attention
        query, key, value = layer.attn.Wqkv.weight.chunk(3)
        weights = [in_pairs(query), in_pairs(key), value, layer.attn.Wo.weight]
        gate, up = layer.mlp.Wi.weight.chunk(2)
        layers.append(
            exchanged(
                Layer(CONFIG),
                attention=filled(kind(replace(CONFIG, rotary_base=turns)), weights),
                attention_norm=layer.attn_norm,
                feed_forward_norm=layer.mlp_norm,
                feed_forward=Gated(gate, up, layer.mlp.Wo.weight),
            )
        )
    given = theirs.embeddings
    embedding = Embedding(given.tok_embeddings.weight, given.norm)
    made: Encoder = exchanged(
        Encoder(CONFIG),
        embedding=embedding,
        layers=nn.ModuleList(layers),
        norm=theirs.final_norm,
    )
    return made


REBUILT: Mapping[str, tuple[Callable[[Any], Encoder], Mapping[str, Any]]] = {
    "BERT-base": (bert, {}),
    "RoBERTa-base": (bert, {"max_position_embeddings": CONFIG.max_len + 1}),
    "ELECTRA-base": (bert, {"embedding_size": CONFIG.d_model}),
    "ModernBERT-base": (modernbert, {"local_attention": 2 * NEAR}),
    "mmBERT-base": (modernbert, {"local_attention": 2 * NEAR}),
}
"""By name, how each is rebuilt, and what a tiny one is besides ``TINY``."""


def build(name: str, arguments: Mapping[str, Any]) -> Any:
    """Build a model of ``transformers`` from a configuration, with random weights."""
    import transformers

    model = getattr(transformers, name)
    return model(model.config_class(**arguments)).eval()


@torch.no_grad()
def apart(name: str, built: str, arguments: Mapping[str, Any]) -> float:
    """Let a tiny relative and ours, rebuilt with its weights, read the same two lines.

    Args:
        name: a key of ``REBUILT``.
        built: its class in ``transformers``.
        arguments: its configuration; the sizes are made tiny.

    Returns:
        By how much their last hidden states differ at most.
    """
    rebuild, more = REBUILT[name]
    torch.manual_seed(0)
    theirs = build(built, {**arguments, **TINY, **more})
    for parameter in theirs.parameters():  # or everybody would look everywhere alike
        parameter.add_(torch.randn_like(parameter), alpha=0.3)
    input_ids = torch.randint(1, CONFIG.vocab_size, (2, CONFIG.max_len))
    return float((rebuild(theirs)(input_ids) - theirs(input_ids).last_hidden_state).abs().max())
