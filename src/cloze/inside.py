"""The inside of a model: what each part computes, and what the model answers without it.

:func:`run` keeps what the parts of a model compute, and :class:`Change` with :func:`changed` puts
something else there. Both are forward hooks, so the model is run as it is, and all that computes
through its modules can be changed (``logits_at`` takes a short cut around them). What a run says is
read in :mod:`cloze.lenses`.

Parts are called as in TransformerLens (``cache["resid_post", 0]`` there is the same tensor):

=================  ===================================================================
``embed``          what enters the first layer
``pattern``, l     attention weights of layer l, ``(batch, n_heads, length, length)``
``v``, l           the values of its heads, ``(batch, length, n_heads, d_head)``
``z``, l           what each head has gathered, ``(batch, length, n_heads, d_head)``
``result``, l      the same after the output projection, without its bias: what each head
                   adds, ``(batch, length, n_heads, d_model)``
``attn_out``, l    their sum and the bias
``mlp_out``, l     what the feed-forward part computes
``resid_mid``, l   the residual stream after attention
``resid_post``, l  and after the feed-forward part
``normalized``     the final states, which the head reads
``logits``         the answer
=================  ===================================================================

Everything without a shape is ``(batch, length, d_model)``. A pre-norm model (ours, ModernBERT) adds
each part to the residual stream, so ``resid_post`` is a sum. A post-norm model (BERT, RoBERTa)
normalises after each addition, so there it is not, and there is no final norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from cloze.arguments import Lines, checked, known_symbols, positions, shown
from cloze.encoder import Attention, Encoder, Layer

PartName = Literal["embed", "z", "attn_out", "mlp_out", "resid_mid", "resid_post"]
"""The parts that can be changed."""
Key = str | tuple[str, int]
Parts = dict[Key, Tensor]
"""What the parts of a model have computed, by name, or by name and layer."""


class Named(Parts):
    """Parts that say what there is when somebody asks for another."""

    def __missing__(self, key: object) -> Any:
        raise ValueError(f"There is no {shown(key)} here; layers count from 0: {[*self]!s:.300}.")


# Where the parts are computed


@dataclass(frozen=True)
class Block:
    """The modules of one layer. ``project`` reads ``z`` and returns ``attn_out``."""

    layer: nn.Module
    attention: nn.Module
    project: nn.Linear
    feed_forward: nn.Module
    middle: nn.Module
    """Pre-norm: the norm that reads ``resid_mid``. Post-norm: the norm that computes it."""


@dataclass(frozen=True)
class Anatomy:
    """Where a model computes what."""

    embedding: nn.Module
    blocks: tuple[Block, ...]
    n_heads: int
    norm: nn.Module | None
    """The final norm; None in a post-norm model, whose layers end with one."""
    head: Callable[[Tensor], Tensor]
    """From final states to logits."""

    @property
    def rungs(self) -> list[Key]:
        """The names of the residual stream, from the embedding up."""
        between: list[Key] = [
            (name, n) for n in range(len(self.blocks)) for name in ("resid_mid", "resid_post")
        ]
        return ["embed", *between]


def anatomy(model: nn.Module) -> Anatomy:
    """Find the parts of one of our models, or of a ModernBERT, BERT or RoBERTa of ``transformers``.

    Raises:
        ValueError: it is built in another way.
    """
    encoder: Any = getattr(model, "encoder", None)
    if isinstance(encoder, Encoder):
        layers = [cast(Layer, layer) for layer in encoder.layers]
        blocks = [
            Block(x, x.attention, x.attention.output, x.feed_forward, x.feed_forward_norm)
            for x in layers
        ]
        head: Any = getattr(model, "_answers", model.head)  # a causal model never answers [MASK]
        heads = encoder.config.n_heads
        return Anatomy(encoder.embedding, tuple(blocks), heads, encoder.norm, head)
    base: Any = getattr(model, getattr(model, "base_model_prefix", ""), None)
    kind = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
    if kind == "modernbert":
        blocks = [Block(x, x.attn, x.attn.Wo, x.mlp, x.mlp_norm) for x in base.layers]
        norm, last = base.final_norm, nn.Sequential(model.head, model.decoder)  # type: ignore[arg-type]
    elif kind in ("bert", "roberta"):
        blocks = [
            Block(x, x.attention.self, x.attention.output.dense, x.output.dense, x.attention.output)
            for x in base.encoder.layer
        ]
        norm, last = None, model.cls if kind == "bert" else model.lm_head  # type: ignore[assignment]
    else:
        raise ValueError(
            f"The inside of a model of the kind {kind:.40} is not known here; take one of ours, or "
            "a ModernBERT, BERT or RoBERTa that fills gaps."
        )
    heads = model.config.num_attention_heads  # type: ignore
    return Anatomy(base.embeddings, tuple(blocks), heads, norm, last)


# Running


@checked
@torch.no_grad()
def run(model: nn.Module, input_ids: Lines, *changes: Change) -> Parts:
    """Run a model and return what its parts have computed, names as above.

    A model of ``transformers`` tells its attention weights if it was loaded with
    ``attn_implementation="eager"``; otherwise there is no ``pattern``.

    Args:
        model: one that :func:`anatomy` knows.
        input_ids: shape ``(batch, length)``.
        changes: what is changed in this run.
    """
    places, parts = anatomy(model), Named()
    known_symbols(input_ids, model.config.vocab_size)  # type: ignore
    with ExitStack() as hooks:
        for change in changes:
            hooks.enter_context(changed(model, change))

        # Hooks are called in the order in which they were registered: these see the changes.
        def keep(module: nn.Module, key: Key) -> None:
            def hook(_: nn.Module, __: Any, output: Any) -> None:
                parts[key] = output[0] if isinstance(output, tuple) else output

            hooks.enter_context(module.register_forward_hook(hook))

        keep(places.embedding, "embed")
        for n, block in enumerate(places.blocks):
            _watch(hooks, places, n, parts)
            keep(block.project, ("attn_out", n))
            keep(block.feed_forward, ("mlp_out", n))
            keep(block.layer, ("resid_post", n))
            if places.norm is None:
                keep(block.middle, ("resid_mid", n))
        answer = model(input_ids)
    last: Key = ("resid_post", len(places.blocks) - 1)
    parts["normalized"] = parts[last] if places.norm is None else places.norm(parts[last])
    parts["logits"] = getattr(answer, "logits", answer)
    return parts


def _watch(hooks: ExitStack, places: Anatomy, n: int, parts: Parts) -> None:
    """Keep what is inside the attention of layer n, and what it leads to."""
    block, heads = places.blocks[n], places.n_heads

    def gathered(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        z = torch.unflatten(args[0], -1, (heads, -1))  # (batch, length, n_heads, d_head)
        parts["z", n] = z
        parts["result", n] = torch.einsum("blhd,hdm->blhm", z, output_matrices(block, heads))

    def middle(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        parts["resid_mid", n] = args[0]

    def weights(attention: nn.Module, args: Any, output: Any) -> None:
        if isinstance(attention, Attention):
            parts["pattern", n] = attention.weights(*args)
        elif isinstance(output, tuple) and output[1] is not None:
            parts["pattern", n] = output[1]

    def values(_: nn.Module, __: Any, output: Tensor) -> None:
        of_all = output[..., -block.project.in_features :]  # the last third of a joint projection
        parts["v", n] = torch.unflatten(of_all, -1, (heads, -1))

    attention: Any = block.attention
    value = attention.value if hasattr(attention, "value") else attention.Wqkv
    hooks.enter_context(value.register_forward_hook(values))
    hooks.enter_context(block.attention.register_forward_hook(weights))
    hooks.enter_context(block.project.register_forward_pre_hook(gathered))
    if places.norm is not None:
        hooks.enter_context(block.middle.register_forward_pre_hook(middle))


def output_matrices(block: Block, n_heads: int) -> Tensor:
    """Return what turns each head's ``z`` into its ``result``: ``(n_heads, d_head, d_model)``."""
    return torch.unflatten(block.project.weight.T, 0, (n_heads, -1))


