"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from cloze.encoder import Encoder, EncoderConfig
from cloze.fast import Past, read_on, states_at
from cloze.vocabulary import END, VOCABULARY, Vocabulary


@runtime_checkable
class Model(Protocol):
    """What answers at selected positions: a ``MaskedLM``, another model, a world's truth."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What the ids mean."""

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions of ``(batch, length)``: ``(|M|, |V|)``."""


LINES_AT_ONCE = 64
"""How many lines a model reads in one batch: more need more memory and are not faster."""


def symbol_log_probs(logits: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Return log P of the ordinary symbols alone, ``(…, n_ordinary)``, from logits ``(…, |V|)``.

    Special symbols are never an answer: their probability, which training has made tiny, is removed
    and the rest scaled to sum to 1.
    """
    return logits[..., : vocabulary.n_ordinary].log_softmax(dim=-1)


@torch.no_grad()
def log_probs_at(model: Model, input_ids: Tensor, selected: Tensor) -> Tensor:
    """Return log P(x_i | x̃) of every ordinary symbol at the selected positions.

    Args:
        model: any model.
        input_ids: shape ``(lines, length)``.
        selected: boolean, of the same shape.

    Returns:
        Shape ``(|M|, n_ordinary)``, in the order of ``input_ids[selected]``.
    """
    parts = [torch.empty(0, model.vocabulary.n_ordinary)]
    both = (torch.split(each, LINES_AT_ONCE) for each in (input_ids, selected))
    for lines, here in zip(*both, strict=True):
        if here.any():
            parts.append(symbol_log_probs(model.logits_at(lines, here), model.vocabulary))
    return torch.cat(parts)


class MaskedLM(nn.Module):
    """An encoder with the head that predicts the symbol at every position.

    Args:
        config: the shape of the encoder.
        vocabulary: what its ids mean; no position looks at a ``[PAD]`` of it.
    """

    kind: ClassVar[str] = "masked"
    """The objective that such models are made for; a checkpoint stores its name."""

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__()
        self.objective = self.kind
        """The name of the objective that it was trained for, stored in its checkpoint."""
        self.vocabulary = vocabulary
        self.encoder = Encoder(config)
        self.config = self.encoder.config
        self.head = nn.Linear(self.config.d_model, self.config.vocab_size)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        states = self.encoder(input_ids, self._padding(input_ids))  # (batch, length, d_model)
        return self.head(states)  # (batch, length, |V|)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``.

        Args:
            input_ids: shape ``(batch, length)``.
            selected: boolean, shape ``(batch, length)``.
        """
        padding = self._padding(input_ids)  # (batch, length), or None
        states = states_at(self.encoder, input_ids, selected, padding)  # (|M|, d_model)
        return self.head(states)  # (|M|, |V|)

    def _padding(self, input_ids: Tensor) -> Tensor | None:
        pad_id = self.vocabulary.pad_id
        return None if pad_id is None else input_ids == pad_id


class CausalLM(MaskedLM):
    """An encoder that predicts the symbol at every position from what is left of it, and no more.

    Attention reaches to the left only, and the line is read one place late: at position i stands
    x_{i−1}, and ``[MASK]`` in front of all, because nothing is known yet. So the answer at position
    i is about x_i, as a :class:`MaskedLM`'s is, and the first symbol has one, too. Symbols that
    never follow in a text, such as ``[MASK]``, have the logit −∞. Padding is at the right, where no
    position looks.

    Raises:
        ValueError: the config's ``direction`` is not "left".
    """

    kind = "causal"
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
        never[[vocabulary.ids[symbol] for symbol in follows]] = False  # (|V|,)
        self.register_buffer("never", never, persistent=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        states = self.encoder(self.one_place_late(input_ids))  # (batch, length, d_model)
        return self._answers(states)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``."""
        read = self.one_place_late(input_ids)
        return self._answers(states_at(self.encoder, read, selected))  # (|M|, |V|)

    def extend(self, read: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Read on from where another call stopped, without reading what came before again.

        Args:
            read: what is read next, shape ``(batch, length)``; ``[MASK]`` comes first of all.
            past: what the earlier call returned; None at the beginning.

        Returns:
            The logits of the symbol that follows each one read, ``(batch, length, |V|)``, and what
            the next call needs.
        """
        states, past = read_on(self.encoder, read, past)  # (batch, length, d_model)
        return self._answers(states), past

    def one_place_late(self, input_ids: Tensor) -> Tensor:
        """Return what is read: ``[MASK]``, and then all but the last of ``(batch, length)``."""
        front = torch.full_like(input_ids[:, :1], self.vocabulary.mask_id)  # (batch, 1)
        return torch.cat([front, input_ids[:, :-1]], dim=1)  # (batch, length)

    def _answers(self, states: Tensor) -> Tensor:
        return self.head(states).masked_fill(self.never, float("-inf"))
