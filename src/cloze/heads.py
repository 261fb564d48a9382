"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from copy import deepcopy
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from cloze import arguments
from cloze.encoder import Encoder, EncoderConfig, Past
from cloze.vocabulary import END, VOCABULARY, Vocabulary


class MaskedLM(nn.Module):
    """An encoder with the head that predicts the symbol at every position.

    Args:
        config: the shape of the encoder.
        vocabulary: what its ids mean; nobody looks at a ``[PAD]`` of it.
    """

    objective: ClassVar[str] = "masked"
    """The name of the objective that trains such a model, under which a checkpoint remembers it."""

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.encoder = Encoder(config)
        self.config = self.encoder.config
        self.head = nn.Linear(self.config.d_model, self.config.vocab_size)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        if padding_mask is None:
            padding_mask = self._padding(input_ids)
        return self.head(self.encoder(input_ids, padding_mask))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``.

        Args:
            input_ids: shape ``(batch, length)``.
            selected: boolean, shape ``(batch, length)``.
        """
        return self.head(self.encoder(input_ids, self._padding(input_ids), selected))

    def _padding(self, input_ids: Tensor) -> Tensor | None:
        pad_id = self.vocabulary.pad_id
        return None if pad_id is None else input_ids == pad_id


class CausalLM(MaskedLM):
    """An encoder that predicts the symbol at every position from what is left of it, and no more.

    Attention reaches to the left only, and the line is read one place late: at position i stands
    x_{i−1}, and ``[MASK]`` in front of all, for nothing is known yet. So the answer at position i
    is about x_i, as a :class:`MaskedLM`'s is, and the first symbol has one, too. What no text goes
    on with, such as ``[MASK]``, has the logit −∞; padding stands at the right, where nobody looks.

    Raises:
        ValueError: the config's ``direction`` is not "left".
    """

    objective = "causal"
    never: Tensor

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__(EncoderConfig(direction="left") if config is None else config, vocabulary)
        if self.config.direction != "left":
            raise ValueError(
                "A causal model looks to the left only, or it would see what it is asked: its "
                f"config has direction='left', not {self.config.direction!r}."
            )
        follows = [*vocabulary.ordinary, *({END} & set(vocabulary.specials))]
        never = torch.ones(self.config.vocab_size, dtype=torch.bool)
        never[[vocabulary.ids[symbol] for symbol in follows]] = False
        self.register_buffer("never", never, persistent=False)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        return self._answers(self.encoder(self.one_place_late(input_ids)))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``."""
        return self._answers(self.encoder(self.one_place_late(input_ids), selected=selected))

    def extend(self, read: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Read on from where another call stopped, without reading what came before again.

        Args:
            read: what is read next, shape ``(batch, length)``; ``[MASK]`` comes first of all.
            past: what the earlier call returned; None at the beginning.

        Returns:
            The logits of the symbol that follows each one read, ``(batch, length, |V|)``, and what
            the next call needs.
        """
        states, past = self.encoder.extend(read, past)
        return self._answers(states), past

    def one_place_late(self, input_ids: Tensor) -> Tensor:
        """Return what is read: lines ``(batch, length)`` moved to the right behind ``[MASK]``."""
        front = torch.full_like(input_ids[:, :1], self.vocabulary.mask_id)
        return torch.cat([front, input_ids[:, :-1]], dim=1)

    def _answers(self, states: Tensor) -> Tensor:
        return self.head(states).masked_fill(self.never, float("-inf"))


HEADS: dict[str, type[MaskedLM]] = {head.objective: head for head in (MaskedLM, CausalLM)}
"""Every kind of model, by the objective that trains it."""


Pooling = Literal["first", "mean"]


class FineTuned(nn.Module):
    """A copy of a pretrained encoder with a new head, which begins at random.

    Args:
        encoder: what was pretrained; it stays as it is, the copy can be trained.
        vocabulary: what its ids mean; nobody looks at a ``[PAD]`` of it.
        n_outputs: how many numbers the head makes of a hidden state.

    Raises:
        ValueError: the encoder knows fewer symbols than the vocabulary.
    """

    def __init__(self, encoder: Encoder, vocabulary: Vocabulary, n_outputs: int) -> None:
        super().__init__()
        arguments.of_type(encoder, Encoder, "What a head is put on")
        self.vocabulary = arguments.of_type(vocabulary, Vocabulary, "What the ids mean")
        if encoder.config.vocab_size < len(vocabulary):
            raise ValueError(
                f"The encoder knows {encoder.config.vocab_size} symbols and the vocabulary has "
                f"{len(vocabulary)}; widen it with encoder.add_symbols(count)."
            )
        self.encoder = deepcopy(encoder).requires_grad_(True)
        n_outputs = arguments.whole_number(n_outputs, 1, 1 << 16, "The number of labels")
        self.head = nn.Linear(encoder.config.d_model, n_outputs)

    def states(self, input_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states ``(batch, length, d_model)`` and where padding is.

        Raises:
            ValueError: these are no such ids, or a line holds nothing but ``[PAD]``.
        """
        arguments.token_ids(input_ids, self.encoder.config.vocab_size, dim=2)
        pad_id = self.vocabulary.pad_id
        padding = input_ids == (-1 if pad_id is None else pad_id)
        if padding.all(1).any():
            raise ValueError("A line holds nothing but [PAD]; leave empty lines out.")
        return self.encoder(input_ids, padding), padding


class TextClassifier(FineTuned):
    """One answer per line: softmax(W h), where h stands for the whole line.

    Args:
        encoder: what was pretrained.
        vocabulary: what its ids mean.
        n_labels: K, how many answers there are.
        pooling: where h comes from: "first" takes the state at the first position, BERT's
            ``[CLS]`` (in a small world ``[BEGIN]`` stands there); "mean" that of all positions
            that are not padding.
    """

    def __init__(
        self, encoder: Encoder, vocabulary: Vocabulary, n_labels: int, pooling: Pooling = "mean"
    ) -> None:
        super().__init__(encoder, vocabulary, n_labels)
        self.pooling = arguments.one_of(pooling, get_args(Pooling), "pooling")

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits ``(batch, K)`` for ids ``(batch, length)``."""
        states, padding = self.states(input_ids)
        return self.head(states[:, 0] if self.pooling == "first" else mean_pool(states, padding))


def mean_pool(states: Tensor, padding: Tensor) -> Tensor:
    """Average hidden states over what is not padding.

    Args:
        states: shape ``(batch, length, d_model)``.
        padding: True where nobody reads, shape ``(batch, length)``.

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


def best_span(logits: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Return the start and the end with the greatest sum of logits, the start not after the end.

    Args:
        logits: of start and end, shape ``(batch, 2, length)``.
        allowed: where a span may begin and end, shape ``(batch, length)``; None for everywhere.

    Returns:
        Positions, shape ``(batch, 2)``; the end belongs to the span.

    Raises:
        ValueError: the logits have another shape, or nowhere in a line is allowed.
    """
    if arguments.of_type(logits, Tensor, "logits").dim() != 3 or logits.shape[1] != 2:
        raise ValueError(
            f"The logits of spans have the shape (batch, 2, length), not {tuple(logits.shape)}."
        )
    if allowed is not None:
        wanted = (logits.shape[0], logits.shape[2])
        if arguments.of_type(allowed, Tensor, "allowed").shape != wanted:
            raise ValueError(
                f"allowed has the shape {wanted}, as the logits do, not {tuple(allowed.shape)}."
            )
        logits = logits.masked_fill(~allowed[:, None], float("-inf"))
    start, end = logits.unbind(1)
    length = logits.shape[2]
    sums = start[:, :, None] + end[:, None, :]
    sums = sums.masked_fill(~torch.ones(length, length, dtype=torch.bool).triu(), float("-inf"))
    best, at = sums.flatten(1).max(1)
    if best.isneginf().any():
        raise ValueError("A line has no position where a span may stand; allow at least one.")
    return torch.stack([at // length, at % length], dim=1)
