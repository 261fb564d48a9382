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
from cloze.masking import IGNORE, corrupt, mask_tokens, seeded
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary

N = 1_000_000
WORDS = Vocabulary(("a", "bank", "dog", "river"), (MASK, BEGIN, END, PAD))
EXTENDED = VOCABULARY.with_specials("[PAD]", "[CLS]")

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
def test_the_rate_is_kept_over_a_million_characters(mask: Any, english: Tensor) -> None:
    """As promised: within 0.005 for words, 0.01 for spans."""
    selected = mask(english, 0.5, generator=seeded(0)).selected
    assert abs(selected.double().mean().item() - 0.5) < (0.005 if mask is mask_words else 0.01)


def test_no_place_of_a_line_is_favoured(english: Tensor) -> None:
    """Spans may have begun before the line."""
    letters = (english > 1) & (english < 28)
    selected = mask_spans(english, 0.3, generator=seeded(1)).selected
    shares = (selected & letters).sum(0) / letters.sum(0)
    assert (shares - shares.mean()).abs().max() < 0.03


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


def test_lengths_are_spanberts() -> None:
    """Geometric with p = 0.2, at most 10, 3.8 on average; at this rate 1 in 400 spans meets one."""
    lines = torch.zeros(60, 4000, dtype=torch.int64)
    lengths = []
    for line in mask_spans(lines, 0.01, vocabulary=WORDS, generator=seeded(5)).selected.tolist():
        runs = [(inside, len(list(run))) for inside, run in groupby(line)]
        lengths += [n for inside, n in runs[1:-1] if inside]  # a line's end may cut others
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
def test_a_word_has_one_fate(mask: Any, english: Tensor) -> None:
    inputs, labels = mask(english, 0.3, generator=seeded(7))
    selected = labels != IGNORE
    hidden = inputs == VOCABULARY.mask_id
    assert hidden[selected].double().mean().item() == pytest.approx(0.8, abs=0.02)
    same = (inputs == english)[selected].double().mean().item()
    assert same == pytest.approx(0.1 + 0.1 / 28, abs=0.02)
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


def test_only_ordinary_symbols_are_corrupted() -> None:
    line = VOCABULARY.encode("rain fell on the old umbrella")
    with pytest.raises(ValueError, match="Only ordinary symbols"):
        corrupt(line.masked_fill(line > 20, 28), line > 20)
