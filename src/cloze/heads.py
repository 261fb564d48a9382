"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from cloze.encoder import Encoder, EncoderConfig, Past


class MaskedLM(nn.Module):
    """An encoder with the head that predicts the symbol at every position."""

    objective: ClassVar[str] = "masked"
    """The name of the objective that trains such a model, under which a checkpoint remembers it."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.config = self.encoder.config
        self.head = nn.Linear(self.config.d_model, self.config.vocab_size)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        return self.head(self.encoder(input_ids, padding_mask))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``.

        Args:
            input_ids: shape ``(batch, length)``.
            selected: boolean, shape ``(batch, length)``.
        """
        return self.head(self.encoder(input_ids, selected=selected))


class CausalLM(MaskedLM):
    """An encoder that predicts the symbol at every position from what is left of it, and no more.

    Attention reaches to the left only, and the line is read one place late: at position i stands
    x_{i−1}, and the last symbol of the vocabulary (``[MASK]``) in front of all. So the answer at
    position i is about x_i, as a :class:`MaskedLM`'s is, and the first symbol has one, too.

    Raises:
        ValueError: the config's ``direction`` is not "left".
    """

    objective = "causal"

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__(EncoderConfig(direction="left") if config is None else config)
        if self.config.direction != "left":
            raise ValueError(
                "A causal model looks to the left only, or it would see what it is asked: its "
                f"config has direction='left', not {self.config.direction!r}."
            )

    @property
    def start_id(self) -> int:
        """The id of the symbol that is read before the first: nothing is known yet."""
        return self.config.vocab_size - 1

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        padding = None if padding_mask is None else _one_place_late(padding_mask, False)
        return super().forward(_one_place_late(input_ids, self.start_id), padding)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``."""
        return super().logits_at(_one_place_late(input_ids, self.start_id), selected)

    def extend(self, read: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:
        """Read on from where another call stopped, without reading what came before again.

        Args:
            read: what is read next, shape ``(batch, length)``; ``start_id`` comes first of all.
            past: what the earlier call returned; None at the beginning.

        Returns:
            The logits of the symbol that follows each one read, ``(batch, length, |V|)``, and what
            the next call needs.
        """
        states, past = self.encoder.extend(read, past)
        return self.head(states), past


HEADS: dict[str, type[MaskedLM]] = {head.objective: head for head in (MaskedLM, CausalLM)}
"""Every kind of model, by the objective that trains it."""


def _one_place_late(values: Tensor, first: int) -> Tensor:
    """Move lines ``(batch, length)`` to the right by one place; the last value falls out."""
    front = torch.full_like(values[:, :1], first)
    return torch.cat([front, values[:, :-1]], dim=1)
