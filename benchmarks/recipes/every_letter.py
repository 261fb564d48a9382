"""No position sees its own letter, so a step asks about all 64 of a line and not about 30%.

A model that sees every letter has to hide those it is asked about, and the more are hidden, the
less is left to answer from. Here a letter never reaches the position that is asked about it. Near
it, two letters on each side are looked up, without the one between them. Farther away, attention
reads places of which none has seen that letter. So all letters are asked about at once, and only
as many are spoiled as when the loss is measured.

There a model may see some letter where it is asked. What that tells is known without training: of
100 selected letters 80 are masked, 10 are replaced by any of 28, and 10 stay.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.recipes.loop import schedule
from cloze.corpus import sample_windows
from cloze.encoder import Attention, EncoderConfig, join, rotary_angles, rotate
from cloze.muon import Muon
from cloze.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from torch import Tensor

    from benchmarks.speedrun import Race

V, MASK = len(VOCABULARY), VOCABULARY.mask_id
REACH = 2
"""How many places to each side are looked up."""
LINES = 16
MINUTES = {"1.3": 0.06, "0.9": 0.19, "minute": 0.99}


class Square(torch.autograd.Function):
    """max(0, x)²; torch's own chain rule for it takes a tenth of a step more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Square what is positive."""
        positive = x.relu()
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """Its derivative is 2 max(0, x)."""
        (positive,) = ctx.saved_tensors
        return (gradient * positive).mul_(2)


class FeedForward(nn.Module):
    """A feed-forward network, added to its input."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.widen = nn.Linear(config.d_model, config.d_ff)
        self.narrow = nn.Linear(config.d_ff, config.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Refine ``x`` of shape ``(…, d_model)``."""
        wide: Tensor = Square.apply(self.widen(self.norm(x)))  # type: ignore[no-untyped-call]
        return x + self.narrow(wide)


class Model(nn.Module):
    """A window, a feed-forward network, an attention, a feed-forward network, a head."""

    seen: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.config = config = EncoderConfig()
        places = 2 * REACH + 1
        # What stands outside of the line has a row of its own, V, in each place's table.
        self.window = nn.Parameter(torch.randn(places, V + 1, config.d_model) / places**0.5)
        self.mix = FeedForward(config)
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config)
        self.refine = FeedForward(config)
        self.head = nn.Sequential(nn.LayerNorm(config.d_model), nn.Linear(config.d_model, V))
        self.look_past_the_window()
        seen = torch.full((V, V), math.log(0.1 / MASK))
        seen.diagonal()[:] = math.log(0.1 + 0.1 / MASK)
        seen[MASK] = 0
        self.register_buffer("seen", seen, persistent=False)

    @torch.no_grad()
    def look_past_the_window(self) -> None:
        """Let the heads begin at the first places that are not looked up: −3, +3 … −6, +6."""
        config, attention = self.config, self.attention
        heads = torch.arange(config.n_heads)
        offsets = (heads // 2 + REACH + 1) * (2 * (heads % 2) - 1)
        rates = rotary_angles(2, config.d_head, config.rotary_base)[1]
        keys = attention.key.bias.view(config.n_heads, config.d_head)
        attention.query.bias.copy_(rotate(keys, torch.outer(offsets, rates)).flatten())

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        return self.blind(ids) + self.seen[ids]

    def blind(self, ids: Tensor) -> Tensor:
        """Return the same from all letters but the position's own."""
        near = F.pad(ids, (REACH, REACH), value=V).unfold(1, 2 * REACH + 1, 1)
        rows = near + (V + 1) * torch.arange(2 * REACH + 1)
        sides = torch.cat([rows[..., :REACH], rows[..., REACH + 1 :]], -1)
        around = F.embedding_bag(sides.flatten(0, 1), self.window.flatten(0, 1), mode="sum")
        around = around.view(*ids.shape, -1)  # (batch, length, d_model)
        middle = self.window[REACH]
        known, asked = self.mix(
            torch.stack([around + F.embedding(ids, middle), around + middle[MASK]])
        )
        return self.head(self.refine(asked + self.attend(self.norm(asked), self.norm(known))))

    def attend(self, asked: Tensor, known: Tensor) -> Tensor:
        """Return what each position gathers from those that have not seen its letter."""
        attention, heads = self.attention, (self.config.n_heads, self.config.d_head)
        query, key, value = (
            part.unflatten(-1, heads).transpose(1, 2)
            for part in (attention.query(asked), attention.key(known), attention.value(known))
        )
        place = torch.arange(asked.shape[1])
        far = (place[:, None] - place).abs() > REACH  # (length, length)
        angles = attention.angles[: len(place)]
        query, key = rotate(query, angles), rotate(key, angles)
        return attention.output(join(attention.gather(query, key, value, far)))


def train(race: Race) -> Model:
    """Train on a schedule made for the goal."""
    model = Model()
    parts = dict(model.named_parameters())
    slow = [parts.pop(f"attention.{name}.weight") for name in ("query", "key")]
    matrices = [n for n, p in parts.items() if p.dim() == 2 and n != "head.1.weight"]
    fast = [parts.pop(name) for name in matrices]
    optimizers = [
        (Muon(fast), 0.03),
        (Muon(slow), 0.0075),
        (torch.optim.AdamW(parts.values(), betas=(0.9, 0.99), weight_decay=0, fused=True), 0.01),
    ]
    chance = torch.Generator().manual_seed(race.seed)
    for used in race.until(MINUTES[race.track]):
        letters = sample_windows(race.ids, LINES, 64, chance)
        logits = model.blind(spoiled(letters, chance))
        loss = F.cross_entropy(logits.flatten(0, 1), letters.flatten())
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, peak in optimizers:
            optimizer.param_groups[0]["lr"] = peak * schedule(used, 0.1)
            optimizer.step()
    return model


def spoiled(letters: Tensor, chance: torch.Generator) -> Tensor:
    """Mask 12 % of some letters and replace 1.5 % by any, as when it is measured."""
    action = torch.rand(letters.shape, generator=chance)
    others = torch.randint(MASK, letters.shape, generator=chance)
    return torch.where(action < 0.12, MASK, torch.where(action < 0.135, others, letters))
