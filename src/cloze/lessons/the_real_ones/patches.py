"""Pictures as sentences of patches: a small world of them whose truth is known.

A picture shows one shape in front of a pattern. It is cut into patches, and every patch that occurs
is a symbol of its own, named by its pixels. So a picture is a sentence, all pictures are a
:class:`~cloze.world.World`, and whatever reads, hides, trains and measures words does so here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import torch
from torch import Tensor

from cloze.heads import MaskedLM, log_probs_at
from cloze.world import World

SIDE = 16
"""Pixels of a picture, each way."""
PATCH = 4
"""Pixels of a patch, each way."""
COLUMNS = SIDE // PATCH
"""Patches in a row; a picture has as many rows."""
SHAPES = ("square", "disc", "triangle", "ring")
PATTERNS = ("plain", "rows", "columns", "slopes")
"""What is behind the shape: nothing, or a line at every fourth place."""
SIZES = (6, 8, 10)
STEP = 2
"""A shape stands at every second pixel, so its edges and those of the patches seldom agree."""


def draw(shape: str, pattern: str, size: int, left: int, top: int) -> Tensor:
    """Draw a shape in front of a pattern.

    Args:
        shape: one of ``SHAPES``.
        pattern: one of ``PATTERNS``.
        size: of the shape in pixels, each way.
        left: how many pixels are left of it.
        top: how many are above it.

    Returns:
        Where there is ink: boolean, ``(SIDE, SIDE)``.
    """
    place = torch.arange(SIDE)
    across, down = place.expand(SIDE, SIDE), place[:, None].expand(SIDE, SIDE)
    lines = {"rows": down, "columns": across, "slopes": across + down}
    behind = lines[pattern] % 4 == 1 if pattern in lines else torch.zeros(SIDE, SIDE).bool()
    x, y = across - left - (size - 1) / 2, down - top - (size - 1) / 2
    inside = (x.abs() < size / 2) & (y.abs() < size / 2)
    far = x.square() + y.square()
    if shape in ("disc", "ring"):
        inside &= far < size**2 / 4
    elif shape == "triangle":
        inside &= x.abs() <= (down - top) / 2 + 0.5
    ink = inside & (far > size**2 / 16) if shape == "ring" else inside
    return torch.where(inside, ink, behind)


def to_patches(picture: Tensor) -> list[str]:
    """Cut a picture ``(SIDE, SIDE)`` into patches, row by row, each named by its pixels."""
    cut = picture.bool().view(COLUMNS, PATCH, COLUMNS, PATCH).transpose(1, 2)
    bits = cut.reshape(COLUMNS**2, PATCH**2).long() << torch.arange(PATCH**2)
    return [f"{number:04x}" for number in bits.sum(1).tolist()]


def to_pixels(patches: Sequence[str]) -> Tensor:
    """Put patches together again: 1 for ink, 0 for none, NaN in a gap; ``(SIDE, SIDE)``.

    Args:
        patches: by name, row by row; what is no name, such as ``_``, is a gap.
    """
    return assembled(torch.stack([pixels_of(patch) for patch in patches]))


def assembled(pixels: Tensor) -> Tensor:
    """Lay the pixels of patches, ``(patches, PATCH²)``, side by side: ``(SIDE, SIDE)``."""
    cut = pixels.view(COLUMNS, COLUMNS, PATCH, PATCH)
    return cut.transpose(1, 2).reshape(SIDE, SIDE)


def pixels_of(patch: str) -> Tensor:
    """Return the pixels of a patch by its name, ``(PATCH²,)``; NaN for what is no name."""
    if not re.fullmatch("[0-9a-f]{4}", patch):
        return torch.full((PATCH**2,), torch.nan)
    return (int(patch, 16) >> torch.arange(PATCH**2) & 1).float()


def all_pictures() -> Iterator[tuple[str, str]]:
    """Yield every picture as a sentence of its patches, with the shape in it."""
    for shape, pattern, size in product(SHAPES, PATTERNS, SIZES):
        for left, top in product(range(0, SIDE - size + 1, STEP), repeat=2):
            yield " ".join(to_patches(draw(shape, pattern, size, left, top))), shape


def world_of_pictures() -> World:
    """Return every picture, each equally often, as a sentence of its patches."""
    pictures = Counter(picture for picture, _ in all_pictures())
    return World({picture: n / pictures.total() for picture, n in pictures.items()})


def shapes_of(pictures: World) -> list[str]:
    """Return the shape in each picture."""
    shape = dict(all_pictures())
    return [shape[picture] for picture in pictures.sentences]


@torch.no_grad()
def restored(
    model: MaskedLM, pictures: World, picture: Sequence[str], in_sight: Sequence[int]
) -> Tensor:
    """Return a picture as a model expects it to be that sees a few of its patches.

    Args:
        model: what restores.
        pictures: the world that it was trained on.
        picture: the names of its patches, row by row.
        in_sight: which of them the model sees.

    Returns:
        Shape ``(SIDE, SIDE)``: where a patch is hidden, the mean of all patches, each weighted by
        its probability.
    """
    vocabulary = pictures.vocabulary
    hidden = [i for i in range(len(picture)) if i not in in_sight]
    line = pictures.encode(" ".join(picture))[None]
    selected = torch.zeros_like(line, dtype=torch.bool)
    selected[0, [1 + i for i in hidden]] = True  # [BEGIN] comes before the first patch
    log_probs = log_probs_at(model, line.masked_fill(selected, vocabulary.mask_id), selected)
    known = torch.stack([pixels_of(name) for name in vocabulary.ordinary])
    pixels = torch.stack([pixels_of(patch) for patch in picture])
    pixels[hidden] = log_probs.exp() @ known
    return assembled(pixels)
