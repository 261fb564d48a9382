"""Prediction: what a trained model answers: filling gaps, top-k guesses, scoring a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.checkpoint import load_model
from cloze.encoder import MaskedLM
from cloze.text import VOCABULARY, TextError, read_line, visible


class Guess(NamedTuple):
    """A character and the probability that the model gives it."""

    character: str
    probability: float


@dataclass(frozen=True)
class Filled:
    """A line with its gaps filled."""

    typed: str
    """The line as the model read it, ``_`` for a gap."""
    text: str
    """The line with every gap filled."""
    guesses: dict[int, list[Guess]]
    """By position of a gap, the best guesses at the moment it was filled, best first."""
    note: str
    """What normalising changed in the line, "" if nothing."""

    def __repr__(self) -> str:
        rows = [self.typed, self.text]
        for position, guesses in sorted(self.guesses.items()):
            shown = ", ".join(f"{visible(g.character)} {g.probability:.2f}" for g in guesses)
            rows.append(f"  position {position}: {shown}")
        if self.note:
            rows.append(f"  ({self.note})")
        return "\n".join(rows)


@lru_cache(maxsize=1)
def shipped_model() -> MaskedLM:
    """Load the model that ships with the series, once."""
    return load_model()


@torch.no_grad()
def distribution(model: MaskedLM, input_ids: Tensor) -> Tensor:
    """Return P(x_i | x̃) at every position of one line.

    Special symbols are never an answer: their probability, which training has made tiny, is
    removed and the rest scaled to sum to 1.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.

    Returns:
        Shape ``(length, n_characters)``.
    """
    logits = model(input_ids[None])[0]
    return logits[:, : VOCABULARY.n_characters].softmax(dim=-1)


def top_k(probabilities: Tensor, k: int = 3) -> list[Guess]:
    """Return the ``k`` likeliest characters of a distribution of shape ``(n_characters,)``.

    Raises:
        ValueError: ``k`` is below 1.
    """
    if k < 1:
        raise ValueError(f"k is the number of guesses to keep, at least 1, not {k}.")
    best = probabilities.topk(min(k, len(probabilities)))
    return [
        Guess(VOCABULARY.symbols[i], p)
        for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def fill(line: str, model: MaskedLM | None = None, *, k: int = 3, at_once: bool = False) -> Filled:
    """Fill the gaps of a line.

    Args:
        line: text with ``_`` or ``[MASK]`` for every missing character.
        model: by default the one that ships with the series.
        k: how many guesses to keep for each gap.
        at_once: True fills all gaps from one look at the line, each without knowing what is put
            into the others. False (the default) fills the gap the model is surest of, looks again
            at the line with that gap closed, and goes on.

    Raises:
        TextError: the line is empty, too long, or has no gap.
        ValueError: ``k`` is below 1.
    """
    model = model or shipped_model()
    input_ids, note = read_line(line, model.config.max_len)
    typed = VOCABULARY.decode(input_ids, gap="_")
    gaps = (input_ids == VOCABULARY.mask_id).nonzero().flatten().tolist()
    if not gaps:
        raise TextError("The line has no gap; put a _ wherever a character is missing.")
    guesses: dict[int, list[Guess]] = {}
    while gaps:
        probabilities = distribution(model, input_ids)
        surest = max(gaps, key=lambda i: float(probabilities[i].max()))
        for position in gaps if at_once else [surest]:
            guesses[position] = top_k(probabilities[position], k)
            input_ids[position] = int(probabilities[position].argmax())
        gaps = [] if at_once else [i for i in gaps if i != surest]
    return Filled(typed, VOCABULARY.decode(input_ids), guesses, note)


def mask_positions(input_ids: Tensor, positions: Iterable[int]) -> Tensor:
    """Return a copy of a line ``(length,)`` with ``[MASK]`` at the given positions."""
    masked = input_ids.clone()
    masked[list(positions)] = VOCABULARY.mask_id
    return masked


@torch.no_grad()
def score(text: str, model: MaskedLM | None = None) -> Tensor:
    """Return −log P of every character of a line with that character alone masked.

    High values are surprises: a typo, a rare word, a name.

    Args:
        text: one line without gaps, at most ``max_len`` characters after normalising.
        model: by default the one that ships with the series.

    Returns:
        Costs in nats, shape ``(length,)``.

    Raises:
        TextError: the line is empty, too long, or has gaps.

    Source: Salazar et al. 2020, Masked Language Model Scoring (pseudo-log-likelihood).
    """
    model = model or shipped_model()
    input_ids, _ = read_line(text, model.config.max_len)
    if (input_ids == VOCABULARY.mask_id).any():
        raise TextError("A text to score has no gaps; fill or remove them first.")
    length = len(input_ids)
    each_alone = input_ids.repeat(length, 1)  # (length, length): one masked position a row
    each_alone.fill_diagonal_(VOCABULARY.mask_id)
    own = torch.eye(length, dtype=torch.bool)
    logits = model.logits_at(each_alone, own)[:, : VOCABULARY.n_characters]
    log_probs = logits.log_softmax(dim=-1)
    return -log_probs.gather(1, input_ids[:, None]).squeeze(1)
