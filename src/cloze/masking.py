"""Masking: what is hidden from the model, and what it has to predict."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cloze import arguments
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


def mask_tokens(
    input_ids: Tensor,
    mask_prob: float = 0.15,
    *,
    mask_share: float = 0.8,
    random_share: float = 0.1,
    vocabulary: Vocabulary = VOCABULARY,
    at_least_one: bool = True,
    generator: torch.Generator | None = None,
) -> MaskedBatch:
    """Select positions to predict and corrupt them by BERT's rule.

    Each ordinary symbol is selected with probability ``mask_prob``, independently. **One**
    uniform number a per position then says what becomes of a selected one: ``[MASK]`` if
    a < 0.8, a random symbol if 0.8 ≤ a < 0.9, left as it is otherwise. (Two independent draws
    multiply: 10 % random first and ``[MASK]`` for 0.9 of the rest gives 81/10/9, as in some
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
        ValueError: a rate outside 0 … 1, ids that are none, or nothing can be selected.

    Source: Devlin et al. 2019, BERT, section 3.1.
    """
    mask_prob = arguments.probability(mask_prob, "mask_prob")
    mask_share = arguments.probability(mask_share, "mask_share")
    random_share = arguments.probability(random_share, "random_share")
    if mask_share + random_share > 1 + 1e-9:
        raise ValueError(
            "mask_share and random_share are shares of the selected positions: at most 1 together, "
            f"not {mask_share} and {random_share}."
        )
    arguments.token_ids(input_ids, len(arguments.of_type(vocabulary, Vocabulary, "vocabulary")))
    if generator is not None:
        arguments.of_type(generator, torch.Generator, "generator")
    maskable = input_ids < vocabulary.n_ordinary
    if not maskable.any():
        raise ValueError("There is no ordinary symbol in this batch, so nothing to select.")

    # Special symbols get 2, a number that no uniform draw reaches, so they are never the smallest.
    chance = torch.rand(input_ids.shape, generator=generator).masked_fill(~maskable, 2.0)
    selected = chance < mask_prob
    if arguments.of_type(at_least_one, bool, "at_least_one"):
        selected = selected | (maskable & (chance == chance.min()))

    action = torch.rand(input_ids.shape, generator=generator)
    random_ids = torch.randint(vocabulary.n_ordinary, input_ids.shape, generator=generator)
    hide = selected & (action < mask_share)
    swap = selected & (action >= mask_share) & (action < mask_share + random_share)

    inputs = input_ids.masked_fill(hide, vocabulary.mask_id)
    inputs = torch.where(swap, random_ids, inputs)
    labels = input_ids.masked_fill(~selected, IGNORE)
    return MaskedBatch(inputs, labels)


def checked(batch: MaskedBatch) -> MaskedBatch:
    """Return windows that were masked, as :func:`held_out_batch` makes them.

    Raises:
        ValueError: they are none, or do not fit together, or nothing is selected.
    """
    inputs, labels = arguments.of_type(batch, MaskedBatch, "held_out")
    arguments.token_ids(inputs, dim=2)
    if (
        not isinstance(labels, Tensor)
        or labels.dtype != torch.int64
        or labels.shape != inputs.shape
    ):
        raise ValueError(
            f"Labels are a tensor of int64 and shape {tuple(inputs.shape)}, not "
            f"{arguments.shown(labels)}."
        )
    if not batch.selected.any():
        raise ValueError("No position is selected, so there is no loss: mask some first.")
    return batch


def seeded(seed: int) -> torch.Generator:
    """Return a source of chance of its own; the same seed gives the same numbers.

    Raises:
        ValueError: the seed is no whole number, or is negative.
    """
    return torch.Generator().manual_seed(arguments.whole_number(seed, 0, None, "The seed"))


class StaticMasks:
    """Masks drawn once and then read again and again, as BERT's data were prepared.

    With ``copies`` > 1 each text is masked that many times, and the copies take turns by epoch
    (BERT used 10). Dynamic masking (Liu et al. 2019, RoBERTa) is simply a fresh
    :func:`mask_tokens` call each time.
    """

    def __init__(
        self, input_ids: Tensor, mask_prob: float = 0.15, *, copies: int = 1, seed: int = 0
    ) -> None:
        copies = arguments.whole_number(copies, 1, 1000, "The number of copies")
        generator = seeded(seed)
        self._copies = [
            mask_tokens(input_ids, mask_prob, generator=generator) for _ in range(copies)
        ]

    def epoch(self, n: int) -> MaskedBatch:
        """Return the masked batch that epoch ``n`` = 0, 1, … sees."""
        return self._copies[arguments.whole_number(n, 0, None, "The epoch") % len(self._copies)]


def held_out_batch(
    windows: Tensor,
    mask_prob: float = 0.15,
    seed: int = 0,
    vocabulary: Vocabulary = VOCABULARY,
) -> MaskedBatch:
    """Return held-out windows ``(n, length)`` under the fixed masks of the series.

    Every held-out loss of the series is measured on these masks (15 %, 80/10/10, seed 0), so any
    two of its numbers can be compared.
    """
    return mask_tokens(windows, mask_prob, vocabulary=vocabulary, generator=seeded(seed))


MASKED, RANDOM, KEPT = "M", "R", "K"
"""What becomes of a selected position: ``[MASK]``, a random character, itself."""
PROMISED = {MASKED: 0.8, RANDOM: 0.1, KEPT: 0.1}
"""The share of the selected positions that each fate should meet."""


class Draw(NamedTuple):
    """Some lines, masked."""

    inputs: Tensor
    """What the model reads, ``(lines, length)``."""
    fates: dict[str, Tensor]
    """By fate, where it happened: boolean, ``(lines, length)``."""

    @property
    def counts(self) -> dict[str, int]:
        """How many positions met each fate."""
        return {fate: int(where.sum()) for fate, where in self.fates.items()}


def draw_masks(input_ids: Tensor, generator: torch.Generator, mask_prob: float = 0.15) -> Draw:
    """Mask lines of shape ``(lines, length)`` with ``mask_tokens``, and tell the fates apart.

    A random character may be the original by chance, and then nothing that the model reads shows
    that it was swapped. So the same numbers are used a second time, with ``[MASK]`` for the swapped
    ones as well: what is hidden only then is random.

    Raises:
        ValueError: as :func:`mask_tokens`; or there is no generator.
    """
    again = arguments.of_type(generator, torch.Generator, "generator").clone_state()
    inputs, labels = mask_tokens(input_ids, mask_prob, generator=generator)
    either = PROMISED[MASKED] + PROMISED[RANDOM]
    corrupted = mask_tokens(
        input_ids, mask_prob, mask_share=either, random_share=0, generator=again
    ).inputs
    selected = labels >= 0
    masked = selected & (inputs == VOCABULARY.mask_id)
    random = selected & (corrupted == VOCABULARY.mask_id) & ~masked
    return Draw(inputs, {MASKED: masked, RANDOM: random, KEPT: selected & ~masked & ~random})
