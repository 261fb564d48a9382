"""Typos: planted at random, and looked for by what a model says of every symbol."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corruptions import replace
from cloze.heads import MaskedLM, ReplacedLM
from cloze.masking import seeded

RATE = 0.05
"""How many of the characters are typos."""

Finder = Callable[[Tensor], Tensor]
"""From lines ``(n, length)`` to a score for each symbol: the higher, the more likely a typo."""


def planted(windows: Tensor, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Replace characters of windows ``(n, length)`` by others; return the lines, and where."""
    chance = seeded(seed)
    lines = torch.stack([replace(window, RATE, generator=chance).inputs for window in windows])
    return lines, lines != windows


def detector(model: ReplacedLM) -> Finder:
    """Score by the discriminator's logit: one look for all symbols."""
    return lambda lines: model(lines).detach()


def one_look(model: MaskedLM) -> Finder:
    """Score by −log P of each symbol as it stands there: one look, nothing hidden."""

    def scores(lines: Tensor) -> Tensor:
        with torch.no_grad():
            logits = torch.cat([model(part) for part in torch.split(lines, 64)])
        return F.cross_entropy(logits.transpose(1, 2), lines, reduction="none")

    return scores


def in_turn(model: MaskedLM) -> Finder:
    """Score by −log P of each symbol with ``[MASK]`` in its place: a look per symbol."""

    @torch.no_grad()
    def of(line: Tensor) -> Tensor:
        at = torch.eye(len(line), dtype=torch.bool)
        hidden = line.repeat(len(line), 1).masked_fill(at, model.vocabulary.mask_id)
        return F.cross_entropy(model.logits_at(hidden, at), line, reduction="none")

    return lambda lines: torch.stack([of(line) for line in lines])


def auc(scores: Tensor, wrong: Tensor) -> float:
    """Return the area under the curve: how often a typo scores above a true symbol; ties half.

    Raises:
        ValueError: there is no typo, or nothing else.
    """
    bad, good = scores[wrong].double(), scores[~wrong].double().sort().values
    if not len(bad) or not len(good):
        raise ValueError("An area under the curve needs typos and true symbols, at least one each.")
    below = torch.searchsorted(good, bad)
    up_to = torch.searchsorted(good, bad, right=True)
    return float((below + up_to).double().mean() / 2 / len(good))
