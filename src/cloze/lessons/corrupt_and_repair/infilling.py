"""What a model of infilling is asked in the lesson: how likely a target is, and what it writes."""

from __future__ import annotations

import torch
from torch import Tensor

from cloze.lessons.corrupt_and_repair.corruptions import Corrupted, sentinels
from cloze.lessons.corrupt_and_repair.objective_infilling import PrefixLM, joined
from cloze.masking import IGNORE


@torch.no_grad()
def log_probability(model: PrefixLM, spoilt: list[Corrupted]) -> Tensor:
    """Return log P(target | input) by the chain rule, shape ``(lines,)``; exact, for one order.

    Args:
        model: which writes.
        spoilt: what it reads and what it might write.
    """
    ids, labels = joined(spoilt, model.vocabulary)
    said = model(ids).log_softmax(-1)
    paid = said.gather(2, labels.clamp(min=0)[..., None]).squeeze(2)
    return paid.masked_fill(labels == IGNORE, 0.0).sum(1)


@torch.no_grad()
def fill(
    model: PrefixLM,
    inputs: Tensor,
    *,
    temperature: float = 0.0,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Write what belongs into the gaps of a spoilt line ``(length,)``, symbol by symbol.

    It ends with the sentinel after the last gap's, or where the model can read no more.

    Args:
        model: which writes.
        inputs: with a sentinel for each gap.
        temperature: 0 takes the likeliest symbol, 1 draws by the model's probabilities.
        generator: the source of chance.
    """
    vocabulary = model.vocabulary
    signs = sentinels(vocabulary)
    gaps = sum(symbol in signs for symbol in inputs.tolist())
    room = model.config.max_len - len(inputs) - 1
    written: list[int] = []
    while len(written) < room and signs[gaps] not in written:
        target = torch.tensor([*written, vocabulary.mask_id])  # the last symbol is not read
        ids, labels = joined([Corrupted(inputs, target)], vocabulary)
        last = torch.zeros_like(labels, dtype=torch.bool)
        last[0, -1] = True
        logits = model.logits_at(ids, last)[0]
        if temperature:
            chances = (logits / temperature).softmax(0)
            written.append(int(torch.multinomial(chances, 1, generator=generator)))
        else:
            written.append(int(logits.argmax()))
    return Corrupted(inputs, torch.tensor(written))