# Changing


@checked
@dataclass(frozen=True, eq=False)
class Change:
    """Something else in place of what a part computes: ablation or activation patching.

    Args:
        part: whose output is replaced; ``"z"`` for heads.
        layer: of the part, from 0.
        to: what is put there, in the shape of :func:`run`, or one that broadcasts to it: 0 switches
            the part off (zero ablation), its mean over many positions takes away what it knows of
            this line (mean ablation), and what it computed in another run is a patch.
        at: the positions; None for everywhere. A boolean ``(batch, length)`` says it by line.
        head: which head, if the part is ``"z"``; None for all. Then ``to`` has no axis of heads.
    """

    part: PartName
    layer: int = 0
    to: Tensor | float = 0.0
    at: Sequence[int] | Tensor | None = None
    head: int | None = None

    def apply(self, old: Tensor) -> Tensor:
        """Return ``old``, ``(batch, length, …, width)``, with what is put in its place."""
        here = torch.ones(old.shape[:2], dtype=torch.bool)  # (batch, length)
        if isinstance(self.at, Tensor) and self.at.dtype == torch.bool:
            here = fitted(self.at, here, "at")
        elif self.at is not None:
            here = ~here
            here[:, positions(self.at, old.shape[1])] = True
        here = here.reshape(*here.shape, *[1] * (old.dim() - 2))  # (batch, length, …, 1)
        new = torch.as_tensor(self.to, dtype=old.dtype)
        if self.head is not None:
            here = here & (torch.arange(old.shape[2]) == self.head)[:, None]  # of this head alone
            new = new.unsqueeze(-2) if new.dim() else new
        return torch.where(here, fitted(new, old, "to"), old)


