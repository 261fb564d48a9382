"""Five letters are looked up in place of the first attention; the other is asked by gaps alone.

The first attention of the default mostly finds out which letters are near. A table for each of
five places says so at once, without a product. In the attention that is left, only the selected
positions have queries, the same number in every line, and all that follows is done for them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.recipes.loop import schedule
from cloze.corpus import sample_windows
from cloze.encoder import Attention, EncoderConfig, SquaredReLU, join, rotate
from cloze.muon import Muon
from cloze.vocabulary import VOCABULARY

if TYPE_CHECKING:
    from torch import Tensor

    from benchmarks.lane import Race

V, MASK = len(VOCABULARY), VOCABULARY.mask_id
REACH = 2
"""How many places to each side the window reaches."""
SELECTED = 19
"""How many positions of each line of 64 are selected in training: 30%."""
LINES = 32
MINUTES = {1.3: 0.1, 0.9: 0.5, None: 0.995}


class FeedForward(nn.Sequential):
    """A feed-forward network, added to its input."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(
            nn.LayerNorm(config.d_model),
            nn.Linear(config.d_model, config.d_ff),
            SquaredReLU(),
            nn.Linear(config.d_ff, config.d_model),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Refine ``x`` of shape ``(…, d_model)``."""
        return x + super().forward(x)  # type: ignore[no-untyped-call]


class Model(nn.Module):
    """A window, a feed-forward network, an attention, a feed-forward network, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.config = config = EncoderConfig()
        self.places = places = 2 * REACH + 1
        # What stands outside of the line has a row of its own, V, in each place's table.
        self.window = nn.Parameter(torch.randn(places * (V + 1), config.d_model) / places**0.5)
        self.mix = FeedForward(config)
        self.norm = nn.LayerNorm(config.d_model)
        self.attention = Attention(config)
        self.refine = FeedForward(config)
        self.head = nn.Sequential(nn.LayerNorm(config.d_model), nn.Linear(config.d_model, V))

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits at every position, shape ``(batch, length, |V|)``."""
        return self.at(ids, torch.arange(ids.shape[1]).expand_as(ids))

    def at(self, ids: Tensor, where: Tensor) -> Tensor:
        """Return logits at some positions of each line, ``(batch, n)``: ``(batch, n, |V|)``."""
        near = F.pad(ids, (REACH, REACH), value=V).unfold(1, self.places, 1)
        rows = near + torch.arange(self.places) * (V + 1)
        x = F.embedding_bag(rows.flatten(0, 1), self.window, mode="sum")
        x = self.mix(x.view(*ids.shape, -1))
        asked = where[..., None].expand(-1, -1, x.shape[-1])
        return self.head(self.refine(x.gather(1, asked) + self.attend(self.norm(x), asked, where)))

    def attend(self, x: Tensor, asked: Tensor, where: Tensor) -> Tensor:
        """Return what the asked positions gather from all, ``(batch, n, d_model)``."""
        attention, heads = self.attention, (self.config.n_heads, self.config.d_head)
        query, key, value = (
            part.unflatten(-1, heads).transpose(1, 2)
            for part in (attention.query(x.gather(1, asked)), attention.key(x), attention.value(x))
        )
        angles = attention.angles[: x.shape[1]]
        query, key = rotate(query, angles[where][:, None]), rotate(key, angles)
        return attention.output(join(attention.gather(query, key, value, None)))


def train(race: Race) -> None:
    """Train on a schedule made for the goal."""
    model = Model()
    parts = dict(model.named_parameters())
    slow = [parts.pop(f"attention.{name}.weight") for name in ("query", "key")]
    matrices = [
        n for n, p in parts.items() if p.dim() == 2 and n not in ("window", "head.1.weight")
    ]
    fast = [parts.pop(name) for name in matrices]
    optimizers = [
        (Muon(fast), 0.03),
        (Muon(slow), 0.0075),
        (torch.optim.AdamW(parts.values(), betas=(0.9, 0.99), weight_decay=0, fused=True), 0.01),
    ]
    chance = torch.Generator().manual_seed(race.seed)
    left = [0.8, 0.85, 0.9, 0.95]
    for used in race.until(MINUTES[race.goal]):
        if left and used > left[0] and race.goal:
            race.hand_over(model)
            left.pop(0)
        lines = sample_windows(race.ids, LINES, 64, chance)
        where = torch.rand(lines.shape, generator=chance).topk(SELECTED).indices
        letters = lines.gather(1, where)
        loss = F.cross_entropy(
            model.at(lines.scatter(1, where, corrupted(letters, chance)), where).flatten(0, 1),
            letters.flatten(),
        )
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer, peak in optimizers:
            optimizer.param_groups[0]["lr"] = peak * schedule(used, 0.1)
            optimizer.step()
    race.hand_over(model)


def corrupted(letters: Tensor, chance: torch.Generator) -> Tensor:
    """Mask 80 % of some letters, replace 10 % by any, and leave 10 % as they are."""
    action = torch.rand(letters.shape, generator=chance)
    others = torch.randint(MASK, letters.shape, generator=chance)
    return torch.where(action < 0.8, MASK, torch.where(action < 0.9, others, letters))
