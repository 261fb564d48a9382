"""Objectives: what training asks about windows of text, and what the answers cost.

Training draws windows and improves the model; everything in between belongs to the objective.
Another way to train is another :class:`Objective`, registered in a file of its own,
``objective….py`` in the folder of its lesson. Training and checkpoints know names only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.evaluation import held_out_loss
from cloze.heads import CausalLM, MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, mask_tokens, seeded
from cloze.vocabulary import BEGIN, PAD, Vocabulary

Batch = Any
"""What is read and what is asked: a named tuple of tensors with one line per window, such as
``MaskedBatch``, and in ``selected`` the positions over which the loss is a mean."""


@dataclass(frozen=True)
class Objective:
    """A way to train: windows become questions, and the model's answers a loss."""

    name: str
    """The name stored in checkpoints."""
    ask: Callable[[Tensor, float, torch.Generator, Vocabulary], Batch]
    """From windows ``(n, length)``, ``mask_prob``, a source of chance and what the ids mean to a
    batch."""
    loss: Callable[[Any, Batch], Tensor]
    """The mean loss of the answers of its kind of model in nats, a scalar with a gradient."""
    held_out: Callable[[Tensor, Vocabulary], Batch]
    """From held-out windows ``(n, length)`` to fixed questions, the same for every model."""
    measure: Callable[[Any, Batch], float]
    """The mean loss in nats over the held-out questions."""
    model: type[MaskedLM] = MaskedLM
    """The model class it trains."""
    measured: str = "held-out"
    """The name of the measured loss; only losses of the same name can be compared."""
    specials: tuple[str, ...] = ()
    """Special symbols of its batches that the corpus does not have."""
    room: int = 0
    """By how many symbols a line of a batch may be longer than the window it was made of."""
    head: bool = True
    """Whether the loss uses the model's head; if it does not, the head is not trained."""

    def vocabulary(self, vocabulary: Vocabulary) -> Vocabulary:
        """Return what a model has to know that learns from a corpus with this vocabulary."""
        return vocabulary.with_specials(*self.specials)


# What they are called

_registered: dict[str, Objective] = {}


def register(objective: Objective) -> Objective:
    """Make an objective known by its name, to the command line and to saved runs.

    A cell that registers one may be run again: the new one takes the place of the old one.
    """
    _registered[objective.name] = objective
    return objective


def objective_named(name: str) -> Objective:
    """Return the objective of a name, and import the lessons' objectives until it is found.

    Raises:
        ValueError: there is none.
    """
    lessons = Path(__file__).parent / "lessons"
    for path in sorted(lessons.glob("*/objective*.py"), key=lambda path: name not in path.stem):
        if name not in _registered:  # the likeliest comes first
            import_module(f"cloze.lessons.{path.parent.name}.{path.stem}")
    if name not in _registered:
        raise ValueError(
            f"There is no objective {name!r:.50}, only {', '.join(_registered)}; choose one of "
            "these, or register yours with cloze.objectives.register."
        )
    return _registered[name]


# What the core trains for


def masked_loss(model: MaskedLM, batch: MaskedBatch) -> Tensor:
    """Return what the model pays at the selected positions, on average."""
    logits = model.logits_at(batch.inputs, batch.selected)  # (|M|, |V|)
    return mlm_loss(logits, batch.labels[batch.selected])


Masker = Callable[..., MaskedBatch]
"""A way to mask, called as ``mask_tokens`` is."""


def masked(
    name: str, mask: Masker = mask_tokens, mask_share: float = 0.8, random_share: float = 0.1
) -> Objective:
    """Make a masked objective that hides in another shape, or corrupts in other shares.

    It is measured on questions of its own kind, at 15% and always the same, and that loss has the
    objective's name. For one that is measured on the series' own questions, which makes losses
    comparable, write ``replace(masked(…), held_out=MASKED.held_out, measured=MASKED.measured)``.

    Args:
        name: the name stored in checkpoints.
        mask: what selects and corrupts.
        mask_share: the share of selected symbols that become ``[MASK]``.
        random_share: the share that become a random one; the rest stay.
    """

    def ask(
        windows: Tensor, mask_prob: float, generator: torch.Generator, vocabulary: Vocabulary
    ) -> MaskedBatch:
        return mask(
            windows,
            mask_prob,
            mask_share=mask_share,
            random_share=random_share,
            vocabulary=vocabulary,
            generator=generator,
        )

    return Objective(
        name=name,
        ask=ask,
        loss=masked_loss,
        held_out=lambda windows, vocabulary: ask(windows, 0.15, seeded(0), vocabulary),
        measure=held_out_loss,
        measured=name,
    )


MASKED = register(replace(masked("masked"), measured="held-out"))
"""BERT's: predict the characters that were selected and corrupted (Devlin et al. 2019)."""


def next_symbols(windows: Tensor, vocabulary: Vocabulary) -> MaskedBatch:
    """Ask about every symbol of windows ``(n, length)`` that something can be said of.

    A :class:`~cloze.heads.CausalLM` sees of each what is left of it, so nothing has to be hidden.
    Where a sentence begins (``[BEGIN]``) and what fills a line up (``[PAD]``) is no question.
    """
    given = [vocabulary.ids[symbol] for symbol in (BEGIN, PAD) if symbol in vocabulary.specials]
    no_question = torch.isin(windows, torch.tensor(given, dtype=torch.int64))
    return MaskedBatch(windows, windows.masked_fill(no_question, IGNORE))


CAUSAL = register(
    Objective(
        name="causal",
        ask=lambda windows, mask_prob, generator, vocabulary: next_symbols(windows, vocabulary),  # noqa: ARG005
        loss=masked_loss,
        held_out=next_symbols,
        measure=held_out_loss,
        model=CausalLM,
        measured="next-symbol",
    )
)
"""GPT's: predict every symbol from those before it; nothing is hidden and nothing drawn."""
