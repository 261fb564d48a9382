"""Heads: what is put on top of the encoder."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from cloze.encoder import Encoder, EncoderConfig, Past
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, WRITE, Vocabulary


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


class PrefixLM(CausalLM):
    """A causal model that reads what stands before ``[WRITE]`` from both sides.

    One stack in the place of an encoder and a decoder: the spoilt line, ``[WRITE]`` and what is
    written stand in one line. The first two are in everybody's sight, and of what is written each
    position sees its left. A line without ``[WRITE]`` is all written. Sentinels are written, too.

    Raises:
        ValueError: as :class:`CausalLM`; or the vocabulary has no ``[WRITE]``.
    """

    objective = "infilling"

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__(config, vocabulary)
        if WRITE not in vocabulary.specials:
            raise ValueError(
                f"A model that fills gaps needs {WRITE} and sentinels in its vocabulary, as "
                "INFILLING.vocabulary(…) puts them there."
            )
        read_only = {MASK, BEGIN, END, PAD, WRITE}
        written = [i for symbol, i in vocabulary.ids.items() if symbol not in read_only]
        self.never[written] = False

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        read, prefix = self.one_place_late(input_ids), self.prefix(input_ids)
        return self._answers(self.encoder(read, prefix=prefix))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``."""
        read, prefix = self.one_place_late(input_ids), self.prefix(input_ids)
        return self._answers(self.encoder(read, selected=selected, prefix=prefix))

    def prefix(self, input_ids: Tensor) -> Tensor:
        """Return how many positions of each line everybody sees, one place late: ``(batch,)``."""
        ends = input_ids == self.vocabulary.ids[WRITE]
        return torch.where(ends.any(1), ends.int().argmax(1) + 2, 0)

    def extend(self, read: Tensor, past: Past | None = None) -> tuple[Tensor, Past]:  # noqa: ARG002
        """Refuse: what was read before ``[WRITE]`` is not read from the left alone.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "A model that reads a spoilt line from both sides cannot read on; ask it for the whole "
            "line again."
        )


class ReplacedLM(MaskedLM):
    """ELECTRA's two models: a small one fills masks, and the encoder says which symbols are its.

    The encoder with its head is the discriminator, asked at *every* position whether the symbol was
    replaced; it never reads ``[MASK]``. The ``generator`` is a masked model a quarter as wide (of
    ELECTRA's small models, too), needed for training alone. ELECTRA's two share their embedding;
    here they share nothing, for a table of a few symbols is small beside the layers.

    Source: Clark et al. 2020, ELECTRA, section 2.
    """

    objective = "replaced"

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__(config, vocabulary)
        self.head = nn.Linear(self.config.d_model, 1)
        self.generator = MaskedLM(quarter(self.config), vocabulary)

    def forward(self, input_ids: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Return logits that each symbol was replaced, ``(batch, length)``."""
        return super().forward(input_ids, padding_mask).squeeze(-1)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits that the selected symbols were replaced, shape ``(|M|,)``."""
        return super().logits_at(input_ids, selected).squeeze(-1)


def quarter(config: EncoderConfig) -> EncoderConfig:
    """Return a shape with heads of the same width, a quarter as many, and all else to match."""
    heads = max(1, config.n_heads // 4)
    return replace(
        config, n_heads=heads, d_model=heads * config.d_head, d_ff=max(1, config.d_ff // 4)
    )


HEADS: dict[str, type[MaskedLM]] = {
    head.objective: head for head in (MaskedLM, CausalLM, PrefixLM, ReplacedLM)
}
"""Every kind of model, by the objective that trains it."""
