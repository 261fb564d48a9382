"""Typos planted in a text that is otherwise in full sight."""

from __future__ import annotations

from torch import Tensor

from cloze.masking import mask_tokens, seeded

RATE = 0.05
"""How many characters are replaced by a random one, which one time in 28 is the same."""


def planted(windows: Tensor) -> tuple[Tensor, Tensor]:
    """Replace some characters of windows ``(n, length)`` by random ones.

    Returns:
        The windows with typos, and where these are: boolean. Both have the windows' shape.
    """
    read = mask_tokens(windows, RATE, mask_share=0.0, random_share=1.0, generator=seeded(0))
    return read.inputs, read.inputs != windows
