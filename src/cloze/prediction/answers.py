"""Answers: a model and a line of ids go in, and for every gap a distribution comes out.

An :class:`Answer` also has −log P of the truth, which is what the model pays. Two gaps together,
the surprise of every symbol, and what an answer depends on follow from that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.arguments import (
    Choice,
    Count,
    Line,
    Lines,
    Positions,
    Probabilities,
    checked,
    known_symbols,
    positions,
    shown,
    whole_number,
)
from cloze.heads import MaskedLM, Model, log_probs_at
from cloze.vocabulary import VOCABULARY, Vocabulary


class Guess(NamedTuple):
    """A symbol and the probability that the model gives it."""

    character: str
    probability: float


@checked
def top_k(
    probabilities: Probabilities, k: Count = 3, known: Sequence[str] = VOCABULARY.ordinary
) -> list[Guess]:
    """Return the ``k`` likeliest symbols of a distribution.

    Args:
        probabilities: shape ``(n_ordinary,)``.
        k: how many.
        known: the symbols, in the order of the probabilities.

    Raises:
        ValueError: ``k`` is below 1, or there is not one number from 0 to 1 for each symbol.
    """
    if probabilities.shape != (len(known),):
        raise ValueError(
            f"A distribution holds a probability for each of the {len(known)} symbols, shape "
            f"({len(known)},), not {shown(probabilities)}."
        )
    best = probabilities.topk(min(k, len(known)))
    return [
        Guess(known[i], p) for p, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Answer:
    """What one model answers at the gaps of one line."""

    positions: tuple[int, ...]
    """The gaps, ascending."""
    probabilities: Tensor
    """P(x_i | x̃), shape ``(|M|, n_ordinary)``."""
    costs: Tensor
    """−log P of the truth in nats, shape ``(|M|,)``: infinite where it is ruled out, NaN where it
    is not known."""

    def __getitem__(self, position: int) -> Tensor:
        """Return the distribution at a gap, shape ``(n_ordinary,)``."""
        return self.probabilities[self._row(position)]

    def cost(self, position: int) -> float | None:
        """Return −log P of the truth at a gap in nats; None when it is not known."""
        cost = float(self.costs[self._row(position)])
        return None if math.isnan(cost) else cost

    def _row(self, position: int) -> int:
        if position not in self.positions:
            masked = ", ".join(map(str, self.positions)) or "none"
            raise ValueError(f"Position {position} is not masked; what is masked: {masked}.")
        return self.positions.index(position)

    @property
    def known_costs(self) -> list[float]:
        """−log P of the truth in nats, where it is known."""
        return [cost for cost in self.costs.tolist() if not math.isnan(cost)]

    @property
    def loss(self) -> float | None:
        """L / |M|: the mean cost of the known truths in nats; None when there is none."""
        costs = self.known_costs
        return sum(costs) / len(costs) if costs else None


@checked
def mask_positions(
    input_ids: Line, masked: Positions, vocabulary: Vocabulary = VOCABULARY
) -> Tensor:
    """Return a copy of a line ``(length,)`` with ``[MASK]`` at the given positions.

    Raises:
        ValueError: a position lies outside the line.
    """
    hidden = known_symbols(input_ids, len(vocabulary)).clone()
    hidden[positions(masked, len(input_ids))] = vocabulary.mask_id
    return hidden


@checked
def distribution(model: Model, input_ids: Line) -> Tensor:
    """Return P(x_i | x̃) at every position of one line, special symbols left out.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.

    Returns:
        Shape ``(length, n_ordinary)``.

    Raises:
        ValueError: this is no line of ids, or a longer one than the model reads.
    """
    known_symbols(input_ids, len(model.vocabulary))
    everywhere = torch.ones_like(input_ids, dtype=torch.bool)
    return log_probs_at(model, input_ids[None], everywhere[None]).exp()


@checked
def visible_costs(model: Model, lines: Lines) -> Tensor:
    """Return −log P of every symbol of ordinary lines ``(n, length)``, none of which is hidden.

    A high cost says that the model doubts what it reads.

    Returns:
        Costs in nats, shape ``(n, length)``.

    Raises:
        ValueError: these are no lines of ordinary symbols, or longer ones than the model reads.
    """
    known_symbols(lines, model.vocabulary.n_ordinary)
    log_probs = log_probs_at(model, lines, torch.ones_like(lines, dtype=torch.bool))
    return -log_probs.gather(1, lines.reshape(-1, 1)).view(lines.shape)


@checked
def predict(model: Model, input_ids: Line, masked: Positions) -> Answer:
    """Mask positions of a line and let a model guess them, all from one look.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions to hide. Real gaps are always among them.

    Raises:
        ValueError: a position lies outside the line, or the model cannot read the line.
    """
    hidden = mask_positions(input_ids, masked, model.vocabulary)
    gaps = hidden == model.vocabulary.mask_id
    log_probs = log_probs_at(model, hidden[None], gaps[None])
    truth = input_ids[gaps]
    known = truth < model.vocabulary.n_ordinary
    costs = 0.0 - log_probs.gather(1, truth.where(known, 0)[:, None]).squeeze(1)  # never −0
    return Answer(
        tuple(gaps.nonzero().flatten().tolist()), log_probs.exp(), costs.where(known, torch.nan)
    )


@checked
def joint(
    model: Model, input_ids: Line, first: int, second: int, *, likely: Choice | None = None
) -> Tensor:
    """Guess two gaps together: P(a, b | x̃) = P(a | x̃) · P(b | x̃ with a filled in).

    ``predict`` guesses every gap without knowing what the others hold; the product of its two
    distributions is what the joint guess would be if the gaps had nothing to do with each other.
    Filling the second gap first need not give the same table: nothing in training makes the two
    agree.

    Args:
        model: any model.
        input_ids: shape ``(length,)``, with whatever other gaps it has.
        first: the position of a.
        second: the position of b.
        likely: the ids that a may be; by default every ordinary one. The model reads the line once
            for each.

    Returns:
        Row a, column b: shape ``(n_ordinary, n_ordinary)``, or ``(likely, n_ordinary)``.

    Raises:
        ValueError: the two are one, or one lies outside the line.
    """
    first, second = positions([first, second], len(input_ids))
    if first == second:
        raise ValueError(f"A joint guess is about two gaps, and both of these are at {first}.")
    held = torch.arange(model.vocabulary.n_ordinary) if likely is None else likely
    masked = mask_positions(input_ids, [first, second], model.vocabulary)
    filled = masked.repeat(len(held), 1)  # one row for each symbol that the first gap may hold
    filled[:, first] = held
    given_first = log_probs_at(model, filled, _only(filled, second)).exp()
    return log_probs_at(model, masked[None], _only(masked[None], first)).exp().T[held] * given_first


def _only(lines: Tensor, at: int | Tensor) -> Tensor:
    """Select one position of each line: the same in all, or one for each."""
    selected = torch.zeros_like(lines, dtype=torch.bool)
    selected[torch.arange(len(lines)), at] = True
    return selected


def surprise(model: Model, input_ids: Line, also: Tensor | None = None) -> Tensor:
    """Return −log P of each ordinary symbol of a line ``(length,)`` when it is masked.

    Args:
        model: any model.
        input_ids: shape ``(length,)``.
        also: what is masked together with each symbol (row): boolean, ``(length, length)``; by
            default nothing.

    Returns:
        Costs in nats, shape ``(ordinary symbols of the line,)``.
    """
    vocabulary = model.vocabulary
    at = (known_symbols(input_ids, len(vocabulary)) < vocabulary.n_ordinary).nonzero().flatten()
    each_alone = input_ids.repeat(len(at), 1)  # one masked position per row
    own = _only(each_alone, at)
    hidden = own if also is None else own | also[at]
    log_probs = log_probs_at(model, each_alone.masked_fill(hidden, vocabulary.mask_id), own)
    return -log_probs.gather(1, input_ids[at, None]).squeeze(1)


def occlusion(model: Model, input_ids: Line, masked: Positions, position: int) -> Tensor:
    """Return how the answer at a gap changes when each other symbol is hidden as well.

    Args:
        model: any model.
        input_ids: the line as it is in truth, shape ``(length,)``; ``[MASK]`` where even the truth
            is a gap.
        masked: the positions that are hidden. Real gaps are always among them.
        position: one of them.

    Returns:
        In nats, shape ``(length,)``: the rise of −log P of the truth, below 0 where the symbol
        misled. If the truth is unknown or ruled out, the divergence of the answer from the one
        without the symbol. 0 at what is hidden or special.

    Raises:
        ValueError: a position lies outside the line.

    Source: Zeiler and Fergus 2014, Visualizing and Understanding Convolutional Networks (for words
    Li et al. 2016, Understanding Neural Networks through Representation Erasure).
    """
    n, mask_id = model.vocabulary.n_ordinary, model.vocabulary.mask_id
    hidden = mask_positions(input_ids, masked, model.vocabulary)
    # Row i hides i as well; where i is hidden anyway, or special, it is the line itself.
    each = hidden.repeat(len(hidden), 1)
    each.diagonal()[hidden < n] = mask_id
    after = log_probs_at(model, each, _only(each, position))
    before, truth = after[position], input_ids[position]
    if truth < n and before[truth].isfinite():
        return before[truth] - after[:, truth]
    p = before.exp()
    return torch.where(p > 0, p * (before - after), 0.0).sum(dim=-1)


@checked
def attention_from(
    model: MaskedLM, input_ids: Line, position: int, layer: int, head: int
) -> Tensor:
    """Return where one head looks from one position: weights that sum to 1, shape ``(length,)``.

    Args:
        model: one of ours.
        input_ids: shape ``(length,)``.
        position: where the head looks from.
        layer: from 0.
        head: from 0.

    Raises:
        ValueError: there is no such position, layer or head.
    """
    known_symbols(input_ids, len(model.vocabulary))
    (position,) = positions([position], len(input_ids))
    layer = whole_number(layer, 0, model.config.n_layers - 1, "A layer of this model")
    head = whole_number(head, 0, model.config.n_heads - 1, "A head of this model")
    return model.encoder.attention_weights(input_ids[None])[layer, 0, head, position]
