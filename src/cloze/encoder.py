"""The encoder: characters in, one vector per position out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Direction = Literal["left", "right", "both"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


@dataclass(frozen=True)
class EncoderConfig:
    """The shape of an encoder. The defaults give about 270 000 parameters with the head."""

    vocab_size: int = 29
    """|V|: 28 characters and ``[MASK]``; more with further special symbols."""
    max_len: int = 64
    """The longest line it reads. Rotary positions need no parameters, so any length is allowed."""
    d_model: int = 128
    n_heads: int = 8
    n_layers: int = 2
    d_ff: int = 256
    direction: Direction = "both"
    """What a position may look at: everything, itself and its left, or itself and its right."""
    rotary_base: float = 100.0
    """Wavelengths of the rotary positions run from 2π to 2π · rotary_base characters."""
    neighbour_focus: float = 2.5
    """How sharply the heads look at a neighbour before the first step; 0 gives ordinary heads."""

    def __post_init__(self) -> None:
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model must be a multiple of 2 · n_heads = {2 * self.n_heads} (each head "
                f"rotates pairs of numbers), not {self.d_model}."
            )
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction is 'both', 'left' or 'right', not {self.direction!r:.60}.")

    @property
    def d_head(self) -> int:
        """The width of one head."""
        return self.d_model // self.n_heads


def attention_mask(length: int, direction: Direction, prefix: int | Tensor = 0) -> Tensor | None:
    """Return which position (row) may look at which (column), shape ``(length, length)``.

    ``None`` means everywhere: an encoder has no causal mask.

    Args:
        length: of the line.
        direction: where every position may look.
        prefix: how many positions at the beginning every position may look at as well; with
            ``direction="left"`` this is the mask of a prefix language model. A number for each line
            of a batch, ``(batch,)``, gives each a mask of its own: ``(batch, 1, length, length)``.
    """
    if direction == "both":
        return None
    everywhere = torch.ones(length, length, dtype=torch.bool)
    mask = everywhere.tril() if direction == "left" else everywhere.triu()  # (length, length)
    if isinstance(prefix, Tensor):
        prefix = prefix.cpu()[:, None, None, None]
    return mask | (torch.arange(length) < prefix)


def rotary_angles(length: int, d_head: int, base: float) -> Tensor:
    """Return the angle of each position and each pair of a head, shape ``(length, d_head / 2)``.

    Source: Su et al. 2021, RoFormer, section 3.2.2.
    """
    rates = base ** -(torch.arange(d_head // 2) / (d_head // 2))  # (d_head / 2,)
    return torch.outer(torch.arange(length), rates)  # (length, d_head / 2)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn each pair (x_0, x_1), (x_2, x_3) … of a head by its position's angle.

    The product of two vectors turned this way depends on the *difference* of their positions only,
    so attention learns "two to the left" once and for all places.

    Args:
        x: shape ``(…, length, d_head)``.
        angles: shape ``(length, d_head / 2)``.
    """
    # A pair is a complex number, and turning is multiplying by a number of length 1.
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2))
    turns = torch.polar(torch.ones_like(angles), angles)  # (length, d_head / 2)
    turned = pairs * turns  # (…, length, d_head / 2)
    return torch.view_as_real(turned).flatten(-2)  # (…, length, d_head)


