"""Infilling: a line with sentinels is read, and what belongs into its gaps is written.

A question is one line, *spoilt line, [WRITE], target*, and a :class:`~cloze.heads.PrefixLM` is
asked about every symbol of the target from the whole spoilt line and the target so far.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cloze import arguments
from cloze.corruptions import MEAN_LENGTH, SHARE, Corrupted, take_out
from cloze.generation import checked_temperature
from cloze.heads import PrefixLM
from cloze.masking import IGNORE, MaskedBatch
from cloze.vocabulary import WRITE, Vocabulary


def joined(spoilt: list[Corrupted], vocabulary: Vocabulary) -> MaskedBatch:
    """Write inputs and targets behind each other, and ask about every symbol of the targets.

    Shorter lines are filled up at the right, where nobody who is asked looks.
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
    share: float = SHARE,
    mean_length: float = MEAN_LENGTH,
    *,
    vocabulary: Vocabulary,
    generator: torch.Generator | None = None,
) -> MaskedBatch:
    """Take spans out of windows ``(n, length)`` and ask for them, each in a line of its own.

    What frames a sentence, ``[BEGIN]``, ``[END]`` and ``[PAD]``, is left out: where it begins and
    ends can be seen.

    Raises:
        ValueError: as :func:`~cloze.corruptions.take_out`.
    """
    lines = [window[window < vocabulary.n_ordinary] for window in windows]
    return joined(
        [
            take_out(
                line,
                share,
                min(mean_length, max(1, len(line))),
                vocabulary=vocabulary,
                generator=generator,
            )
            for line in lines
        ],
        vocabulary,
    )


@torch.no_grad()
def log_probability(model: PrefixLM, spoilt: list[Corrupted]) -> Tensor:
    """Return log P(target | input) by the chain rule, shape ``(lines,)``; exact, for one order.

    Args:
        model: which writes.
        spoilt: what it reads and what it might write.
    """
    arguments.of_type(model, PrefixLM, "The model")
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

    Raises:
        ValueError: there is no gap, or the line is too long, or no such temperature.
    """
    arguments.of_type(model, PrefixLM, "The model")
    temperature = checked_temperature(temperature)
    vocabulary = model.vocabulary
    arguments.token_ids(inputs, len(vocabulary), dim=1)
    signs = [i for s, i in vocabulary.ids.items() if s.startswith("<extra_id_")]
    gaps = sum(symbol in signs for symbol in inputs.tolist())
    room = model.config.max_len - len(inputs) - 1
    if not 1 <= gaps < len(signs) or room < 1:
        raise ValueError(
            f"A line to fill has 1 to {len(signs) - 1} sentinels and at most "
            f"{model.config.max_len - 2} symbols, not {gaps} and {len(inputs)}."
        )
    written: list[int] = []
    while len(written) < room and signs[gaps] not in written:
        target = torch.tensor([*written, vocabulary.mask_id])  # what stands last is not read
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
