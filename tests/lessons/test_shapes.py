"""Whole words and spans: what a line of them is, the rate on a million positions, the fates."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from cloze.corpus import Corpus, windows
from cloze.lessons.what_to_hide.shapes import mask_spans, mask_words
from cloze.masking import IGNORE, MaskedBatch, corrupt, mask_tokens, seeded
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary

N = 1_000_000
WORDS = Vocabulary(("a", "bank", "dog", "river"), (MASK, BEGIN, END, PAD))
EXTENDED = VOCABULARY.with_specials("[PAD]", "[CLS]")
BOUNDS = {mask_words: 0.005, mask_spans: 0.01}
"""How far the rate over a million characters may be from what was asked, as promised."""

maskers = pytest.mark.parametrize("mask", [mask_words, mask_spans], ids=lambda mask: mask.__name__)


@pytest.fixture(scope="module")
def english() -> Tensor:
    """Return a million characters of English in windows of 64."""
    lines = windows(Corpus.load().train_ids, 64)
    return torch.cat([lines, lines])[: N // 64]


def words_of(line: Tensor, vocabulary: Vocabulary = VOCABULARY) -> list[list[int]]:
    """Return the positions of every word of a line, in plain Python."""
    if vocabulary.separator:
        return [[i] for i, symbol in enumerate(line.tolist()) if symbol < vocabulary.n_ordinary]
    letters = [i < vocabulary.n_ordinary and vocabulary.symbols[i] not in " \n" for i in line]
    runs = groupby(range(len(line)), key=lambda i: letters[i])
    return [list(run) for letter, run in runs if letter]


@maskers
@pytest.mark.parametrize("rate", [0.15, 0.5])
def test_the_rate_is_kept_over_a_million_characters(
    mask: Any, rate: float, english: Tensor
) -> None:
    selected = mask(english, rate, generator=seeded(0)).selected
    assert abs(selected.double().mean().item() - rate) < BOUNDS[mask]


def test_no_place_of_a_line_is_favoured(english: Tensor) -> None:
    """Spans may have begun before the line."""
    letters = (english > 1) & (english < 28)
    selected = mask_spans(english, 0.3, generator=seeded(1)).selected
    shares = (selected & letters).sum(0) / letters.sum(0)
    assert (shares - shares.mean()).abs().max() < 0.03


def test_what_stands_between_words_is_a_word_of_its_own(english: Tensor) -> None:
    selected = mask_words(english, 0.3, generator=seeded(3)).selected
    between = english < 2
    assert abs(selected[between].double().mean().item() - 0.3) < 0.01
    beside = between[:, 1:-1] & selected[:, :-2] & ~selected[:, 2:]
    assert abs(selected[:, 1:-1][beside].double().mean().item() - 0.3) < 0.02  # whatever is beside


def test_spans_begin_and_end_with_words_and_close_what_is_between(english: Tensor) -> None:
    some = english[:400]
    selected = mask_spans(some, 0.3, generator=seeded(4)).selected
    for line, chosen in zip(some.tolist(), selected.tolist(), strict=True):
        for inside, run in groupby(range(64), key=lambda i: chosen[i]):
            places = list(run)
            if inside and places[0] > 0:
                assert line[places[0]] > 1  # a letter
                assert line[places[0] - 1] < 2  # of which nothing stands before
            if inside and places[-1] < 63:
                assert line[places[-1]] > 1
                assert line[places[-1] + 1] < 2
        words = words_of(torch.tensor(line))
        for one, other in pairwise(words):
            between = range(one[-1] + 1, other[0])
            assert all(chosen[i] == (chosen[one[0]] and chosen[other[0]]) for i in between)


def spans(rate: float, length: int = 4000, **kwargs: Any) -> list[int]:
    """Return how many words each span of many long lines of words has, seldom enough not to meet.

    Spans that a line's end cuts are left out.
    """
    lines = torch.zeros(60, length, dtype=torch.int64)
    selected = mask_spans(lines, rate, vocabulary=WORDS, generator=seeded(5), **kwargs).selected
    found = []
    for line in selected.tolist():
        runs = [(inside, len(list(run))) for inside, run in groupby(line)]
        found += [n for inside, n in runs[1:-1] if inside]
    return found


def test_lengths_are_spanberts() -> None:
    """Geometric with p = 0.2, at most 10, 3.8 on average; at this rate 1 in 400 spans meets one."""
    lengths = spans(0.01)
    n = len(lengths)
    assert n > 500
    assert sum(lengths) / n == pytest.approx(3.8, abs=5 * 2.6 / math.sqrt(n))
    counts = Counter(lengths)
    total = 1 - 0.8**10
    for k in (1, 2, 3, 5, 10):
        expected = 0.2 * 0.8 ** (k - 1) / total
        assert counts[k] / n == pytest.approx(expected, abs=5 * math.sqrt(expected / n))
    assert sum(counts[k] for k in counts if k > 10) < 0.02 * n


@maskers
@pytest.mark.parametrize(("hide", "swap"), [(0.8, 0.1), (0.0, 1.0)])
def test_a_word_has_one_fate(mask: Any, hide: float, swap: float, english: Tensor) -> None:
    inputs, labels = mask(english, 0.3, mask_share=hide, random_share=swap, generator=seeded(7))
    selected = labels != IGNORE
    hidden = inputs == VOCABULARY.mask_id
    share = hidden[selected].double().mean().item()
    assert share == pytest.approx(hide, abs=0.02)
    if hide + swap < 1:
        same = (inputs == english)[selected].double().mean().item()
        assert same == pytest.approx(1 - hide - swap + swap / 28, abs=0.02)
    for line, gone, chosen in zip(english[:300], hidden, selected, strict=False):
        for word in words_of(line):
            if chosen[word[0]]:
                assert len({bool(gone[i]) for i in word}) == 1


@given(
    st.sampled_from([mask_words, mask_spans]),
    st.sampled_from([VOCABULARY, EXTENDED, WORDS]),
    st.tuples(st.integers(1, 4), st.integers(1, 30)),
    st.floats(0, 1),
    st.integers(0, 2**31),
)
def test_what_holds_of_every_masked_batch(
    mask: Any, vocabulary: Vocabulary, shape: tuple[int, int], rate: float, seed: int
) -> None:
    original = torch.randint(len(vocabulary), shape, generator=seeded(seed))
    original[0, 0] = 2  # a letter, or a word
    before = original.clone()
    batch = mask(original, rate, vocabulary=vocabulary, generator=seeded(seed))
    inputs, labels = batch
    selected = batch.selected
    assert torch.equal(original, before), "the input was changed"
    assert selected.any(), "nothing is selected"
    assert (labels[selected] == original[selected]).all()
    assert (inputs[~selected] == original[~selected]).all()
    assert not (selected & (original >= vocabulary.n_ordinary)).any()
    shown = inputs[selected]
    assert ((shown < vocabulary.n_ordinary) | (shown == vocabulary.mask_id)).all()
    again = mask(original, rate, vocabulary=vocabulary, generator=seeded(seed))
    assert all(map(torch.equal, batch, again))
    for line, chosen in zip(original, selected, strict=True):
        assert all(len({bool(chosen[i]) for i in w}) == 1 for w in words_of(line, vocabulary))


@maskers
def test_rate_0_selects_one_word_and_rate_1_all(mask: Any) -> None:
    line = VOCABULARY.encode("rain fell on the old umbrella\nall day").repeat(3, 1)
    for seed in range(20):
        selected = mask(line, 0.0, generator=seeded(seed)).selected
        [chosen] = selected[selected.any(1)]
        places = chosen.nonzero().flatten().tolist()
        assert places in words_of(line[0]) or (mask is mask_words and len(places) == 1)
        assert mask(line, 1.0, generator=seeded(seed)).selected.all()


def test_in_a_vocabulary_of_words_a_word_is_a_symbol() -> None:
    lines = torch.randint(4, (50, 12), generator=seeded(8))
    one, other = (
        mask(lines, 0.3, vocabulary=WORDS, generator=seeded(9))
        for mask in (mask_tokens, mask_words)
    )
    assert all(map(torch.equal, one, other))


def test_without_a_word_there_is_no_span() -> None:
    with pytest.raises(ValueError, match="There is no word in this batch"):
        mask_spans(VOCABULARY.encode(" \n "))


def test_a_selection_of_ones_own_is_corrupted_by_the_same_rule() -> None:
    line = VOCABULARY.encode("rain fell on the old umbrella").repeat(2, 1)
    tokens = mask_tokens(line, 0.4, generator=seeded(12))
    source = seeded(12)
    torch.rand(line.shape, generator=source)  # the numbers that selected
    assert all(map(torch.equal, tokens, corrupt(line, tokens.selected, generator=source)))
    hidden = corrupt(line, line > 20, mask_share=1.0, random_share=0.0)
    assert isinstance(hidden, MaskedBatch)
    assert torch.equal(hidden.inputs == 28, line > 20)
    with pytest.raises(ValueError, match="Only ordinary symbols"):
        corrupt(line.masked_fill(line > 20, 28), line > 20)
