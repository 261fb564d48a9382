"""Shapes of what is hidden: whole words, and spans of several words."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.masking import MaskedBatch, corrupt, ordinary, select
from cloze.vocabulary import VOCABULARY, Vocabulary

LONGEST = 10
"""The most words of a span, as in SpanBERT."""
SURVIVING = [(0.8**k - 0.8**LONGEST) / (1 - 0.8**LONGEST) for k in range(LONGEST)]
"""P(a span has more than k words): each word more makes it rarer by 0.8, up to the longest."""


def mask_words(
    input_ids: Tensor,
    mask_prob: float = 0.15,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
    **shares: float,
) -> MaskedBatch:
    """Select whole words to predict, and corrupt each of them in one way.

    A word is a run of letters; a space or a new line is a word of its own, and so is every symbol
    of a vocabulary of words, for which this is
    :func:`~cloze.masking.mask_tokens`. A word at the edge of a line
    may be cut, and is what is left of it. Each word is selected with probability ``mask_prob``,
    independently of the others, and so is each position. But the positions of one word go together,
    so the rate varies more than that of single characters: over a million characters of English, it
    lies within 0.005 of ``mask_prob``.

    One uniform number per word decides what becomes of it: all of it is ``[MASK]``, or each of its
    characters is random, or it stays. With a number for each letter, one letter left in sight would
    give the word away.

    Arguments, result and errors are those of :func:`mask_tokens`; special symbols part words.

    Source: "whole word masking" of the code of BERT (release of May 2019), which decides for each
    word piece by itself what becomes of it.
    """
    maskable = ordinary(input_ids, vocabulary)
    groups = _run_starts(_letters(input_ids, vocabulary), alone=bool(vocabulary.separator))
    selected = select(maskable, mask_prob, groups, generator=generator)
    return corrupt(
        input_ids, selected, groups, vocabulary=vocabulary, generator=generator, **shares
    )


def mask_spans(
    input_ids: Tensor,
    mask_prob: float = 0.15,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
    **shares: float,
) -> MaskedBatch:
    """Select spans of neighbouring words to predict, and corrupt each of them in one way.

    A span has k = 1, 2, … 10 words with a probability proportional to 0.8ᵏ⁻¹, scaled so that these
    sum to 1. That makes 3.8 words on average, some twenty characters of English. Spans begin where
    a word begins and end where one ends; the space between two words of a span goes with them. Two
    spans that meet become one.

    A line is taken for a piece of a longer text: a span may have begun before it and may end after
    it, so every word of the line is equally likely to be selected. How often spans begin is chosen
    so that the share of selected positions is ``mask_prob`` in expectation. In a single line
    nothing or nearly everything may be selected; over a million characters of English the rate lies
    within 0.01 of ``mask_prob``.

    One uniform number per span decides what becomes of it, as in SpanBERT: all of it is ``[MASK]``,
    or each of its symbols is random, or it stays.

    Arguments, result and errors are those of :func:`mask_tokens`; special symbols part words, and
    there must be a word.

    Source: Joshi et al. 2020, SpanBERT, section 3.1.
    """
    maskable, letters = ordinary(input_ids, vocabulary), _letters(input_ids, vocabulary)
    between_words = maskable & ~letters
    begin = _begin_prob(mask_prob, int(between_words.sum()) / int(maskable.sum()))

    # Words are numbered along the line, after LONGEST others that came before it.
    groups = _run_starts(letters, alone=bool(vocabulary.separator))
    at = torch.arange(input_ids.shape[-1])
    word = (letters & (groups == at)).cumsum(-1) + LONGEST - 1  # (…, length)
    shape = (*input_ids.shape[:-1], input_ids.shape[-1] + LONGEST + 1)
    number = torch.rand(shape, generator=generator)  # (…, words), for each word
    length = torch.rand(shape, generator=generator)
    covered = torch.zeros(shape, dtype=torch.bool)
    for k, share in enumerate(SURVIVING):
        begun = (number < begin) & (length < share)
        covered[..., k:] |= begun[..., : shape[-1] - k]
    here, after = covered.gather(-1, word), covered.gather(-1, word + 1)  # (…, length)
    selected = (letters & here) | (between_words & here & after)
    if not selected.any():
        own = number.gather(-1, word).masked_fill(~letters, 2.0)
        selected = own == own.min()
    return corrupt(
        input_ids,
        selected,
        _run_starts(selected),
        vocabulary=vocabulary,
        generator=generator,
        **shares,
    )


def _letters(input_ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Return where the letters of words are, or the words of a vocabulary of words: boolean."""
    parting = [i for i, symbol in enumerate(vocabulary.ordinary) if symbol.isspace()]
    separators = torch.isin(input_ids, torch.tensor(parting, dtype=torch.int64))
    return (input_ids < vocabulary.n_ordinary) & ~separators


def _run_starts(inside: Tensor, *, alone: bool = False) -> Tensor:
    """For each position, where its run starts; positions outside any run form runs of length one.

    Args:
        inside: boolean, shape ``(…, length)``.
        alone: every position is a run of its own.
    """
    at = torch.arange(inside.shape[-1]).expand(inside.shape)
    if alone:
        return at
    goes_on = inside & F.pad(inside[..., :-1], (1, 0))
    return at.masked_fill(goes_on, 0).cummax(-1).values


def _begin_prob(rate: float, separators: float) -> float:
    """Return the probability b that a span begins at a word, for ``rate`` to be selected.

    A word is left out if none of the spans that begin at it or up to 9 words before it reaches it:
    with probability u = Π (1 − b P(more than k words)). The space between two words is selected if
    both are: with probability 1 − 2u + (1 − b) u, by the same reasoning.

    Args:
        rate: the share of positions to be selected.
        separators: the share of positions that lie between words.
    """

    def selected(begin: float) -> float:
        left_out = math.prod(1 - begin * share for share in SURVIVING)
        return 1 - left_out - separators * begin * left_out

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if selected(middle) < rate else (low, middle)
    return low
