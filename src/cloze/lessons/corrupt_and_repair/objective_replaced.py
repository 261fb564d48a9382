"""Replaced token detection: a small generator fills masks, and every symbol is asked about.

The loss is the generator's masked loss plus ``WEIGHT`` times the mean cost of "replaced or not?" at
every ordinary position. Where the generator happens to write what stood there, nothing counts as
replaced. No gradient flows through what it drew.

Source: Clark et al. 2020, ELECTRA, section 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cloze.encoder import EncoderConfig
from cloze.heads import LINES_AT_ONCE, MaskedLM, symbol_log_probs
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, mask_tokens, seeded
from cloze.objectives import Objective, register
from cloze.vocabulary import VOCABULARY, Vocabulary

WEIGHT = 50.0
"""ELECTRA's λ: how much the detection counts beside the generator's loss. Its two models share an
embedding; where nothing is shared, as here, each optimizer step is nearly the same for any λ,
because AdamW and Muon divide by the size of the gradient."""


class ReplacedLM(MaskedLM):
    """ELECTRA's two models: a small one fills masks, and the encoder says which symbols are its.

    The encoder with its head is the discriminator, asked at *every* position whether the symbol was
    replaced; it never reads ``[MASK]``. The ``generator`` is a masked model a quarter as wide (of
    ELECTRA's small models, too), needed for training alone. ELECTRA's two share their embedding;
    here they share nothing, for a table of a few symbols is small beside the layers.

    Source: Clark et al. 2020, ELECTRA, section 2.
    """

    kind = "replaced"

    def __init__(
        self, config: EncoderConfig | None = None, vocabulary: Vocabulary = VOCABULARY
    ) -> None:
        super().__init__(config, vocabulary)
        self.head = nn.Linear(self.config.d_model, 1)
        self.generator = MaskedLM(quarter(self.config), vocabulary)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return logits that each symbol was replaced, ``(batch, length)``."""
        return super().forward(input_ids).squeeze(-1)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        """Return logits that the selected symbols were replaced, shape ``(|M|,)``."""
        return super().logits_at(input_ids, selected).squeeze(-1)


def quarter(config: EncoderConfig) -> EncoderConfig:
    """Return a shape with heads of the same width, a quarter as many, and all else to match."""
    heads = max(1, config.n_heads // 4)
    return replace(
        config, n_heads=heads, d_model=heads * config.d_head, d_ff=max(1, config.d_ff // 4)
    )


class MasksAndDraws(NamedTuple):
    """Masks for the generator, and the chance by which it fills them."""

    inputs: Tensor
    """What the generator reads, ``(batch, length)``."""
    labels: Tensor
    """The original id where there is a mask, −100 elsewhere; ``(batch, length)``."""
    draws: Tensor
    """A uniform number for each position, ``(batch, length)``: where it falls among the generator's
    probabilities laid end to end is the symbol that is drawn."""

    @property
    def selected(self) -> Tensor:
        """Where there is a mask: boolean, ``(batch, length)``."""
        return self.labels != IGNORE

    @property
    def original(self) -> Tensor:
        """The true ids, ``(batch, length)``."""
        return torch.where(self.selected, self.labels, self.inputs)


def hide_for_two(
    windows: Tensor, mask_prob: float, generator: torch.Generator, vocabulary: Vocabulary
) -> MasksAndDraws:
    """Mask windows ``(n, length)`` for the generator: every selected symbol becomes ``[MASK]``."""
    inputs, labels = mask_tokens(
        windows, mask_prob, mask_share=1, random_share=0, vocabulary=vocabulary, generator=generator
    )
    return MasksAndDraws(inputs, labels, torch.rand(windows.shape, generator=generator))


def refilled(model: ReplacedLM, batch: MasksAndDraws, logits: Tensor | None = None) -> Tensor:
    """Let the generator fill the masks, shape ``(batch, length)``: what the discriminator reads.

    Args:
        model: whose generator it is.
        batch: the masks and the draws.
        logits: what the generator says there, if that is known already.
    """
    selected = batch.selected
    with torch.no_grad():
        logits = model.generator.logits_at(batch.inputs, selected) if logits is None else logits
        ends = symbol_log_probs(logits, model.vocabulary).exp().cumsum(1)
        at = torch.searchsorted(ends, batch.draws[selected][:, None] * ends[:, -1:])
    drawn = at.squeeze(1).clamp(max=ends.shape[1] - 1)
    return batch.inputs.masked_scatter(selected, drawn)


def electra_loss(model: ReplacedLM, batch: MasksAndDraws, *, everywhere: bool = True) -> Tensor:
    """Return the generator's loss plus ``WEIGHT`` times the discriminator's, a scalar in nats.

    Args:
        model: both of them.
        batch: the masks and the draws.
        everywhere: False asks the discriminator at the masked positions alone ("ELECTRA 15%").
    """
    selected = batch.selected
    logits = model.generator.logits_at(batch.inputs, selected)
    guesses = mlm_loss(logits, batch.labels[selected])
    detection = _detection(model, batch, refilled(model, batch, logits), everywhere=everywhere)
    return guesses + WEIGHT * detection


def _detection(
    model: ReplacedLM, batch: MasksAndDraws, read: Tensor, *, everywhere: bool = True
) -> Tensor:
    """Return the mean cost of "replaced or not?" in nats."""
    where = (read < model.vocabulary.n_ordinary) if everywhere else batch.selected
    replaced = (read != batch.original)[where].float()
    return F.binary_cross_entropy_with_logits(model.logits_at(read, where), replaced)


@torch.no_grad()
def detection_loss(model: ReplacedLM, held_out: MasksAndDraws) -> float:
    """Return the mean cost of "replaced or not?" at every position of held-out windows, in nats.

    What has to be found is what the model's *own* generator put in, so the better that is, the
    harder the questions: of two models, the lower loss need not be the better one's.
    """
    total = count = 0.0
    for part in zip(*(torch.split(each, LINES_AT_ONCE) for each in held_out), strict=True):
        batch = MasksAndDraws(*part)
        n = int((batch.original < model.vocabulary.n_ordinary).sum())
        total += n * _detection(model, batch, refilled(model, batch)).item()
        count += n
    return total / count


REPLACED = register(
    Objective(
        name="replaced",
        ask=hide_for_two,
        loss=electra_loss,
        held_out=lambda windows, vocabulary: hide_for_two(windows, 0.15, seeded(0), vocabulary),
        measure=detection_loss,
        model=ReplacedLM,
        measured="detection",
    )
)
"""ELECTRA's: find the symbols that a small generator put in (Clark et al. 2020)."""
