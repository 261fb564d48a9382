"""Tasks that the comparison measures and no notebook shows: entailment, names and faults."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cloze.lessons.put_to_use.faults import Faulty, symbols_of
from cloze.lessons.put_to_use.tasks import (
    CHARACTERS,
    ENTITY_TAGS,
    SEP,
    Named,
    Task,
    distinct,
    pair_vocabulary,
    pairs,
    parts,
    shuffled,
)
from cloze.masking import IGNORE
from cloze.tasks.finetuning import answers
from cloze.tasks.heads import FineTuned
from cloze.vocabulary import PAD, Vocabulary
from cloze.world import World


def may_answer(input_ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Return where an answer may stand: after the first ``[SEP]``, at words; ``(n, length)``."""
    after = (input_ids == vocabulary.ids[SEP]).cumsum(1) > 0
    return after & (input_ids < vocabulary.n_ordinary)


def entailment_task(world: World, n: int) -> Task:
    """Say whether the first text says the second: ``[BEGIN]`` A ``[SEP]`` B ``[END]``, 0 or 1."""
    vocabulary, drawn = pair_vocabulary(world), distinct(pairs(world), n)
    lines = [parts(vocabulary, a, b) for a, b, _ in drawn]
    return shuffled(lines, torch.tensor([label for *_, label in drawn]), vocabulary.ids[PAD])


def firsts(words: Sequence[str]) -> list[int]:
    """Return the position of the first character of each word of a line."""
    return [sum(len(w) + 1 for w in words[:k]) for k in range(len(words))]


def name_task(sentences: Sequence[Named]) -> Task:
    """Say of each word, at its first character, what name it is part of (``ENTITY_TAGS``).

    The sentences keep their order.
    """
    lines = [CHARACTERS.encode(" ".join(words)) for words, _ in sentences]
    input_ids = pad_sequence(lines, batch_first=True, padding_value=CHARACTERS.ids[PAD])
    labels = torch.full_like(input_ids, IGNORE)
    for row, (words, tags) in zip(labels, sentences, strict=True):
        row[firsts(words)] = torch.tensor([ENTITY_TAGS.index(tag) for tag in tags])
    return Task(input_ids, labels)


def tags_of(labels: Tensor) -> list[list[str]]:
    """Return the tags of the words of each line, from labels ``(n, length)``."""
    return [[ENTITY_TAGS[tag] for tag in row[row != IGNORE].tolist()] for row in labels]


def likeliest_tags(logits: Tensor, labels: Tensor) -> list[list[str]]:
    """Return the likeliest tags where words begin, by line.

    Args:
        logits: shape ``(n, length, K)``.
        labels: shape ``(n, length)``; not ``IGNORE`` where a word begins.
    """
    return tags_of(logits.argmax(-1).masked_fill(labels == IGNORE, IGNORE))


def fault_odds(world: World, model: FineTuned, input_ids: Tensor) -> Tensor:
    """Return the log-odds of a fault by a token classifier of two labels: ``(n, length)``."""
    sound, fault = answers(model, input_ids).unbind(-1)
    return (fault - sound).masked_fill(~symbols_of(world, input_ids), float("-inf"))


def labels_of(faulty: Faulty, world: World) -> Tensor:
    """Return 1 at the fault, 0 at other symbols, −100 elsewhere: ``(n, length)``."""
    labels = torch.zeros_like(faulty.input_ids).scatter(1, faulty.at[:, None], 1)
    return labels.masked_fill(~symbols_of(world, faulty.input_ids), IGNORE)
