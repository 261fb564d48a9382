"""Masking: shares on a million positions, and properties that hold for every shape and rate."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from cloze.masking import IGNORE, MaskedBatch, StaticMasks, mask_tokens
from cloze.vocabulary import VOCABULARY, Vocabulary

N = 1_000_000
SIGMAS = 5
"""An honest count is further away than this once in 1.7 million."""

EXTENDED = VOCABULARY.with_specials("[PAD]", "[CLS]", "<extra_0>")


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def million(seed: int = 1) -> Tensor:
    return torch.randint(28, (N,), generator=seeded(seed)).view(-1, 50)


def sigmas(count: int, n: int, p: float) -> float:
    """Return how far a binomial count lies from its mean, in standard deviations."""
    return (count - n * p) / math.sqrt(n * p * (1 - p))


@pytest.mark.parametrize("rate", [0.15, 0.8])
def test_80_10_10_of_the_selected(rate: float) -> None:
    original = million()
    inputs, labels = mask_tokens(original, rate, generator=seeded())
    selected = labels != IGNORE
    n, hidden = int(selected.sum()), int((inputs[selected] == VOCABULARY.mask_id).sum())
    same = int((inputs[selected] == original[selected]).sum())
    for count, of, share in (
        (n, N, rate),
        (hidden, n, 0.8),
        (n - hidden - same, n, 0.1 * 27 / 28),  # a random character is the original once in 28
    ):
        assert abs(sigmas(count, of, share)) < SIGMAS


# ── For every shape, rate and input ──────────────────────────────────────────────────────────────

shapes = st.one_of(
    st.tuples(st.integers(1, 70)),
    st.tuples(st.integers(1, 5), st.integers(1, 20)),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5)),
)
rates = st.floats(0, 1)
seeds = st.integers(0, 2**31)
shares = st.tuples(rates, rates).map(lambda s: (s[0], (1 - s[0]) * s[1]))
vocabularies = st.sampled_from(
    [VOCABULARY, EXTENDED, Vocabulary(ordinary="ab", specials=("[MASK]", "[PAD]"))]
)


@given(shapes, rates, shares, seeds, vocabularies)
def test_what_holds_of_every_masked_batch(
    shape: tuple[int, ...],
    rate: float,
    hide_and_swap: tuple[float, float],
    seed: int,
    vocabulary: Vocabulary,
) -> None:
    original = torch.randint(len(vocabulary), shape, generator=seeded(seed))
    original.view(-1)[0] = 0  # at least one ordinary character
    before = original.clone()
    hide, swap = hide_and_swap

    def mask() -> MaskedBatch:
        return mask_tokens(
            original,
            rate,
            mask_share=hide,
            random_share=swap,
            vocabulary=vocabulary,
            generator=seeded(seed),
        )

    batch = mask()
    inputs, labels = batch
    assert torch.equal(original, before), "the input was changed"
    assert inputs.shape == labels.shape == original.shape
    assert inputs.dtype == labels.dtype == torch.int64
    assert inputs.data_ptr() != original.data_ptr()
    selected = batch.selected
    assert selected.any(), "nothing is selected"
    assert (labels[selected] == original[selected]).all()
    assert (labels[~selected] == IGNORE).all()
    assert (inputs[~selected] == original[~selected]).all()
    special = original >= vocabulary.n_ordinary
    assert not (selected & special).any(), "a special symbol was selected"
    shown = inputs[selected]
    assert ((shown < vocabulary.n_ordinary) | (shown == vocabulary.mask_id)).all()
    again = mask()
    assert torch.equal(inputs, again.inputs)
    assert torch.equal(labels, again.labels)
    assert torch.equal(torch.where(selected, labels, inputs), original)


@given(shapes, seeds)
def test_rate_0_selects_one_position_and_rate_1_all(shape: tuple[int, ...], seed: int) -> None:
    original = torch.randint(28, shape, generator=seeded(seed))
    assert mask_tokens(original, 0.0, generator=seeded(seed)).selected.sum() == 1
    assert mask_tokens(original, 1.0, generator=seeded(seed)).selected.all()


def test_the_forced_position_is_fair() -> None:
    """At a rate of 0 the one selected position is every position equally often."""
    source = seeded()
    hits = torch.zeros(4)
    for _ in range(2000):
        hits += mask_tokens(torch.zeros(4, dtype=torch.int64), 0.0, generator=source).selected
    assert all(abs(sigmas(int(count), 2000, 0.25)) < SIGMAS for count in hits)


# ── Static and dynamic ───────────────────────────────────────────────────────────────────────────


def test_static_masks_take_turns_and_stay() -> None:
    masks = StaticMasks(million()[:100], copies=3, seed=5)
    seen = [masks.epoch(n).inputs for n in range(7)]
    for n in range(4):
        assert torch.equal(seen[n], seen[n + 3])
    assert not torch.equal(seen[0], seen[1])
    assert not torch.equal(seen[1], seen[2])
    again = StaticMasks(million()[:100], copies=3, seed=5)
    assert torch.equal(seen[2], again.epoch(2).inputs)
    assert not torch.equal(seen[0], StaticMasks(million()[:100], seed=6).epoch(0).inputs)


# ── Errors ───────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_be_masked_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to select"):
        mask_tokens(torch.tensor([28, 29, 31]), vocabulary=EXTENDED)
    with pytest.raises(ValueError, match=r"at most 1 together, not 0\.8 and 0\.3\.$"):
        mask_tokens(torch.zeros(3, dtype=torch.int64), mask_share=0.8, random_share=0.3)
