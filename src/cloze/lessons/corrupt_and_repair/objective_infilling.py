"""Infilling: a line with sentinels is read, and what belongs into its gaps is written.

A question is one line, *spoilt line, [WRITE], target*, and a :class:`PrefixLM` is
asked about every symbol of the target from the whole spoilt line and the target so far.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.fast import states_at
from cloze.heads import CausalLM
from cloze.lessons.corrupt_and_repair.corruptions import (
    SENTINELS,
    SHARE,
    Corrupted,
    sentinel,
    take_out,
)
from cloze.masking import IGNORE, MaskedBatch, seeded
from cloze.objectives import Objective, masked_loss, register
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, WRITE, Vocabulary


class PrefixLM(CausalLM):
    """A causal model that reads everything before ``[WRITE]`` from both sides.

    One stack in the place of an encoder and a decoder: the spoilt line, ``[WRITE]`` and what is
    written stand in one line. The first two are in everybody's sight, and of what is written each
    position sees its left. A line without ``[WRITE]`` is all written. Sentinels are written, too.
    """

    kind = "infilling"

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__(config, vocabulary)
        read_only = {MASK, BEGIN, END, PAD, WRITE}
        written = [i for symbol, i in vocabulary.ids.items() if symbol not in read_only]
        self.never[written] = False

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits of shape ``(batch, length, |V|)`` for ids ``(batch, length)``."""
        read, prefix = self.one_place_late(input_ids), self.prefix(input_ids)
        return self._answers(self.encoder(read, prefix=prefix))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits at the selected positions only, shape ``(|M|, |V|)``."""
        read, prefix = self.one_place_late(input_ids), self.prefix(input_ids)
        return self._answers(states_at(self.encoder, read, selected, prefix=prefix))

    def prefix(self, input_ids: Tensor) -> Tensor:
        """Return how many positions of each line everybody sees, one place late: ``(batch,)``."""
        ends = input_ids == self.vocabulary.ids[WRITE]
        return torch.where(ends.any(1), ends.int().argmax(1) + 2, 0)


def joined(spoilt: list[Corrupted], vocabulary: Vocabulary) -> MaskedBatch:
    """Write each input and its target in one line, and ask about every symbol of the targets.

    Shorter lines are filled up at the right, which no position that is asked can see.
    """
    write = torch.tensor([vocabulary.ids[WRITE]])
    lines = [torch.cat([inputs, write, target]) for inputs, target in spoilt]
    filler = vocabulary.mask_id if vocabulary.pad_id is None else vocabulary.pad_id
    ids = torch.nn.utils.rnn.pad_sequence(lines, batch_first=True, padding_value=filler)
    labels = torch.full_like(ids, IGNORE)
    for row, (inputs, target) in zip(labels, spoilt, strict=True):
        row[len(inputs) + 1 : len(inputs) + 1 + len(target)] = target
    return MaskedBatch(ids, labels)


def questions(
    windows: Tensor,
    share: float,
    generator: torch.Generator,
    vocabulary: Vocabulary,
) -> MaskedBatch:
    """Take spans out of windows ``(n, length)`` and ask for them, each in a line of its own.

    What frames a sentence, ``[BEGIN]``, ``[END]`` and ``[PAD]``, is left out: where it begins and
    ends can be seen.
    """
    lines = [window[window < vocabulary.n_ordinary] for window in windows]
    spoilt = [take_out(line, share, vocabulary, generator) for line in lines]
    return joined(spoilt, vocabulary)


INFILLING = register(
    Objective(
        name="infilling",
        ask=questions,
        loss=masked_loss,
        held_out=lambda windows, vocabulary: questions(windows, SHARE, seeded(0), vocabulary),
        measure=held_out_loss,
        model=PrefixLM,
        measured="infilling",
        specials=(WRITE, *map(sentinel, range(SENTINELS))),
        room=2 * SENTINELS,
    )
)
"""T5's: write what was taken out, sentinel by sentinel (Raffel et al. 2020), by one stack."""
