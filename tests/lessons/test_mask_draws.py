"""Masks drawn again and again: what is drawn, counted and shown."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cloze.lessons.the_mask.mask_draws import PROMISED, MaskDraws, closeness, draw_masks
from cloze.masking import mask_tokens
from cloze.vocabulary import VOCABULARY
from tests.markup import assert_works, check


def test_the_draws_work() -> None:
    assert_works(lambda: MaskDraws("rain fell on the old umbrella"))


@given(st.integers(0, 50), st.integers(1, 40))
def test_the_fates_are_those_of_mask_tokens(seed: int, lines: int) -> None:
    input_ids = VOCABULARY.encode("rain fell on the old umbrella").repeat(lines, 1)
    inputs, labels = mask_tokens(input_ids, generator=torch.Generator().manual_seed(seed))
    draw = draw_masks(input_ids, torch.Generator().manual_seed(seed))
    assert torch.equal(draw.inputs, inputs)
    total = torch.stack(list(draw.fates.values())).sum(0)
    assert torch.equal(total, (labels >= 0).long())
    assert torch.equal(draw.fates["M"], inputs == VOCABULARY.mask_id)
    assert torch.equal(inputs[draw.fates["K"]], input_ids[draw.fates["K"]])


def test_a_swap_for_the_same_character_is_still_random() -> None:
    input_ids = VOCABULARY.encode("rain fell on the old umbrella").repeat(4000, 1)
    draw = draw_masks(input_ids, torch.Generator().manual_seed(0))
    swapped = draw.fates["R"]
    same = (draw.inputs == input_ids)[swapped].float().mean().item()
    assert same == pytest.approx(1 / 28, abs=5 * math.sqrt(1 / 28 / int(swapped.sum())))
    for row in closeness(draw.counts):
        assert abs(row.share - row.promised) < 2.5 * row.margin  # five standard errors


def test_counts_add_up_and_close_in() -> None:
    draws = MaskDraws("rain fell on the old umbrella all day", seed=1)
    margins = []
    for times in (1, 10, 1000):
        before = sum(draws.counts.values())
        draws.act("draw", times=str(times))
        assert draws.problem == ""
        assert sum(draws.counts.values()) > before
        rows = closeness(draws.counts)
        assert math.isclose(sum(row.share for row in rows), 1)
        margins.append(rows[0].margin)
    assert draws.draws == 1011
    assert margins == sorted(margins, reverse=True)
    assert repr(draws).startswith("MaskDraws(1011 draws: ")
    n = sum(draws.counts.values())
    assert margins[-1] == pytest.approx(2 * math.sqrt(0.8 * 0.2 / n))
    assert f"{draws.counts['M']:,}" in draws.html


def test_the_strip_shows_the_last_draw() -> None:
    draws = MaskDraws("rain fell on the old umbrella all day", seed=1)
    draws.act("draw", times=10)
    assert draws.last
    [strip] = check(draws).select("[role=img]")
    shown = [sign.get_text() for sign in strip.select("small")]
    counts = draws.last.counts
    assert {fate: shown.count(fate) for fate in PROMISED} == counts
    line = VOCABULARY.decode(draws.last.inputs[0], gap="▒")
    assert strip["aria-label"] == f"The model reads: {line}"
    assert f"{sum(counts.values())} of 37 selected" in draws.html


def test_starting_over_repeats_the_same_draws() -> None:
    draws = MaskDraws("rain fell on the old umbrella")
    fresh = draws.html
    draws.act("draw", times=10)
    first = draws.html
    draws.act("restart")
    assert draws.html == fresh
    assert closeness(draws.counts) == []
    draws.act("draw", times=10)
    assert draws.html == first
