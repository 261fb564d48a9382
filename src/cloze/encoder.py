"""The encoder: characters in, one vector per position out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .arguments import shown  # relative: this file also goes where there is no cloze (export.py)
from .ledger import parameter_ledger

Direction = Literal["left", "right", "both"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

# Wide enough for anything that runs on one machine, and no number of a damaged or mistyped config
# asks for more memory than there is.
LARGEST = {
    "vocab_size": 1 << 18,
    "max_len": 1 << 14,
    "d_model": 1 << 13,
    "n_heads": 1 << 10,
    "n_layers": 1 << 8,
    "d_ff": 1 << 16,
}
RANGES = {"rotary_base": (1, 1e9), "neighbour_focus": (0, 100)}
MOST_PARAMETERS = 1 << 28


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
        for name, largest in LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= largest:
                raise ValueError(
                    f"{name} is a whole number, at least 1 and at most {largest}, not "
                    f"{shown(value)}."
                )
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if type(value) not in (int, float) or not least <= value <= most:  # NaN is neither
                raise ValueError(
                    f"{name} is a number from {least} to {most:g}, not {shown(value)}."
                )
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model must be a multiple of 2 · n_heads = {2 * self.n_heads} (each head "
                f"rotates pairs of numbers), not {self.d_model}."
            )
        if self.direction not in DIRECTIONS:
            raise ValueError(
                f"direction is 'both', 'left' or 'right', not {shown(self.direction)}."
            )
        if self.n_parameters > MOST_PARAMETERS:
            raise ValueError(
                f"An encoder of this shape has {self.n_parameters} parameters; at most "
                f"{MOST_PARAMETERS} are allowed, choose smaller sizes."
            )

    @property
    def n_parameters(self) -> int:
        """How many parameters an encoder of this shape and its head have."""
        ledger = parameter_ledger(self.vocab_size, self.d_model, self.n_layers, self.d_ff)
        return sum(ledger.values())

    @property
    def d_head(self) -> int:
        """The width of one head."""
        return self.d_model // self.n_heads


Past = tuple[tuple[Tensor, Tensor], ...]
"""What a one-sided encoder keeps of the text it has read: by layer, the keys and the values, each
``(batch, n_heads, length, d_head)``."""


def attention_mask(length: int, direction: Direction, prefix: int | Tensor = 0) -> Tensor | None:
    """Return which position (row) may look at which (column), shape ``(length, length)``.

    ``None`` means everywhere: an encoder has no causal mask.

    Args:
        length: of the line.
        direction: where everybody may look.
        prefix: how many positions at the beginning are in everybody's sight besides; with
            ``direction="left"`` this is the mask of a prefix language model. A number for each line
            of a batch, ``(batch,)``, gives each a mask of its own: ``(batch, 1, length, length)``.
    """
    everywhere = torch.ones(length, length, dtype=torch.bool)
    if direction == "both":
        return None
    mask = everywhere.tril() if direction == "left" else everywhere.triu()
    if isinstance(prefix, Tensor):
        column = torch.arange(length, device=prefix.device)
        return mask.to(prefix.device) | (column < prefix[:, None, None, None])
    mask[:, :prefix] = True
    return mask


def rotary_angles(length: int, d_head: int, base: float) -> Tensor:
    """Return the angle of each position and each pair of a head, shape ``(length, d_head / 2)``.

    Source: Su et al. 2021, RoFormer, section 3.2.2.
    """
    rates = base ** -(torch.arange(d_head // 2) / (d_head // 2))
    return torch.outer(torch.arange(length), rates)


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
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs * turns).flatten(-2)


def look_up(x: Tensor, ids: Tensor | None) -> Tensor:
    """Return the rows of a table ``x`` that stand at ``ids``; without ids, ``x`` as it is."""
    return x if ids is None else F.embedding(ids, x)


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

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        selected: Tensor | None = None,
        ids: Tensor | None = None,
    ) -> Tensor:
        """Let every position gather what it needs from the positions it may look at.

        Args:
            x: shape ``(batch, length, d_model)``, or with ``ids`` a table ``(|V|, d_model)``.
            mask: True where a query (row) may look at a key (column); broadcastable to
                ``(batch, n_heads, length, length)``; ``None`` for everywhere.
            selected: where an answer is wanted, ``(batch, length)``; ``None`` for everywhere.
            ids: which row of ``x`` stands at each place, ``(batch, length)``.

        Returns:
            Shape ``(batch, length, d_model)``, or ``(|M|, d_model)`` with ``selected``.
        """
        query, key, value = self._project(x, ids=ids)
        gathered = self.gather(query, key, value, mask)
        # heads side by side again: (batch, length, d_model)
        gathered = gathered.transpose(1, 2).flatten(2)
        return self.output(gathered if selected is None else gathered[selected])

    def gather(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """Return what each query finds: values, weighted by how well their keys answer it.

        All are ``(batch, n_heads, length, d_head)``; for the mask see :meth:`forward`.
        """
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

    def extend(
        self, x: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Let positions that follow an earlier text gather from it and from what is left of them.

        Args:
            x: shape ``(batch, length, d_model)``.
            past: keys and values of what came before, or None.

        Returns:
            Shape ``(batch, length, d_model)``, and the keys and values with the new ones added.
        """
        read = 0 if past is None else past[0].shape[2]
        query, *new = self._project(x, read)
        key, value = new if past is None else (torch.cat(p, 2) for p in zip(past, new, strict=True))
        mask = torch.ones(x.shape[1], key.shape[2], dtype=torch.bool).tril(read)
        gathered = self.gather(query, key, value, mask)
        return self.output(gathered.transpose(1, 2).flatten(2)), (key, value)

    def weights(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return how much each query looks at each key: ``(batch, n_heads, length, length)``."""
        query, key, _ = self._project(x)
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.config.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-1)

    def _project(
        self, x: Tensor, start: int = 0, ids: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Project to queries, keys and values, each ``(batch, n_heads, length, d_head)``.

        The first position of ``x`` is number ``start`` of its line.
        """
        heads = (self.config.n_heads, self.config.d_head)
        query, key, value = (
            # (batch, length, d_model) -> (batch, length, n_heads, d_head) -> heads before length
            torch.unflatten(look_up(project(x), ids), -1, heads).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        angles = self.angles[start : start + query.shape[2]]
        return rotate(query, angles), rotate(key, angles), value

    @torch.no_grad()
    def look_at_neighbours(self) -> None:
        """Set the biases so that head h attends δ_h places away before anything is learned.

        The key bias is c · (1, 0), (1, 0) …, which position n turns to the angles nθ. The query
        bias is the same, turned by δθ beforehand, so at position m it has the angles (m + δ)θ.
        Their product c² Σ cos((m + δ − n)θ_i) is largest where n = m + δ.
        """
        config = self.config
        if not config.neighbour_focus:
            return
        ahead = torch.zeros(config.n_heads, config.d_head)
        ahead[:, ::2] = config.neighbour_focus
        rates = rotary_angles(2, config.d_head, config.rotary_base)[1]
        offsets = torch.tensor(neighbour_offsets(config), dtype=torch.float32)
        self.key.bias.copy_(ahead.flatten())
        self.query.bias.copy_(rotate(ahead, torch.outer(offsets, rates)).flatten())


def neighbour_offsets(config: EncoderConfig) -> list[int]:
    """Return the place that each head looks at when it is born: −1, +1, −2, +2 and so on."""
    one_sided = {"left": -1, "right": 1}
    if config.direction in one_sided:
        return [one_sided[config.direction] * (h + 1) for h in range(config.n_heads)]
    return [(h // 2 + 1) * (-1, 1)[h % 2] for h in range(config.n_heads)]


class SquaredReLU(nn.Module):
    """max(0, x)²: as good as GELU here and cheaper (So et al. 2021, Primer)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape."""
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

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        selected: Tensor | None = None,
        ids: Tensor | None = None,
    ) -> Tensor:
        """Refine ``x`` of shape ``(batch, length, d_model)``, everywhere or where ``selected``.

        Where a line's vectors are rows of a table, ``x`` may be that table, with the ``ids``.
        """
        gathered = self.attention(self.attention_norm(x), mask, selected, ids)
        x = look_up(x, ids)
        x = gathered + (x if selected is None else x[selected])
        return x + self.feed_forward(self.feed_forward_norm(x))

    def extend(
        self, x: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Refine positions that follow an earlier text; see :meth:`Attention.extend`."""
        gathered, past = self.attention.extend(self.attention_norm(x), past)
        x = x + gathered
        return x + self.feed_forward(self.feed_forward_norm(x)), past


class Encoder(nn.Module):
    """Characters in, one vector for every position out, informed by all positions it may see."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EncoderConfig()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)

    def forward(
        self,
        input_ids: Tensor,
        padding_mask: Tensor | None = None,
        selected: Tensor | None = None,
        prefix: Tensor | None = None,
    ) -> Tensor:
        """Compute the hidden states.

        Args:
            input_ids: shape ``(batch, length)``, int64.
            padding_mask: True where a position is padding, which nobody may look at; shape
                ``(batch, length)``.
            selected: True where a hidden state is wanted, ``(batch, length)``. Every position
                informs the others all the same, but the last layer finishes only these, which
                saves time in training.
            prefix: how many positions at the beginning of each line everybody may look at, whatever
                the direction; shape ``(batch,)``.

        Returns:
            Shape ``(batch, length, d_model)``, or ``(|M|, d_model)`` with ``selected``.

        Raises:
            ValueError: the line is longer than ``max_len``, or the shape is not (batch, length).
        """
        mask = self._mask(input_ids, padding_mask, prefix)
        if selected is None or input_ids.numel() <= self.config.vocab_size:
            x, ids = self.embedding(input_ids), None  # (batch, length, d_model)
        else:
            # In training a symbol stands at many places. The first layer's norm and projections
            # make the same of it at each, so that is done once per symbol and looked up.
            x, ids = self.embedding.weight, input_ids
        for layer in self.layers[:-1]:
            x, ids = layer(x, mask, ids=ids), None
        return self.norm(self.layers[-1](x, mask, selected, ids))

    def extend(self, input_ids: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Read on from where another call stopped; only with direction "left".

        What is left of a position never changes when the text goes on, so keys and values are
        computed once.

        Args:
            input_ids: what follows, shape ``(batch, length)``.
            past: what the earlier call returned, for a batch of the same size; None to begin.

        Returns:
            Hidden states of shape ``(batch, length, d_model)``, and what the next call needs.

        Raises:
            ValueError: the encoder looks to the right, too, or the line gets too long.
        """
        if self.config.direction != "left":
            raise ValueError(
                "Only an encoder that looks to the left alone can read on: what it has read would "
                "look different to the others once there is more to the right."
            )
        self._check(input_ids, 0 if past is None else past[0][0].shape[2])
        x = self.embedding(input_ids)
        kept = []
        for layer, before in zip(self.layers, past or [None] * len(self.layers), strict=True):
            assert isinstance(layer, Layer)
            x, after = layer.extend(x, before)
            kept.append(after)
        return self.norm(x), tuple(kept)

    @torch.no_grad()
    def attention(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return all attention weights: ``(n_layers, batch, n_heads, length, length)``.

        Row i of a head says how position i spreads its attention; each row sums to 1.
        """
        mask = self._mask(input_ids, padding_mask)
        x = self.embedding(input_ids)
        weights = []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            weights.append(layer.attention.weights(layer.attention_norm(x), mask))
            x = layer(x, mask)
        return torch.stack(weights)

    def _mask(
        self, input_ids: Tensor, padding_mask: Tensor | None, prefix: Tensor | None = None
    ) -> Tensor | None:
        """Combine direction and padding: True where a query may look at a key."""
        length = self._check(input_ids)
        mask = attention_mask(length, self.config.direction, 0 if prefix is None else prefix)
        mask = None if mask is None else mask.to(input_ids.device)
        if padding_mask is None:
            return mask
        # A padding position still sees itself: a softmax over nothing would be NaN.
        itself = torch.eye(length, dtype=torch.bool, device=input_ids.device)
        real = ~padding_mask[:, None, None, :] | itself
        return real if mask is None else real & mask

    def _check(self, input_ids: Tensor, read: int = 0) -> int:
        """Return the length of a line of which so many symbols have been read before."""
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
