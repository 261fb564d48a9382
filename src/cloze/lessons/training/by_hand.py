"""The gradient by hand: the encoder forwards and backwards in NumPy, for one line.

Every step of the forward pass has one of the backward pass, under its name with ``_back``: given
the gradient of the loss at what the step gave, it returns the gradient at what the step was given,
and adds up those of its parameters. ``web/engine/engine.c`` does the same, by the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloze.encoder import EncoderConfig, rotary_angles
from cloze.heads import MaskedLM

Array = NDArray[np.float64]
Parameters = Mapping[str, Array]
Gradients = dict[str, Array]


def parameters_of(model: MaskedLM) -> dict[str, Array]:
    """Return a model's parameters by their names in torch, as NumPy arrays."""
    return {name: p.detach().double().numpy() for name, p in model.named_parameters()}


def softmax(scores: Array) -> Array:
    """Turn the rows of ``(…, n)`` into probabilities."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    probabilities: Array = powers / powers.sum(axis=-1, keepdims=True)
    return probabilities


def linear(p: Parameters, name: str, x: Array) -> Array:
    """Return x Wᵀ + b: from ``(n, in)`` to ``(n, out)``."""
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def linear_back(p: Parameters, name: str, x: Array, d_y: Array, gradients: Gradients) -> Array:
    """Go back through ``linear``: from d_y ``(n, out)`` to d_x ``(n, in)``."""
    gradients[f"{name}.weight"] = d_y.T @ x  # (out, in)
    gradients[f"{name}.bias"] = d_y.sum(axis=0)  # (out,)
    return d_y @ p[f"{name}.weight"]


def norm(p: Parameters, name: str, x: Array) -> tuple[Array, Array, Array]:
    """Return a layer norm of ``(n, d)``, and what its way back needs: x normalised, deviations."""
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)  # (n, 1)
    hat = (x - x.mean(axis=-1, keepdims=True)) / deviation  # (n, d)
    return hat * p[f"{name}.weight"] + p[f"{name}.bias"], hat, deviation


def norm_back(
    p: Parameters, name: str, hat: Array, deviation: Array, d_y: Array, gradients: Gradients
) -> Array:
    """Go back through ``norm``: whatever would move a row's mean or its length does nothing."""
    gradients[f"{name}.weight"] = (d_y * hat).sum(axis=0)
    gradients[f"{name}.bias"] = d_y.sum(axis=0)
    d_hat = d_y * p[f"{name}.weight"]
    level = d_hat.mean(axis=-1, keepdims=True)
    along = (d_hat * hat).mean(axis=-1, keepdims=True)
    d_x: Array = (d_hat - level - hat * along) / deviation
    return d_x


def turn(x: Array, config: EncoderConfig, sign: int = 1) -> Array:
    """Rotate the pairs of heads ``(n_heads, n, d_head)`` by their positions; −1 turns them back."""
    angles = rotary_angles(x.shape[1], config.d_head, config.rotary_base).double().numpy()
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(sign * 1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


def split(x: Array, config: EncoderConfig) -> Array:
    """Split ``(n, d_model)`` into heads: ``(n_heads, n, d_head)``."""
    return x.reshape(len(x), config.n_heads, config.d_head).transpose(1, 0, 2)


def join(heads: Array) -> Array:
    """Put heads side by side again: ``(n, d_model)``."""
    return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)


def attend(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    """Return what every query gathers, and the weights ``(n_heads, n, n)``."""
    weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


def attend_back(
    q: Array, k: Array, v: Array, weights: Array, d_gathered: Array
) -> tuple[Array, Array, Array]:
    """Go back through ``attend``: to queries, keys and values, each ``(n_heads, n, d_head)``."""
    d_weights = d_gathered @ v.transpose(0, 2, 1)
    mean = (weights * d_weights).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_weights - mean) / np.sqrt(q.shape[-1])  # softmax, read backwards
    return (
        d_scores @ k,
        d_scores.transpose(0, 2, 1) @ q,
        weights.transpose(0, 2, 1) @ d_gathered,
    )


def forward(p: Parameters, config: EncoderConfig, ids: Sequence[int]) -> tuple[Array, list[Any]]:
    """Return the logits ``(n, |V|)`` of a line, and what each step leaves for its way back."""
    x, trace = p["encoder.embedding.weight"][list(ids)], list[Any]()
    for n in range(config.n_layers):
        name = f"encoder.layers.{n}"
        normed, hat, deviation = norm(p, f"{name}.attention_norm", x)
        q, k, v = (
            split(linear(p, f"{name}.attention.{part}", normed), config)
            for part in ("query", "key", "value")
        )
        q, k = turn(q, config), turn(k, config)
        gathered, weights = attend(q, k, v)
        x = x + linear(p, f"{name}.attention.output", join(gathered))
        normed_mid, hat_mid, deviation_mid = norm(p, f"{name}.feed_forward_norm", x)
        hidden = linear(p, f"{name}.feed_forward.0", normed_mid)
        squared = np.maximum(hidden, 0) ** 2
        x = x + linear(p, f"{name}.feed_forward.2", squared)
        attention = (normed, hat, deviation, q, k, v, weights, join(gathered))
        trace.append((attention, (normed_mid, hat_mid, deviation_mid, hidden, squared)))
    states, hat, deviation = norm(p, "encoder.norm", x)
    trace.append((states, hat, deviation))
    return linear(p, "head", states), trace


def backward(
    p: Parameters, config: EncoderConfig, ids: Sequence[int], trace: Sequence[Any], d_logits: Array
) -> Gradients:
    """Go back from the gradient at the logits ``(n, |V|)`` to that of every parameter, by name."""
    gradients: Gradients = {}
    states, hat, deviation = trace[-1]
    d_states = linear_back(p, "head", states, d_logits, gradients)
    d_x = norm_back(p, "encoder.norm", hat, deviation, d_states, gradients)
    for n in reversed(range(config.n_layers)):
        name = f"encoder.layers.{n}"
        attention, (normed_mid, hat_mid, deviation_mid, hidden, squared) = trace[n]
        normed, hat, deviation, q, k, v, weights, gathered = attention
        # Through the feed-forward network, and around it: a residual connection adds gradients.
        d_squared = linear_back(p, f"{name}.feed_forward.2", squared, d_x, gradients)
        d_hidden = d_squared * 2 * np.maximum(hidden, 0)
        d_normed = linear_back(p, f"{name}.feed_forward.0", normed_mid, d_hidden, gradients)
        d_x = d_x + norm_back(
            p, f"{name}.feed_forward_norm", hat_mid, deviation_mid, d_normed, gradients
        )
        # Through attention, and around it.
        d_gathered = linear_back(p, f"{name}.attention.output", gathered, d_x, gradients)
        d_q, d_k, d_v = attend_back(q, k, v, weights, split(d_gathered, config))
        d_heads = {"query": turn(d_q, config, -1), "key": turn(d_k, config, -1), "value": d_v}
        d_normed = np.zeros_like(normed)
        for part, d in d_heads.items():
            d_normed += linear_back(p, f"{name}.attention.{part}", normed, join(d), gradients)
        d_x = d_x + norm_back(p, f"{name}.attention_norm", hat, deviation, d_normed, gradients)
    rows = np.zeros_like(p["encoder.embedding.weight"])
    np.add.at(rows, list(ids), d_x)  # a symbol that stands in several places learns from each
    gradients["encoder.embedding.weight"] = rows
    return gradients
