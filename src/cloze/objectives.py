"""Objectives: what training asks about windows of text, and what the answers cost.

Training draws windows and improves the model; all that lies between is the objective's. Another
way to train is another :class:`Objective` here, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch, mask_tokens
from cloze.vocabulary import Vocabulary

Batch = MaskedBatch
"""What is read and what is asked: tensors with one line per window, and in ``selected`` the
positions over which the loss is a mean."""


@dataclass(frozen=True)
class Objective:
    """A way to train: windows become questions, and the model's answers a loss."""

    name: str
    """Under which a saved run remembers it."""
    ask: Callable[[Tensor, float, torch.Generator, Vocabulary], Batch]
    """From windows ``(n, length)``, ``mask_prob``, a source of chance and what the ids mean to a
    batch."""
    loss: Callable[[MaskedLM, Batch], Tensor]
    """The mean loss of a model's answers in nats, a scalar with a gradient."""
    held_out: Callable[[Tensor, Vocabulary], Batch]
    """From held-out windows ``(n, length)`` to fixed questions, the same for every model."""
    measure: Callable[[MaskedLM, Batch], float]
    """The mean loss in nats over the held-out questions."""
    model: Callable[[EncoderConfig, Vocabulary], MaskedLM] = MaskedLM
    """Builds the kind of model that can be trained so."""


def masked_loss(model: MaskedLM, batch: MaskedBatch) -> Tensor:
    """Return what the model pays at the selected positions, on average."""
    selected = batch.selected
    return mlm_loss(model.logits_at(batch.inputs, selected), batch.labels[selected])


MASKED = Objective(
    name="masked",
    ask=lambda windows, mask_prob, chance, vocabulary: mask_tokens(
        windows, mask_prob, vocabulary=vocabulary, generator=chance
    ),
    loss=masked_loss,
    held_out=lambda windows, vocabulary: held_out_batch(windows, vocabulary=vocabulary),
    measure=held_out_loss,
)
"""BERT's: predict the characters that were selected and corrupted (Devlin et al. 2019)."""

OBJECTIVES = {objective.name: objective for objective in (MASKED,)}
"""Every objective by name, so that a saved run goes on with the one it began with."""
