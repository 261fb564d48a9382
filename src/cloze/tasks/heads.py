"""Heads for labels, on top of a pretrained encoder."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cloze.arguments import Count, Lines, NotNaN, Selected, checked, known_symbols
from cloze.encoder import Encoder
from cloze.vocabulary import Vocabulary

Pooling = Literal["first", "mean"]
StartsAndEnds = Float[Tensor, "batch 2 length"]
SpanLogits = Annotated[StartsAndEnds, NotNaN]
"""Of the start and the end of a span at each position."""
BatchStates = Float[Tensor, "batch length d_model"]
"""Hidden states of several texts, position by position."""


class FineTuned(nn.Module):
    """A copy of a pretrained encoder with a new head, initialised at random.

    Args:
        encoder: the pretrained one, which stays as it is; its copy is trained.
        vocabulary: its symbols; no position attends to ``[PAD]``.
        n_outputs: how many numbers the head computes from a hidden state.

    Raises:
        ValueError: the encoder knows fewer symbols than the vocabulary.
    """

    @checked
    def __init__(self, encoder: Encoder, vocabulary: Vocabulary, n_outputs: Count) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        if encoder.config.vocab_size < len(vocabulary):
            raise ValueError(
                f"The encoder knows {encoder.config.vocab_size} symbols and the vocabulary has "
                f"{len(vocabulary)}; widen it with encoder.add_symbols(count)."
            )
        self.encoder = deepcopy(encoder).requires_grad_(True)
        self.head = nn.Linear(encoder.config.d_model, n_outputs)

    @checked
    def states(self, input_ids: Lines) -> tuple[Tensor, Tensor]:
        """Return hidden states ``(batch, length, d_model)`` and where padding is.

        Raises:
            ValueError: an id is out of range, or a line holds nothing but ``[PAD]``.
        """
        known_symbols(input_ids, self.encoder.config.vocab_size)
        pad_id = self.vocabulary.pad_id
        padding = input_ids == (-1 if pad_id is None else pad_id)
        no_line_is_all(padding)
        return self.encoder(input_ids, padding), padding


class TextClassifier(FineTuned):
    """One answer per line: softmax(W h), where h stands for the whole line.

    Args:
        encoder: the pretrained one.
        vocabulary: its symbols.
        n_labels: K, how many answers there are.
        pooling: where h comes from: "first" takes the state at the first position, BERT's
            ``[CLS]`` (in a small world ``[BEGIN]`` stands there); "mean" that of all positions
            that are not padding.
    """

    @checked
    def __init__(
        self, encoder: Encoder, vocabulary: Vocabulary, n_labels: Count, pooling: Pooling = "mean"
    ) -> None:
        super().__init__(encoder, vocabulary, n_labels)
        self.pooling = pooling

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits ``(batch, K)`` for ids ``(batch, length)``."""
        states, padding = self.states(input_ids)
        return self.head(states[:, 0] if self.pooling == "first" else mean_pool(states, padding))


def no_line_is_all(padding: Tensor | None) -> None:
    """Raise ``ValueError`` if a line is all padding."""
    if padding is not None and padding.all(1).any():
        raise ValueError("A line is all padding; leave empty lines out.")


@checked
def mean_pool(states: BatchStates, padding: Selected) -> Tensor:
    """Average hidden states over the positions without padding.

    Args:
        states: shape ``(batch, length, d_model)``.
        padding: True where there is padding, shape ``(batch, length)``.

    Returns:
        Shape ``(batch, d_model)``.
    """
    real = ~padding[..., None]
    return (states * real).sum(1) / real.sum(1)


class TokenClassifier(FineTuned):
    """One answer per position, as for parts of speech and names (``n_labels`` is K)."""

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits ``(batch, length, K)`` for ids ``(batch, length)``."""
        return self.head(self.states(input_ids)[0])


class SpanExtractor(FineTuned):
    """Where an answer begins and where it ends (Devlin et al. 2019, section 4.2)."""

    def __init__(self, encoder: Encoder, vocabulary: Vocabulary) -> None:
        super().__init__(encoder, vocabulary, 2)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return the logits of start and end at each position: ``(batch, 2, length)``.

        At padding they are −∞.
        """
        states, padding = self.states(input_ids)
        logits = self.head(states).transpose(1, 2)
        return logits.masked_fill(padding[:, None], float("-inf"))


@checked
def best_span(logits: SpanLogits, allowed: Selected | None = None) -> Tensor:
    """Return the start and the end with the greatest sum of logits, the start not after the end.

    Args:
        logits: of start and end, shape ``(batch, 2, length)``.
        allowed: where a span may begin and end, shape ``(batch, length)``; None for everywhere.

    Returns:
        Positions, shape ``(batch, 2)``; the end belongs to the span.

    Raises:
        ValueError: nowhere in a line is allowed.
    """
    if allowed is not None:
        logits = logits.masked_fill(~allowed[:, None], float("-inf"))
    start, end = logits.unbind(1)
    length = logits.shape[2]
    sums = start[:, :, None] + end[:, None, :]
    sums = sums.masked_fill(~torch.ones(length, length, dtype=torch.bool).triu(), float("-inf"))
    best, at = sums.flatten(1).max(1)
    if best.isneginf().any():
        raise ValueError("A line has no position where a span may stand; allow at least one.")
    return torch.stack([at // length, at % length], dim=1)
