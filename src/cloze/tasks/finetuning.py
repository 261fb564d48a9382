"""Fine-tuning: a pretrained encoder and a new head learn from labels; and scores for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from cloze.arguments import (
    Count,
    Labels,
    Lines,
    Logits,
    Whole,
    between,
    checked,
    known_symbols,
    shown,
)
from cloze.heads import LINES_AT_ONCE
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, number_selected, seeded
from cloze.tasks.heads import FineTuned

LabelIds = Int64[Tensor, "batch ..."]
"""A label for each line, for each position, or where a span starts and ends."""
LearningRate = Annotated[float, between(0, 10)]

# Learning from labels


@checked
@dataclass(frozen=True)
class FineTuning:
    """How to fine-tune. The defaults suit a few hundred short lines and the series' encoder."""

    epochs: Count = 20
    """How often every labelled line is read."""
    batch_size: Count = 16
    learning_rate: LearningRate = 1e-3
    """The peak step size of AdamW for the encoder; large encoders want about 1e-5."""
    head_learning_rate: LearningRate = 1e-2
    """The same for the head, which begins at random and has further to go."""
    freeze: bool = False
    """Train the head alone."""
    seed: Whole = 0
    """Of the order in which lines are read."""


@checked
def finetune(
    model: FineTuned, input_ids: Lines, labels: LabelIds, how: FineTuning | None = None
) -> list[float]:
    """Train a model on labelled lines, in place, with AdamW and steps that shrink to zero.

    Args:
        model: an encoder with its head.
        input_ids: the lines, shape ``(n, length)``.
        labels: for each line the right answer: its class ``(n,)``, the class of each position
            ``(n, length)`` with ``IGNORE`` where there is none, or start and end ``(n, 2)``.
        how: the recipe.

    Returns:
        The mean training loss of each epoch in nats.

    Raises:
        ValueError: labels do not fit the lines or the head.
        FloatingPointError: the loss is not finite.
    """
    how = how or FineTuning()
    chance = seeded(how.seed)
    groups = [{"params": [*model.head.parameters()], "lr": how.head_learning_rate}]
    if not how.freeze:
        groups.append({"params": [*model.encoder.parameters()], "lr": how.learning_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = how.epochs * math.ceil(len(input_ids) / how.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps), 1 - step / steps)
    )
    model.encoder.requires_grad_(not how.freeze)
    model.train()
    losses = []
    for _ in range(how.epochs):
        total = 0.0
        for rows in torch.split(torch.randperm(len(input_ids), generator=chance), how.batch_size):
            loss = label_loss(model(input_ids[rows]), labels[rows])
            if not loss.isfinite():
                raise FloatingPointError(
                    "The loss is not finite any more: fine-tuning went astray; use smaller "
                    "learning rates."
                )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += loss.item() * len(rows)
        losses.append(total / len(input_ids))
    model.eval()
    return losses


@checked
def label_loss(logits: Logits, labels: Labels) -> Tensor:
    """Return the mean −log P(label) in nats: the loss of masked models, with classes for symbols.

    Args:
        logits: shape ``(…, K)``.
        labels: shape ``(…)``, ``IGNORE`` where there is none.

    Raises:
        ValueError: there is no label, or one is no class.
    """
    known_symbols(labels[labels != IGNORE], logits.shape[-1], "Labels")
    return mlm_loss(logits, labels)


@checked
@torch.no_grad()
def answers(model: FineTuned, input_ids: Lines) -> Tensor:
    """Return the logits of a model for lines ``(n, length)``, some lines at a time."""
    return torch.cat([model(lines) for lines in torch.split(input_ids, LINES_AT_ONCE)])


# Scores


@checked
def accuracy(predicted: Labels, labels: Labels) -> float:
    """Return the share of labels that are predicted correctly; ``IGNORE`` does not count.

    Raises:
        ValueError: there is no label.
    """
    labelled = labels != IGNORE
    number_selected(labelled)
    return float((predicted == labels)[labelled].double().mean())


class Entity(NamedTuple):
    """A name in a line: its kind, and where it begins and ends."""

    kind: str
    start: int
    end: int
    """Its last position."""


def entities(tags: Sequence[str]) -> list[Entity]:
    """Read the entities from the tags of a line: ``B-PER``, ``I-PER``, ``O``.

    As conlleval and seqeval (default mode) read them, an ``I-`` that continues nothing begins an
    entity.

    Raises:
        ValueError: something is not a tag.
    """
    runs: list[Entity] = []
    for at, tag in enumerate(tags):
        letter, _, kind = tag.partition("-") if isinstance(tag, str) else ("", "", "")
        if not (tag == "O" or (letter in ("B", "I") and kind)):
            raise ValueError(f"A tag is O, B-KIND or I-KIND, not {shown(tag)}.")
        if letter == "O":
            continue
        last = runs[-1] if runs else None
        if letter == "I" and last and (last.kind, last.end) == (kind, at - 1):
            runs[-1] = last._replace(end=at)
        else:
            runs.append(Entity(kind, at, at))
    return runs


class F1(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    """The share of predicted entities that are right."""
    recall: float
    """The share of true entities that were found."""
    f1: float
    """The harmonic mean of both."""

    def __repr__(self) -> str:
        return f"F1 {self.f1:.2f} (precision {self.precision:.2f}, recall {self.recall:.2f})"


@checked
def entity_f1(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> F1:
    """Compare the entities in tags, over all lines together (seqeval's micro average).

    An entity is right if its kind, its first and its last position are. Without predicted entities
    precision is 0, without true ones recall.

    Args:
        true: by line, a tag for each position.
        predicted: the same from a model.

    Raises:
        ValueError: the numbers of tags differ, or something is not a tag.
    """
    if [len(line) for line in true] != [len(line) for line in predicted]:
        raise ValueError(
            "True and predicted tags differ in number; give one tag per position to both."
        )
    truth = {(n, entity) for n, line in enumerate(true) for entity in entities(line)}
    predictions = {(n, entity) for n, line in enumerate(predicted) for entity in entities(line)}
    right = len(truth & predictions)
    precision, recall = (right / len(of) if of else 0.0 for of in (predictions, truth))
    both = len(truth) + len(predictions)
    return F1(precision, recall, 2 * right / both if both else 0.0)
