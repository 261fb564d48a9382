"""Corruptions: what is read and written, how often what happens, and that sentinels restore."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from cloze.lessons.corrupt_and_repair import corruptions
from cloze.lessons.corrupt_and_repair.corruptions import (
    CORRUPTIONS,
    number_of_spans,
    number_taken,
    out_of,
    restore,
    take_out,
    with_sentinels,
)
from cloze.masking import seeded
from cloze.vocabulary import MASK, VOCABULARY, Vocabulary

LETTERS = with_sentinels(VOCABULARY, 64)
WORDS = with_sentinels(Vocabulary((*(f"w{i}" for i in range(27)), "."), (MASK,)), 64)


def near(share: float, expected: float, n: int) -> bool:
    """Whether a share of n independent draws lies within five standard errors."""
    return abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / n)


lines = st.lists(st.integers(0, 27), min_size=1, max_size=60).map(torch.tensor)


@given(lines, st.floats(0, 1), st.integers(0, 10**6))
@settings(max_examples=60)
def test_target_and_input_restore_the_original(line: Tensor, share: float, seed: int) -> None:
    spoilt = take_out(line, share, LETTERS, seeded(seed))
    assert torch.equal(restore(*spoilt, LETTERS), line)
    taken = number_taken(len(line), share)
    gaps = number_of_spans(len(line), taken)
    assert len(spoilt.inputs) == len(line) - taken + gaps
    assert len(spoilt.target) == taken + gaps + 1
    signs = spoilt.inputs >= 29
    assert not (signs[1:] & signs[:-1]).any(), "two gaps touch"


@given(lines, st.sampled_from([*CORRUPTIONS]), st.integers(0, 1000))
@settings(max_examples=60)
def test_every_corruption_repeats_and_changes_nothing_it_is_given(
    line: Tensor, name: str, seed: int
) -> None:
    before = line.clone()
    first, again = (CORRUPTIONS[name].spoil(line, 0.15, WORDS, seeded(seed)) for _ in range(2))
    assert all(map(torch.equal, first, again))
    assert torch.equal(line, before)
    assert first.inputs.dtype == first.target.dtype == torch.int64
    if name != "sentinels":
        assert torch.equal(first.target, line)


def test_each_symbol_is_corrupted_with_the_rate() -> None:
    line = torch.randint(28, (1_000_000,), generator=seeded(7))
    n = len(line)
    deleted = corruptions.delete(line, 0.15, VOCABULARY, seeded(0)).inputs
    replaced = corruptions.replace(line, 0.15, VOCABULARY, seeded(1)).inputs
    masked = corruptions.mask(line, 0.15, VOCABULARY, seeded(2)).inputs
    assert near(1 - len(deleted) / n, 0.15, n)
    assert near(float((replaced != line).double().mean()), 0.15, n)
    assert near(float((masked == VOCABULARY.mask_id).double().mean()), 0.15, n)


def test_all_ways_to_take_spans_out_are_equally_likely() -> None:
    line, chance = torch.arange(8), seeded(0)
    n = 2_400
    seen = Counter(tuple(take_out(line, 0.6, LETTERS, chance).inputs.tolist()) for _ in range(n))
    # 5 of 8 in 2 spans: 4 ways to share out, C(4, 2) places
    ways = {
        tuple(out_of(line, [(a, a + s), (b + s, b + 5)], LETTERS).inputs.tolist())
        for s in (1, 2, 3, 4)
        for a, b in combinations(range(4), 2)
    }
    assert seen.keys() == ways
    assert len(ways) == 24
    assert all(near(count / n, 1 / 24, n) for count in seen.values())


def test_what_t5_s_paper_shows() -> None:
    words = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    vocabulary = with_sentinels(Vocabulary(tuple(words), (MASK,)), 3)
    spoilt = out_of(torch.arange(10), [(2, 4), (8, 9)], vocabulary)
    read, written = (vocabulary.decode(part) for part in spoilt)
    assert read == "Thank you <extra_id_0> me to your party <extra_id_1> week"
    assert written == "<extra_id_0> for inviting <extra_id_1> last <extra_id_2>"


def test_restoring_leaves_out_what_belongs_to_no_gap() -> None:
    words = with_sentinels(Vocabulary(("a", "b", "c"), (MASK,)), 3)
    for written, line in (
        ("b <extra_id_0> c <extra_id_1>", "a c"),
        ("<extra_id_0> b <extra_id_2> c", "a b"),
        ("<extra_id_1>", "a"),
    ):
        read = words.encode("a <extra_id_0>")
        assert words.decode(restore(read, words.encode(written), words)) == line