def fitted(x: Tensor, wanted: Tensor, name: str) -> Tensor:
    """Return a tensor in the shape of another.

    Raises:
        ValueError: it does not broadcast to that.
    """
    try:
        return x.expand(wanted.shape)
    except RuntimeError:
        raise ValueError(
            f"{name} has the shape {(*x.shape,)} and belongs into {(*wanted.shape,)}."
        ) from None


@contextmanager
def changed(model: nn.Module, *changes: Change) -> Iterator[None]:
    """Run a model, as often as you like, with some parts replaced; afterwards it is as before.

    Changes of one part are made in the order given. ``logits_at`` goes past the parts: call the
    model itself.

    Raises:
        ValueError: the model has no such part, layer or head.
    """
    places = anatomy(model)
    with ExitStack() as hooks:
        for change in changes:
            _check(change, places)
            _put(hooks, places, change)
        yield


def _check(change: Change, places: Anatomy) -> None:
    if not isinstance(change, Change):
        raise ValueError(f"A change is made by Change or off, not {shown(change)}.")
    if change.head is not None and change.part != "z":
        raise ValueError(f'Heads are changed in "z", not in {change.part!r}.')
    counts = {"layers": (change.layer, len(places.blocks)), "heads": (change.head, places.n_heads)}
    for what, (number, n) in counts.items():
        if number is not None and number not in range(n):
            raise ValueError(f"This model has the {what} 0 to {n - 1}, not {number!r:.40}.")


def _put(hooks: ExitStack, places: Anatomy, change: Change) -> None:
    """Register what makes one change."""
    block = places.blocks[change.layer]

    def output(_: nn.Module, __: Any, old: Any) -> Any:
        if isinstance(old, tuple):
            return (change.apply(old[0]), *old[1:])
        return change.apply(old)

    def heads(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        z = torch.unflatten(args[0], -1, (places.n_heads, -1))
        return (change.apply(z).flatten(-2), *args[1:])

    if change.part == "z":
        hooks.enter_context(block.project.register_forward_pre_hook(heads))
    elif change.part == "resid_mid" and places.norm is not None:
        _put_in_the_middle(hooks, block, change)
    else:
        module = {
            "embed": places.embedding,
            "attn_out": block.project,
            "mlp_out": block.feed_forward,
            "resid_mid": block.middle,
            "resid_post": block.layer,
        }[change.part]
        hooks.enter_context(module.register_forward_hook(output))


def _put_in_the_middle(hooks: ExitStack, block: Block, change: Change) -> None:
    """Change ``resid_mid`` of a pre-norm layer, where no module computes it: two read it.

    The norm reads what is put there, and the addition after it gets the difference.
    """
    difference: list[Tensor] = []

    def read(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        new = change.apply(args[0])
        difference.append(new - args[0])
        return (new, *args[1:])

    def added(_: nn.Module, __: Any, layer: Any) -> Any:
        if isinstance(layer, tuple):
            return (layer[0] + difference.pop(), *layer[1:])
        return layer + difference.pop()

    hooks.enter_context(block.middle.register_forward_pre_hook(read))
    hooks.enter_context(block.layer.register_forward_hook(added))
