"""Pictures as sentences of patches."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from cloze.heads import MaskedLM
from cloze.lessons.the_real_ones.patches import (
    PATTERNS,
    SHAPES,
    SIDE,
    draw,
    restored,
    to_patches,
    to_pixels,
    world_of_pictures,
)


@given(st.sampled_from(SHAPES), st.sampled_from(PATTERNS), st.integers(1, SIDE), st.data())
def test_a_picture_comes_back_from_its_patches(
    shape: str, pattern: str, size: int, data: st.DataObject
) -> None:
    left, top = (data.draw(st.integers(0, SIDE - size)) for _ in range(2))
    picture = draw(shape, pattern, size, left, top)
    assert torch.equal(to_pixels(to_patches(picture)).bool(), picture)
    outside = torch.ones(SIDE, SIDE, dtype=torch.bool)
    outside[top : top + size, left : left + size] = False
    assert torch.equal(picture[outside], draw("square", pattern, 1, left, top)[outside])


def test_shapes_and_patterns_are_what_they_are_called() -> None:
    plain = {shape: draw(shape, "plain", 8, 4, 4) for shape in SHAPES}
    assert plain["square"].sum() == 64
    assert plain["ring"].sum() < plain["disc"].sum() < 64
    assert not plain["ring"][7:9, 7:9].any()
    widths = plain["triangle"].sum(1)[4:12].tolist()
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    rows = draw("square", "rows", 1, 0, 0)
    assert rows[1].all()
    assert not rows[2].any()
    assert torch.equal(rows[4:], draw("square", "columns", 1, 0, 0).T[4:])


def test_what_is_in_sight_stays_and_the_rest_is_a_mean_of_patches() -> None:
    world = world_of_pictures()
    picture = to_patches(draw("disc", "rows", 8, 4, 4))
    pixels = restored(MaskedLM(world.config(), world.vocabulary), world, picture, [0, 5])
    truth = to_pixels(picture)
    assert torch.equal(pixels[:4, :4], truth[:4, :4])
    assert torch.equal(pixels[4:8, 4:8], truth[4:8, 4:8])
    assert 0 < pixels[8:, 8:].min() <= pixels.max() <= 1
