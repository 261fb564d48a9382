"""Masking: what is hidden from the model, and what it has to predict."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cloze.arguments import Count, Ids, Probability, Where, Whole, checked, known_symbols
from cloze.vocabulary import VOCABULARY, Vocabulary

IGNORE = -100
"""The label of a position that is not predicted; torch's ``cross_entropy`` skips it by default."""


class MaskedBatch(NamedTuple):
    """What the model reads and what it is asked."""

    inputs: Tensor
    """The corrupted ids x̃, shape ``(batch, length)``."""
    labels: Tensor
    """The original id at each selected position, −100 elsewhere; shape ``(batch, length)``."""

    @property
    def selected(self) -> Tensor:
        """The set M as a boolean tensor ``(batch, length)``."""
        return self.labels != IGNORE


def number_selected(selected: Tensor) -> int:
    """Return |M|, the number of selected positions.

    Raises:
        ValueError: it is 0, and the mean over nothing would be NaN.
    """
    if not selected.any():
        raise ValueError(
            "No position is selected: every label is -100, so there is nothing to average over."
        )
    return int(selected.sum())


@checked
def mask_tokens(
    input_ids: Ids,
    mask_prob: Probability = 0.15,
    *,
    mask_share: Probability = 0.8,
    random_share: Probability = 0.1,
    vocabulary: Vocabulary = VOCABULARY,
    at_least_one: bool = True,
    generator: torch.Generator | None = None,
) -> MaskedBatch:
    """Select positions to predict and corrupt them by BERT's rule.

    Each ordinary symbol is selected with probability ``mask_prob``, independently. **One**
    uniform number a for each position then decides what becomes of a selected symbol: ``[MASK]`` if
    a < 0.8, a random symbol if 0.8 ≤ a < 0.9, left as it is otherwise. (Two independent draws
    multiply: 10% random first and ``[MASK]`` for 0.9 of the rest gives 81/10/9, as in some
    public versions.)

    At least one position of every batch is selected, so a loss always exists: the position whose
    selection number is the smallest is taken even if no number lies below ``mask_prob``.

    Args:
        input_ids: ids of shape ``(…, length)``; never changed.
        mask_prob: the rate of selection, 0 … 1.
        mask_share: the share of selected positions that become ``[MASK]``.
        random_share: the share that become an ordinary symbol, drawn uniformly from all of them
            (of 28 characters, one in 28 is the original by chance).
        vocabulary: special symbols of it are never selected and never drawn.
        at_least_one: False leaves the selection to chance alone, so that it may be empty: for exact
            probabilities, which take positions to be independent.
        generator: the source of chance; the same generator state gives the same masks.

    Returns:
        ``inputs`` and ``labels``, both with the shape of ``input_ids``.

    Raises:
        ValueError: a rate lies outside 0 … 1, an id has no symbol, or nothing can be selected.

    Source: Devlin et al. 2019, BERT, section 3.1.
    """
    maskable = ordinary(input_ids, vocabulary)  # (…, length), as are all tensors here
    selected = select(maskable, mask_prob, at_least_one=at_least_one, generator=generator)
    return corrupt(
        input_ids,
        selected,
        mask_share=mask_share,
        random_share=random_share,
        vocabulary=vocabulary,
        generator=generator,
    )