class Attention(nn.Module):
    """Multi-head self-attention with rotary positions."""

    angles: Tensor

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.query = nn.Linear(config.d_model, config.d_model)
        self.key = nn.Linear(config.d_model, config.d_model)
        self.value = nn.Linear(config.d_model, config.d_model)
        self.output = nn.Linear(config.d_model, config.d_model)
        angles = rotary_angles(config.max_len, config.d_head, config.rotary_base)
        self.register_buffer("angles", angles, persistent=False)
        self.look_at_neighbours()

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Let every position gather what it needs from the positions it may look at.

        Args:
            x: shape ``(batch, length, d_model)``.
            mask: True where a query (row) may look at a key (column); broadcastable to
                ``(batch, n_heads, length, length)``; ``None`` for everywhere.

        Returns:
            Shape ``(batch, length, d_model)``.
        """
        query, key, value = self.to_heads(self.query(x), self.key(x), self.value(x))
        query, key = self.rotated(query, key)
        gathered = self.gather(query, key, value, mask)  # (batch, n_heads, length, d_head)
        return self.output(join(gathered))  # (batch, length, d_model)

    def gather(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Return what each query finds: values, weighted by how well their keys answer it.

        All are ``(batch, n_heads, length, d_head)``; for the mask see :meth:`forward`.
        """
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

    def weights(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return how much each query looks at each key: ``(batch, n_heads, length, length)``."""
        query, key = self.to_heads(self.query(x), self.key(x))
        query, key = self.rotated(query, key)
        scale = math.sqrt(self.config.d_head)
        scores = query @ key.transpose(-1, -2) / scale  # (batch, n_heads, length, length)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-1)

    def to_heads(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Split each ``(batch, length, d_model)`` into ``(batch, n_heads, length, d_head)``."""
        heads = (self.config.n_heads, self.config.d_head)
        return tuple(torch.unflatten(x, -1, heads).transpose(1, 2) for x in vectors)

    def rotated(self, query: Tensor, key: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Turn ``(batch, n_heads, length, d_head)`` by the angles of the positions.

        The first position is number ``start`` of its line.
        """
        angles = self.angles[start : start + query.shape[2]]  # (length, d_head / 2)
        return rotate(query, angles), rotate(key, angles)

    @torch.no_grad()
    def look_at_neighbours(self) -> None:
        """Set the biases so that head h attends δ_h places away before anything is learned.

        The key bias is c · (1, 0), (1, 0) …, which position n turns to the angles nθ. The query
        bias is the same, rotated by δθ in advance, so at position m it has the angles (m + δ)θ.
        Their product c² Σ cos((m + δ − n)θ_i) is largest where n = m + δ.
        """
        config = self.config
        if not config.neighbour_focus:
            return
        ahead = torch.zeros(config.n_heads, config.d_head)  # (1, 0), (1, 0) … for every head
        ahead[:, ::2] = config.neighbour_focus
        rates = rotary_angles(2, config.d_head, config.rotary_base)[1]  # (d_head / 2,)
        offsets = torch.tensor(neighbour_offsets(config), dtype=torch.float32)  # (n_heads,)
        turned = rotate(ahead, torch.outer(offsets, rates))  # (n_heads, d_head)
        self.key.bias.copy_(ahead.flatten())  # (d_model,)
        self.query.bias.copy_(turned.flatten())


def join(heads: Tensor) -> Tensor:
    """Put heads ``(batch, n_heads, length, d_head)`` side by side: ``(batch, length, d_model)``."""
    return heads.transpose(1, 2).flatten(2)


def neighbour_offsets(config: EncoderConfig) -> list[int]:
    """Return the place that each head looks at before training: −1, +1, −2, +2 and so on."""
    one_sided = {"left": -1, "right": 1}
    if config.direction in one_sided:
        return [one_sided[config.direction] * (h + 1) for h in range(config.n_heads)]
    return [(h // 2 + 1) * (-1, 1)[h % 2] for h in range(config.n_heads)]


class SquaredReLU(nn.Module):
    """max(0, x)²: as good as GELU here and cheaper (So et al. 2021, Primer)."""

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to each number of a tensor of any shape."""
        return x.relu().square()


class Layer(nn.Module):
    """One encoder layer: attention, then a feed-forward network, each added to its input."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.d_model, config.d_ff),
            SquaredReLU(),
            nn.Linear(config.d_ff, config.d_model),
        )

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Refine ``x`` of shape ``(batch, length, d_model)``."""
        x = x + self.attention(self.attention_norm(x), mask)  # (batch, length, d_model)
        return x + self.feed_forward(self.feed_forward_norm(x))  # d_model → d_ff → d_model


class Encoder(nn.Module):
    """Characters in, one vector for every position out, informed by all positions it may see."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EncoderConfig()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(
        self, input_ids: Tensor, padding_mask: Tensor | None = None, prefix: Tensor | None = None
    ) -> Tensor:
        """Compute the hidden states.

        Args:
            input_ids: shape ``(batch, length)``, int64.
            padding_mask: True where a position is padding, which no other may look at; shape
                ``(batch, length)``.
            prefix: how many positions at the beginning of each line every position may look at,
                whatever the direction; shape ``(batch,)``.

        Returns:
            Shape ``(batch, length, d_model)``.

        Raises:
            ValueError: the line is longer than ``max_len``, or the shape is not (batch, length).
        """
        mask = self.make_mask(input_ids, padding_mask, prefix)
        x = self.embedding(input_ids)  # (batch, length, d_model)
        for layer in self.layers:
            x = layer(x, mask)  # (batch, length, d_model)
        return self.norm(x)

    @torch.no_grad()
    def attention_weights(self, input_ids: Tensor) -> Tensor:
        """Return all attention weights: ``(n_layers, batch, n_heads, length, length)``.

        Row i of a head says how position i spreads its attention; each row sums to 1.
        """
        mask = self.make_mask(input_ids)
        x = self.embedding(input_ids)  # (batch, length, d_model)
        weights = []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            weights.append(layer.attention.weights(layer.attention_norm(x), mask))
            x = layer(x, mask)
        return torch.stack(weights)

    def make_mask(
        self, input_ids: Tensor, padding_mask: Tensor | None = None, prefix: Tensor | None = None
    ) -> Tensor | None:
        """Return where a query may look at a key, for :meth:`Attention.forward`.

        For the arguments and errors see :meth:`forward`.
        """
        length = self.length_of(input_ids)
        mask = attention_mask(length, self.config.direction, 0 if prefix is None else prefix)
        mask = None if mask is None else mask.to(input_ids.device)
        if padding_mask is None:
            return mask
        # A padding position still sees itself: a softmax over nothing would be NaN.
        itself = torch.eye(length, dtype=torch.bool, device=input_ids.device)
        real = ~padding_mask[:, None, None, :] | itself  # (batch, 1, length, length)
        return real if mask is None else real & mask

    def length_of(self, input_ids: Tensor, read: int = 0) -> int:
        """Return the length of lines ``(batch, length)``, with ``read`` symbols before them.

        Raises:
            ValueError: the line is longer than ``max_len``, or the shape is not (batch, length).
        """
        if input_ids.dim() != 2:
            raise ValueError(
                f"input_ids need the shape (batch, length), not {tuple(input_ids.shape)}; "
                "for a single line use input_ids[None]."
            )
        length = read + input_ids.shape[1]
        if length > self.config.max_len:
            raise ValueError(
                f"The line has {length} symbols, but this encoder reads at most "
                f"max_len = {self.config.max_len}."
            )
        return length

    @torch.no_grad()
    def add_symbols(self, count: int, max_len: int | None = None) -> Encoder:
        """Return this encoder with ``count`` more rows in its embedding, the old ones as they were.

        For vocabularies extended by ``Vocabulary.with_specials``.

        Args:
            count: how many symbols are new; their vectors begin at random.
            max_len: the longest line that the new encoder reads; None for the same as before.
        """
        wider = Encoder(
            replace(
                self.config,
                vocab_size=self.config.vocab_size + count,
                max_len=self.config.max_len if max_len is None else max_len,
            )
        )
        state = self.state_dict()
        state["embedding.weight"] = torch.cat(
            [state["embedding.weight"], wider.embedding.weight[self.config.vocab_size :]]
        )
        wider.load_state_dict(state)
        return wider
