"""Lenses: what can be read from the parts of a run that :mod:`cloze.inside` recorded.

What the head would answer on the way (:func:`logit_lens`), what heads move (:func:`moved`), and
what each part adds to the answer (:func:`attribution`). Of the shipped models more was measured
once and is stored beside their checkpoints (:func:`measurements_of`): translators for each rung,
and the mean of what each part computes, to put in its place (:func:`off`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cloze.arguments import Logits, checked, positions, whole_number
from cloze.checkpoint import CHECKPOINTS, read
from cloze.inside import Change, Key, Named, Parts, anatomy, output_matrices

INSIDE = CHECKPOINTS / "inside"


@checked
@torch.no_grad()
def logit_lens(model: nn.Module, residual: Logits) -> Tensor:
    """Return the answer that the head would give if the residual stream ended here.

    The head was trained on the last states alone; on earlier ones it is a makeshift.

    Args:
        model: one that :func:`anatomy` knows.
        residual: shape ``(…, d_model)``.

    Returns:
        Logits, shape ``(…, |V|)``.

    Source: nostalgebraist 2020, interpreting GPT: the logit lens.
    """
    places = anatomy(model)
    _must_be_wide(residual, places.blocks[0].project.out_features)
    return places.head(residual if places.norm is None else places.norm(residual))


def _must_be_wide(residual: Tensor, width: int) -> None:
    if residual.shape[-1] != width:
        raise ValueError(f"A residual stream is {width} wide here, and not {residual.shape[-1]}.")


@checked
def moved(parts: Parts, model: nn.Module, layer: int, at: int) -> Tensor:
    """Return how much each head adds to position ``at`` from each position: weight times value.

    Returns:
        The lengths of α_{ij} · W_O v_j, shape ``(batch, n_heads, length)``.

    Source: Kobayashi et al. 2020, Attention is Not Only a Weight.
    """
    places, v, pattern = anatomy(model), parts["v", layer], parts["pattern", layer]
    [at] = positions([at], v.shape[1])
    matrices = output_matrices(places.blocks[layer], places.n_heads)
    values = torch.einsum("blhd,hdm->bhlm", v, matrices)
    return pattern[:, :, at] * values.norm(dim=-1)


Added = dict[str | tuple[str, int] | tuple[str, int, int], Tensor]
"""What each part adds to the logits, by name, layer and head."""


@checked
@torch.no_grad()
def attribution(model: nn.Module, parts: Parts, at: int) -> Added:
    """Split the logits at a position, exactly, into what each part adds (direct effects).

    The final norm is held at the scale that it has in this run: z = γ (x − mean(x)) / σ + β is
    linear in x once σ is known. What this leaves out is that each part also changes σ.

    Returns:
        By part the logits that it adds, shape ``(batch, |V|)``: ``"embed"``, ``("result", l, h)``,
        ``("bias", l)`` of the output projection, ``("mlp_out", l)``, and ``"rest"``: the biases of
        the final norm and the head. They are computed in float64 and sum to what the norm and the
        head make of the last state, to 5e-6. ``parts["logits"]`` itself is rounded to float32,
        which moves it by up to about 1e-5.

    Raises:
        ValueError: the model has no final norm or its head is no linear map, so nothing is summed.
    """
    places = anatomy(model)
    head = getattr(model, "head", None)
    if not isinstance(places.norm, nn.LayerNorm) or not isinstance(head, nn.Linear):
        raise ValueError("Only the logits of our own models are a sum of what their parts add.")
    layers = range(len(places.blocks))
    [at] = positions([at], parts["embed"].shape[1])
    added: Added = {"embed": parts["embed"][:, at]}
    for n in layers:
        for h in range(places.n_heads):
            added["result", n, h] = parts["result", n][:, at, h]
        bias = places.blocks[n].project.bias
        added["bias", n] = bias.expand_as(added["embed"])
        added["mlp_out", n] = parts["mlp_out", n][:, at]
    last = parts["resid_post", layers[-1]][:, at].double()  # (batch, d_model)
    sigma = (last.var(dim=-1, correction=0, keepdim=True) + places.norm.eps).sqrt()  # (batch, 1)
    weight = head.weight.double()  # (|V|, d_model)
    matrix = (weight * places.norm.weight.double()).T  # (d_model, |V|)
    exact = {part: x.double() for part, x in added.items()}
    split = {k: (x - x.mean(-1, keepdim=True)) / sigma @ matrix for k, x in exact.items()}
    split["rest"] = (weight @ places.norm.bias.double() + head.bias.double()).expand(len(last), -1)
    return split


@checked
def off(
    part: Literal["z", "attn_out", "mlp_out"],
    layer: int,
    means: Mapping[Key, Tensor] | None = None,
    *,
    head: int | None = None,
    at: Sequence[int] | Tensor | None = None,
) -> Change:
    """Return the change that switches a part off, a head or a feed-forward part.

    Args:
        part: ``"z"`` for heads, ``"mlp_out"`` for the feed-forward part.
        layer: from 0.
        means: what to put there, from :func:`measurements_of`; None for zero.
        head: as for :class:`Change`.
        at: as for :class:`Change`.
    """
    mean: Tensor | float = 0.0 if means is None else means[part, layer]
    to = mean
    if head is not None and isinstance(mean, Tensor):
        to = mean[whole_number(head, 0, len(mean) - 1, "A head of this model")]
    return Change(part, layer, to, at, head)


# Stored measurements


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured once about the inside of a model, which takes more than one line.

    Made by ``python -m measured.inside.lens``.
    """

    translators: Mapping[Key, tuple[Tensor, Tensor]]
    """For each rung below the last a matrix ``(d_model, d_model)`` and a bias ``(d_model,)``."""
    means: Mapping[Key, Tensor]
    """The mean over selected held-out positions of ``("z", l)``, ``(n_heads, d_head)``, and of
    ``("attn_out", l)`` and ``("mlp_out", l)``, ``(d_model,)``."""

    @checked
    def translate(self, rung: Key, residual: Logits) -> Tensor:
        """Turn a rung's residual stream ``(…, d_model)`` into what it will become: x + Ax + b.

        Source: Belrose et al. 2023, Eliciting Latent Predictions with the Tuned Lens.
        """
        if rung == ("resid_post", len(self.translators) // 2 - 1):
            return residual  # the last rung needs none
        matrix, bias = self.translators[rung]
        _must_be_wide(residual, len(bias))
        return residual + residual @ matrix.T + bias


@checked
def measurements_of(model: nn.Module) -> Measurements | None:
    """Return stored measurements for a shipped model, or None."""
    return _all_measurements().get(fingerprint(model))


def fingerprint(model: nn.Module) -> str:
    """Return a digest of a model's weights."""
    digest = hashlib.sha256()
    for _, tensor in sorted(model.state_dict().items()):
        digest.update(tensor.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


@lru_cache
def _all_measurements() -> dict[str, Measurements]:
    """Read all stored measurements, by the fingerprint of the model."""
    by_model = {}
    for path in sorted(INSIDE.glob("*.safetensors")):
        tensors, metadata = read(path, "inside")
        translators: dict[Key, Any] = Named()
        means = Named()
        for name, tensor in tensors.items():
            what, part, *rest = name.split(".")
            key: Key = (part, int(rest[0])) if rest[:1] and rest[0].isdigit() else part
            if what == "mean":
                means[key] = tensor.float()
            elif name.endswith("weight"):
                bias = tensors[name.removesuffix("weight") + "bias"]
                translators[key] = (tensor.float(), bias.float())
        by_model[metadata["model"]] = Measurements(translators, means)
    return by_model