@checked
def corrupt(
    input_ids: Ids,
    selected: Where,
    groups: Ids | None = None,
    /,
    *,
    mask_share: Probability = 0.8,
    random_share: Probability = 0.1,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> MaskedBatch:
    """Corrupt selected positions by BERT's rule, and ask about them.

    Args:
        input_ids: ids of shape ``(…, length)``; never changed.
        selected: the set M of ordinary symbols, boolean, of the same shape.
        groups: for each position, the position in its line whose random number it uses, so that a
            whole group is treated alike; by default each position has its own number.
        mask_share: the share of selected positions that become ``[MASK]``.
        random_share: the share that become an ordinary symbol, drawn uniformly from all of them.
        vocabulary: what the ids mean.
        generator: the source of chance.

    Raises:
        ValueError: the shares are more than 1 together, or something else than ordinary symbols is
            selected.
    """
    if mask_share + random_share > 1 + 1e-9:
        raise ValueError(
            "mask_share and random_share are shares of the selected positions: at most 1 together, "
            f"not {mask_share} and {random_share}."
        )
    if (selected & (input_ids >= vocabulary.n_ordinary)).any():
        raise ValueError("Only ordinary symbols are predicted; select no [MASK] or other special.")
    action = torch.rand(input_ids.shape, generator=generator)  # (…, length)
    if groups is not None:
        action = action.gather(-1, groups)  # the number of the group for each of its positions
    random_ids = torch.randint(vocabulary.n_ordinary, input_ids.shape, generator=generator)
    hide = selected & (action < mask_share)
    swap = selected & (action >= mask_share) & (action < mask_share + random_share)

    inputs = input_ids.masked_fill(hide, vocabulary.mask_id)
    inputs = torch.where(swap, random_ids, inputs)  # (…, length)
    labels = input_ids.masked_fill(~selected, IGNORE)  # (…, length)
    return MaskedBatch(inputs, labels)


def select(
    maskable: Tensor,
    rate: float,
    groups: Tensor | None = None,
    *,
    at_least_one: bool = True,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Select each position with probability ``rate``: the set M, boolean.

    Args:
        maskable: where something can be selected, boolean, ``(…, length)``.
        rate: of selection.
        groups: as for :func:`corrupt`: a whole group is selected, or none of it.
        at_least_one: as for :func:`mask_tokens`.
        generator: the source of chance.
    """
    number = torch.rand(maskable.shape, generator=generator)  # (…, length)
    if groups is not None:
        number = number.gather(-1, groups)
    # What is not maskable gets 2, which no uniform number reaches, so it is never the smallest.
    number = number.masked_fill(~maskable, 2.0)
    selected = number < rate
    return selected | (maskable & (number == number.min())) if at_least_one else selected


def ordinary(input_ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Return where ordinary symbols are, boolean ``(…, length)``; only these are ever selected.

    Raises:
        ValueError: there is no ordinary symbol, or an id has no symbol.
    """
    where = known_symbols(input_ids, len(vocabulary)) < vocabulary.n_ordinary
    if not where.any():
        raise ValueError("There is no ordinary symbol in this batch, so nothing to select.")
    return where


def seeded(seed: Whole) -> torch.Generator:
    """Return a source of chance of its own; the same seed gives the same numbers."""
    return torch.Generator().manual_seed(seed)


class StaticMasks:
    """Masks drawn once and then read again and again, as BERT's data were prepared.

    With ``copies`` > 1 each text is masked that many times, and the copies take turns by epoch
    (BERT used 10). Dynamic masking (Liu et al. 2019, RoBERTa) is simply a fresh
    :func:`mask_tokens` call each time.
    """

    @checked
    def __init__(
        self, input_ids: Ids, mask_prob: Probability = 0.15, *, copies: Count = 1, seed: Whole = 0
    ) -> None:
        generator = seeded(seed)
        self._copies = [
            mask_tokens(input_ids, mask_prob, generator=generator) for _ in range(copies)
        ]

    def epoch(self, n: int) -> MaskedBatch:
        """Return the masked batch that epoch ``n`` = 0, 1, … sees."""
        return self._copies[n % len(self._copies)]


@checked
def held_out_batch(
    windows: Ids,
    mask_prob: Probability = 0.15,
    seed: Whole = 0,
    vocabulary: Vocabulary = VOCABULARY,
) -> MaskedBatch:
    """Return held-out windows ``(n, length)`` under the fixed masks of the series.

    Every held-out loss of the series is measured on these masks (15%, 80/10/10, seed 0), so any
    two of its numbers can be compared.
    """
    return mask_tokens(windows, mask_prob, vocabulary=vocabulary, generator=seeded(seed))
