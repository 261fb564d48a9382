"""Relatives rebuilt: the encoder of this series, with the parts exchanged in which they differ.

Each relative has a function that takes a model of ``transformers`` and returns our
:class:`~cloze.encoder.Encoder` with its weights. What is not exchanged is as in notebook 03, such
as the way in which heads look and come together again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from cloze.encoder import Attention, Encoder, EncoderConfig, Layer
from cloze.lessons.the_real_ones.disentangled import disentangled_scores

CONFIG = EncoderConfig(
    vocab_size=50, max_len=24, d_model=32, n_heads=4, n_layers=3, d_ff=64, rotary_base=10_000.0
)
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
TURNING = {"rope_type": "default", "rope_theta": CONFIG.rotary_base}


# Parts in which they differ


class Embedding(nn.Module):
    """A vector for each symbol, and whatever else is added or done before the first layer."""

    def __init__(self, words: Tensor, added: Tensor | float = 0.0, *then: nn.Module) -> None:
        super().__init__()
        self.words, self.added, self.then = words, added, nn.Sequential(*then)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return the vectors of ids ``(batch, length)``: ``(batch, length, d_model)``."""
        return self.then(self.words[input_ids] + self.added)


class PostNorm(Layer):
    """A layer as in BERT: the norms stand behind what is added, in ours before what is computed."""

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Refine ``x`` of shape ``(batch, length, d_model)``."""
        x = self.attention_norm(x + self.attention(x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


class Gated(nn.Module):
    """A gated feed-forward network: one matrix says how much of the other passes."""

    def __init__(self, squash: nn.Module, gate: Tensor, up: Tensor, down: Tensor) -> None:
        super().__init__()
        self.squash, self.gate, self.up, self.down = squash, gate, up, down

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape."""
        return (self.squash(x @ self.gate.T) * (x @ self.up.T)) @ self.down.T


