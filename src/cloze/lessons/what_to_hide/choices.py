"""What can be chosen when a text is hidden: how much, in which shape, and what takes its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from cloze.lessons.what_to_hide.shapes import mask_spans, mask_words
from cloze.masking import mask_tokens
from cloze.objectives import Masker

Shape = Literal["characters", "words", "spans"]
Shares = Literal["100/0/0", "80/10/10", "80/20/0", "80/0/20", "0/100/0"]

RATES = (0.05, 0.15, 0.3, 0.4, 0.5, 0.8)
SHAPES: Mapping[Shape, Masker] = {
    "characters": mask_tokens,
    "words": mask_words,
    "spans": mask_spans,
}
SHARES: Mapping[Shares, tuple[float, float]] = {
    "100/0/0": (1.0, 0.0),
    "80/10/10": (0.8, 0.1),
    "80/20/0": (0.8, 0.2),
    "80/0/20": (0.8, 0.0),
    "0/100/0": (0.0, 1.0),
}
"""By name, the shares of what is selected that become ``[MASK]`` and a random symbol; the rest
stays."""
