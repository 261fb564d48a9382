"""A line to spoil: what is read, what is to be written, and how long both are."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import torch

from cloze.arguments import Probability, among, checked
from cloze.lessons.corrupt_and_repair.corruptions import CORRUPTIONS, SHARE, STOP, with_sentinels
from cloze.vocabulary import MASK, TextError, Vocabulary, counted

MOST_WORDS = 40
STRANGERS = ("river", "umbrella", "seven", "under", "slowly", "coffee")
"""Words that may replace others, in addition to those of the line."""


class Spoilt(NamedTuple):
    """A line of words, spoilt."""

    original: tuple[str, ...]
    read: tuple[str, ...]
    written: tuple[str, ...]


def words_of(line: str) -> tuple[str, ...]:
    """Take a typed line apart into words and full stops; one at the end is left out.

    Raises:
        TextError: it has no word, or too many.
    """
    typed = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[.!?]", line)
    words = [STOP if word in ".!?" else word for word in typed]
    while words and words[-1] == STOP:
        words.pop()
    if not words:
        raise TextError("The line is empty, so there is nothing to corrupt; type some words.")
    if len(words) > MOST_WORDS:
        raise TextError(
            f"The line has {counted(len(words), 'word')}, full stops included, and at most "
            f"{MOST_WORDS} are corrupted here; shorten it."
        )
    return tuple(words)


@checked
def spoil(
    line: str,
    corruption: Annotated[str, among(CORRUPTIONS)],
    share: Probability = SHARE,
    generator: torch.Generator | None = None,
) -> Spoilt:
    """Spoil a typed line by one of ``CORRUPTIONS``, word by word.

    Args:
        line: words, with full stops between sentences.
        corruption: its name.
        share: how much is corrupted, where that has a meaning.
        generator: the source of chance.

    Raises:
        ValueError: there is no such corruption or share.
        TextError: the line has no word, or too many.
    """
    words = words_of(line)
    known = Vocabulary(tuple(dict.fromkeys([*words, *STRANGERS, STOP])), (MASK,))
    vocabulary = with_sentinels(known, len(words) + 2)
    line_ids = torch.tensor([vocabulary.ids[word] for word in words])
    inputs, target = CORRUPTIONS[corruption].spoil(line_ids, share, vocabulary, generator)
    read, written = (
        tuple(vocabulary.symbols[i] for i in part.tolist()) for part in (inputs, target)
    )
    return Spoilt(words, read, written)