class Local(Attention):
    """Attention to ``NEAR`` places on either side."""

    def gather(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Gather as :class:`~cloze.encoder.Attention` does, but from near by."""
        place = torch.arange(query.shape[2])
        near = (place[:, None] - place).abs() <= NEAR
        return super().gather(query, key, value, near if mask is None else near & mask)


class Disentangled(Attention):
    """DeBERTa's attention: symbols and distances ask separately, and nothing turns.

    Args:
        position_query: of each head and distance, shape ``(n_heads, 2k, d_head)``.
        position_key: the same.
    """

    def __init__(self, config: EncoderConfig, position_query: Tensor, position_key: Tensor) -> None:
        super().__init__(config)
        self.position_query, self.position_key = position_query, position_key

    def gather(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,  # noqa: ARG002
    ) -> Tensor:
        """Gather from everywhere."""
        tables = [*zip(self.position_query, self.position_key, strict=True)]
        scores = [
            [
                torch.stack([*disentangled_scores(q, k, *table).values()]).sum(0)
                for q, k, table in zip(*heads, tables, strict=True)
            ]
            for heads in zip(query, key, strict=True)
        ]
        return torch.stack([torch.stack(heads) for heads in scores]).softmax(-1) @ value


# Weights that change places


def in_pairs(weight: Tensor, n_heads: int) -> Tensor:
    """Reorder the rows of a projection from halves to pairs.

    A head turns pairs of numbers. Here a pair stands together, (x_0, x_1), (x_2, x_3) …; in
    ``transformers`` its second number stands half a head away. Only names of numbers differ.

    Args:
        weight: of queries or keys, ``(d_model, …)``.
        n_heads: how many heads share it.
    """
    halves = weight.view(n_heads, 2, -1, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


def filled(
    attention: Attention, weights: Sequence[Tensor], biases: Sequence[Tensor | None]
) -> Attention:
    """Give weights and biases to our attention.

    Args:
        attention: ours; where there is no bias it gets zeros.
        weights: of queries, keys, values and output, each ``(d_model, d_model)``.
        biases: of the same, each ``(d_model,)``.
    """
    parts = (attention.query, attention.key, attention.value, attention.output)
    for part, weight, bias in zip(parts, weights, biases, strict=True):
        part.weight.copy_(weight)
        part.bias.copy_(torch.zeros(len(weight)) if bias is None else bias)
    return attention


def turning(attention: Attention, weights: Sequence[Tensor]) -> Attention:
    """Give weights to our attention where theirs, too, turns queries and keys; without biases."""
    query, key, *others = weights
    pairs = [in_pairs(weight, attention.config.n_heads) for weight in (query, key)]
    return filled(attention, [*pairs, *others], [None] * 4)


def still(
    attention: Attention, weights: Sequence[Tensor], biases: Sequence[Tensor | None]
) -> Attention:
    """Give weights and biases to our attention and keep its queries and keys from turning."""
    attention.angles.zero_()
    return filled(attention, weights, biases)


def norm(theirs: Any, kind: type[nn.LayerNorm | nn.RMSNorm] = nn.LayerNorm) -> nn.Module:
    """Return torch's own norm with the weights of one of theirs."""
    state, names = theirs.state_dict(), vars(theirs)
    eps = names["eps"] if "eps" in names else names["variance_epsilon"]
    made = kind(state["weight"].shape, eps=eps)
    made.load_state_dict(state, strict=False)  # where it has no bias, ours is zero from the start
    return made


def exchanged(whole: nn.Module, **parts: nn.Module) -> Any:
    """Put other parts into a module, by name."""
    for name, part in parts.items():
        whole.add_module(name, part)
    return whole


def _states(*parts: nn.Linear) -> tuple[list[Tensor], list[Tensor | None]]:
    return [part.weight for part in parts], [part.bias for part in parts]


def _encoder(embedding: nn.Module, layers: Sequence[nn.Module], last: nn.Module) -> Encoder:
    made: Encoder = exchanged(
        Encoder(CONFIG), embedding=embedding, layers=nn.ModuleList(layers), norm=last
    )
    return made


def _placed(embeddings: Any, *then: nn.Module) -> Embedding:
    """Return vectors to which those of positions and of the first segment are added."""
    first = 1 + embeddings.padding_idx if hasattr(embeddings, "padding_idx") else 0
    positions = embeddings.position_embeddings.weight[first : first + CONFIG.max_len]
    added = positions + embeddings.token_type_embeddings.weight[0]
    return Embedding(embeddings.word_embeddings.weight, added, norm(embeddings.LayerNorm), *then)


# The relatives


def _berts(
    layers: Sequence[Any], attention: Callable[[Any, nn.Linear], Attention]
) -> list[nn.Module]:
    """Rebuild layers that are BERT's but perhaps for how they look at each other."""
    return [
        exchanged(
            PostNorm(CONFIG),
            attention_norm=norm(layer.attention.output.LayerNorm),
            attention=attention(layer.attention.self, layer.attention.output.dense),
            feed_forward_norm=norm(layer.output.LayerNorm),
            feed_forward=nn.Sequential(layer.intermediate.dense, nn.GELU(), layer.output.dense),
        )
        for layer in layers
    ]


def bert(theirs: Any) -> Encoder:
    """Rebuild BERT, RoBERTa or ELECTRA."""

    def attention(looks: Any, output: nn.Linear) -> Attention:
        return still(Attention(CONFIG), *_states(looks.query, looks.key, looks.value, output))

    layers = _berts(theirs.encoder.layer, attention)
    return _encoder(_placed(theirs.embeddings), layers, nn.Identity())


def albert(theirs: Any) -> Encoder:
    """Rebuild ALBERT: one layer, as often as there are layers, and narrow embeddings widened."""
    [layer] = theirs.encoder.albert_layer_groups[0].albert_layers
    looks = layer.attention
    once = exchanged(
        PostNorm(CONFIG),
        attention_norm=norm(looks.LayerNorm),
        attention=still(
            Attention(CONFIG), *_states(looks.query, looks.key, looks.value, looks.dense)
        ),
        feed_forward_norm=norm(layer.full_layer_layer_norm),
        feed_forward=nn.Sequential(layer.ffn, nn.GELU("tanh"), layer.ffn_output),
    )
    placed = _placed(theirs.embeddings, theirs.encoder.embedding_hidden_mapping_in)
    return _encoder(placed, [once] * CONFIG.n_layers, nn.Identity())


def deberta(theirs: Any) -> Encoder:
    """Rebuild DeBERTa or DeBERTaV3: BERT with disentangled attention and no positions added.

    Of DeBERTaV3 that holds for lines of up to 128 tokens; it puts greater distances together.
    """
    table = theirs.encoder.get_rel_embedding()

    def attention(looks: Any, output: nn.Linear) -> Attention:
        if hasattr(looks, "in_proj"):  # queries, keys and values of a head stand together
            rows = looks.in_proj.weight.view(CONFIG.n_heads, 3, CONFIG.d_head, -1)
            three = [part.flatten(0, 1) for part in rows.unbind(1)]
            weights, biases = [*three, output.weight], [looks.q_bias, None, looks.v_bias]
            biases, asks, answers = [*biases, output.bias], looks.pos_q_proj, looks.pos_proj
        else:
            asks, answers = looks.query_proj, looks.key_proj
            weights, biases = _states(asks, answers, looks.value_proj, output)
        by_head = [
            project(table).unflatten(-1, (CONFIG.n_heads, -1)).transpose(0, 1)
            for project in (asks, answers)
        ]
        return still(Disentangled(CONFIG, *by_head), weights, biases)

    words, first = theirs.embeddings.word_embeddings.weight, norm(theirs.embeddings.LayerNorm)
    layers = _berts(theirs.encoder.layer, attention)
    return _encoder(Embedding(words, 0.0, first), layers, nn.Identity())


def modernbert(theirs: Any) -> Encoder:
    """Rebuild ModernBERT or mmBERT: our layers, gated, two of three of them local."""
    layers = []
    for layer in theirs.layers:
        turns = theirs.config.rope_parameters[layer.attention_type]["rope_theta"]
        looks = Local if layer.attention_type == "sliding_attention" else Attention
        attention = looks(replace(CONFIG, rotary_base=turns))
        gate, up = layer.mlp.Wi.weight.chunk(2)
        matrices = [*layer.attn.Wqkv.weight.chunk(3), layer.attn.Wo.weight]
        is_first = isinstance(layer.attn_norm, nn.Identity)  # the embedding has just been normed
        layers.append(
            exchanged(
                Layer(CONFIG),
                attention_norm=nn.Identity() if is_first else norm(layer.attn_norm),
                attention=turning(attention, matrices),
                feed_forward_norm=norm(layer.mlp_norm),
                feed_forward=Gated(nn.GELU(), gate, up, layer.mlp.Wo.weight),
            )
        )
    words, first = theirs.embeddings.tok_embeddings.weight, norm(theirs.embeddings.norm)
    return _encoder(Embedding(words, 0.0, first), layers, norm(theirs.final_norm))


def eurobert(theirs: Any) -> Encoder:
    """Rebuild EuroBERT: our layers, gated, with norms that do not take the mean off."""
    layers = []
    for layer in theirs.layers:
        looks, mlp = layer.self_attn, layer.mlp
        matrices, _ = _states(looks.q_proj, looks.k_proj, looks.v_proj, looks.o_proj)
        squeezed, _ = _states(mlp.gate_proj, mlp.up_proj, mlp.down_proj)
        layers.append(
            exchanged(
                Layer(CONFIG),
                attention_norm=norm(layer.input_layernorm, nn.RMSNorm),
                attention=turning(Attention(CONFIG), matrices),
                feed_forward_norm=norm(layer.post_attention_layernorm, nn.RMSNorm),
                feed_forward=Gated(nn.SiLU(), *squeezed),
            )
        )
    return _encoder(Embedding(theirs.embed_tokens.weight), layers, norm(theirs.norm, nn.RMSNorm))


REBUILT: Mapping[str, tuple[Callable[[Any], Encoder], Mapping[str, Any]]] = {
    "BERT-base": (bert, {}),
    "RoBERTa-base": (bert, {"max_position_embeddings": CONFIG.max_len + 1}),
    "ALBERT-base": (albert, {"embedding_size": 16}),
    "ELECTRA-base": (bert, {"embedding_size": CONFIG.d_model}),
    "DeBERTa-base": (deberta, {}),
    "DeBERTaV3-base": (deberta, {}),
    "ModernBERT-base": (modernbert, {"local_attention": 2 * NEAR}),
    "EuroBERT-210m": (eurobert, {"rope_parameters": TURNING}),
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
