"""Typos planted in a text that is otherwise in full sight, and how well a model finds them."""

from __future__ import annotations

import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.masking import mask_tokens, seeded

RATE = 0.05
"""How many characters are replaced by a random one, which one time in 28 is the same."""


def planted(windows: Tensor, rate: float = RATE, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Replace some characters of windows ``(n, length)`` by random ones.

    Returns:
        The windows with typos, and where these are: boolean. Both have the windows' shape.
    """
    read = mask_tokens(windows, rate, mask_share=0.0, random_share=1.0, generator=seeded(seed))
    return read.inputs, read.inputs != windows


@torch.no_grad()
def disbelief(model: MaskedLM, read: Tensor) -> Tensor:
    """Return −log P of every character of windows ``(n, length)`` from one look that sees it."""
    n = model.vocabulary.n_ordinary
    said = torch.cat([model(part)[..., :n].log_softmax(-1) for part in torch.split(read, 64)])
    return -said.gather(-1, read[..., None]).squeeze(-1)


def area_under_curve(scores: Tensor, wanted: Tensor) -> float:
    """Return how often what is wanted has a higher score than what is not, ties counted half.

    That is the area under the curve of hits over false alarms: 1 finds everything first, ½ is
    chance.

    Args:
        scores: of any shape.
        wanted: boolean, of the same shape.
    """
    ours, others = scores[wanted], scores[~wanted].sort().values
    below = torch.searchsorted(others, ours, right=False).double()
    at_most = torch.searchsorted(others, ours, right=True).double()
    return float((below + at_most).mean()) / 2 / len(others)
