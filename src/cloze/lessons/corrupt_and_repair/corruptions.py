"""Corruptions: ways to spoil a line, each with what is then read and what is to be written.

Masking (``masking.py``) keeps the length of a line and asks at single positions. Here lines may
become shorter, longer or change their order, and what is to be written is a line of its own: the
original in BART's ways, in T5's only what was taken out. A line has one ordinary symbol or
more and nothing else; what frames it (``[BEGIN]``, ``[PAD]``) is put on afterwards. A function
draws a corruption from a generator and changes nothing that it is given. ``@corruption`` gives a
function its name: with it, the widget and the notebook show it.

Sources: Lewis et al. 2020, BART, section 2.2; Raffel et al. 2020, T5, section 3.1.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from cloze.masking import mask_tokens
from cloze.vocabulary import Vocabulary

SHARE, MEAN_LENGTH = 0.15, 3.0
"""T5's: the share of a line that is taken out, and how long a span is on average."""
SENTINELS = 16
"""How many gaps with names of their own :func:`with_sentinels` makes room for by default."""
STOP = "."
"""The word that ends a sentence."""

Spans = list[tuple[int, int]]


class Corrupted(NamedTuple):
    """A spoilt line, and what it is to be turned into."""

    inputs: Tensor
    """The ids that are read, shape ``(read,)``."""
    target: Tensor
    """The ids that are to be written, shape ``(written,)``."""


Chance = torch.Generator | None


Spoil = Callable[[Tensor, float, Vocabulary, Chance], Corrupted]
"""Spoils a line ``(length,)``, of which it corrupts a share where that has a meaning."""


class LineCorruption(NamedTuple):
    """A way to spoil a line."""

    spoil: Spoil
    loses: str
    """What a reader no longer sees, as sentences."""
    has_share: bool
    """Whether one can choose how much of a line is corrupted."""


CORRUPTIONS: dict[str, LineCorruption] = {}
"""Every corruption by the name that the field has for it."""


def corruption(name: str, loses: str, *, has_share: bool = True) -> Callable[[Spoil], Spoil]:
    """Enter a function among ``CORRUPTIONS``.

    Args:
        name: what the field calls it.
        loses: what a reader no longer sees, as sentences.
        has_share: whether one can choose how much of a line is corrupted.
    """

    def enter(spoil: Spoil) -> Spoil:
        CORRUPTIONS[name] = LineCorruption(spoil, loses, has_share)
        return spoil

    return enter


@corruption("token masking", "You see where words are missing, and how many.")
def mask(line: Tensor, share: float, vocabulary: Vocabulary, generator: Chance) -> Corrupted:
    """Put ``[MASK]`` in the place of each symbol with probability ``share``."""
    masked = mask_tokens(
        line,
        share,
        mask_share=1,
        random_share=0,
        vocabulary=vocabulary,
        at_least_one=False,
        generator=generator,
    )
    return Corrupted(masked.inputs, line)


@corruption(
    "token deletion", "You do not see where a word is missing, or even that one is missing."
)
def delete(line: Tensor, share: float, __: Vocabulary, generator: Chance) -> Corrupted:
    """Delete each symbol with probability ``share``: nothing shows *where* one is missing."""
    return Corrupted(line[torch.rand(line.shape, generator=generator) >= share], line)


@corruption("token replacement", "You do not see which words are wrong. It could be any of them.")
def replace(line: Tensor, share: float, vocabulary: Vocabulary, generator: Chance) -> Corrupted:
    """Replace each symbol, with probability ``share``, by one of the *other* ordinary symbols."""
    n = vocabulary.n_ordinary
    # So many places further on in the vocabulary, and never all the way round.
    away = torch.randint(1, n, line.shape, generator=generator)
    chosen = torch.rand(line.shape, generator=generator) < share
    return Corrupted(torch.where(chosen, (line + away) % n, line), line)


@corruption(
    "text infilling",
    "You see where something is missing, but not how much. It may be nothing.",
)
def infill(line: Tensor, share: float, vocabulary: Vocabulary, generator: Chance) -> Corrupted:
    """Put ONE ``[MASK]`` in the place of each of some spans: nothing shows how long they were.

    Lengths are Poisson(3), drawn until a ``share`` of the line is taken out, of which the last may
    be cut short. A length of 0 puts a ``[MASK]`` where nothing is missing.
    """
    taken = number_taken(len(line), share)
    lengths: list[int] = []
    while sum(lengths) < taken:
        drawn = int(torch.poisson(torch.tensor(MEAN_LENGTH), generator=generator))
        lengths.append(min(drawn, taken - sum(lengths)))
    # No two spans touch, so there is room for one more than there are symbols left.
    lengths = sorted(lengths, reverse=True)[: len(line) - taken + 1]
    order = torch.randperm(len(lengths), generator=generator)
    spans = _drawn([lengths[i] for i in order.tolist()], len(line), generator)
    return Corrupted(_with_signs(line, spans, [vocabulary.mask_id] * len(spans)), line)


@corruption(
    "sentence permutation",
    "All the words are there, but the order of the sentences is lost. A single sentence stays as "
    "it is, so put a full stop between sentences.",
    has_share=False,
)
def permute(line: Tensor, _: float, vocabulary: Vocabulary, generator: Chance) -> Corrupted:
    """Put the sentences of a text, which full stops set apart, into a random order."""
    stop = vocabulary.ids.get(STOP)  # without one, a text is a single sentence
    sentences: list[list[int]] = [[]]
    for symbol in line.tolist():
        if symbol == stop:
            sentences.append([])
        else:
            sentences[-1].append(symbol)
    order = torch.randperm(len(sentences), generator=generator).tolist()
    moved = [symbol for i in order for symbol in (stop, *sentences[i])]
    return Corrupted(torch.tensor(moved[1:]), line)


@corruption(
    "document rotation",
    "All the words are there, but you do not see where the text begins.",
    has_share=False,
)
def rotate(line: Tensor, _: float, __: Vocabulary, generator: Chance) -> Corrupted:
    """Let a text begin at any of its symbols; what came before follows at the end."""
    begin = int(torch.randint(len(line), (), generator=generator))
    return Corrupted(line.roll(-begin), line)


# T5's sentinels


def sentinel(i: int) -> str:
    """Return the name of gap number ``i`` = 0, 1, … as T5 calls it."""
    return f"<extra_id_{i}>"


def with_sentinels(vocabulary: Vocabulary, count: int) -> Vocabulary:
    """Return a vocabulary with so many sentinels more."""
    return vocabulary.with_specials(*map(sentinel, range(count)))


def sentinels(vocabulary: Vocabulary) -> list[int]:
    """Return the ids of all sentinels of a vocabulary, in their order."""
    return [vocabulary.ids[s] for s in vocabulary.specials if s.startswith("<extra_id_")]


@corruption(
    "sentinels",
    "You see where something is missing, but not how much. Only the missing part is written.",
)
def take_out(line: Tensor, share: float, vocabulary: Vocabulary, generator: Chance) -> Corrupted:
    """Put a sentinel in the place of each span that is taken out, and write the spans after them.

    So many symbols are taken out as ``share`` of the line is when rounded, in spans of
    ``MEAN_LENGTH`` on average: all spans of all lines of one length are as long together, which T5
    chose so that a batch has no padding. All ways to do so are equally likely, and no two spans
    touch. (T5's own code never takes out the first symbol and always the last.) The target ends
    with the sentinel that comes next.
    """
    taken = number_taken(len(line), share)
    count = number_of_spans(len(line), taken)
    cuts = (1 + torch.randperm(taken - 1, generator=generator)[: count - 1]).sort().values.tolist()
    return out_of(line, _drawn(lengths_between(cuts, taken), len(line), generator), vocabulary)


def out_of(line: Tensor, spans: Spans, vocabulary: Vocabulary) -> Corrupted:
    """Take given spans (start and end, in order) out of a line, in T5's way."""
    signs, symbols = sentinels(vocabulary), line.tolist()
    target: list[int] = []
    for sign, (start, end) in zip(signs, spans, strict=False):
        target += [sign, *symbols[start:end]]
    return Corrupted(_with_signs(line, spans, signs), torch.tensor([*target, signs[len(spans)]]))


def restore(inputs: Tensor, target: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Put what was taken out back into its gaps, shape ``(length,)``.

    What a model writes for no gap is dropped, and a gap for which it writes nothing stays empty.
    """
    signs = sentinels(vocabulary)
    written: dict[int, list[int]] = {}
    part: list[int] = []
    for symbol in target.tolist():
        if symbol in signs:
            part = written.setdefault(symbol, [])
        else:
            part.append(symbol)
    whole: list[int] = []
    for symbol in inputs.tolist():
        whole += written.get(symbol, []) if symbol in signs else [symbol]
    return torch.tensor(whole, dtype=torch.int64)


# What they share


def number_of_spans(length: int, taken: int) -> int:
    """Return into how many spans that do not touch so many symbols of a line are divided."""
    return min(max(1, round(taken / MEAN_LENGTH)), taken, length - taken + 1)


def number_taken(length: int, share: float) -> int:
    """Return how many symbols of a line are taken out, at least one."""
    return max(1, round(share * length))


def lengths_between(cuts: Sequence[int], total: int) -> list[int]:
    """Return how long the parts are into which cuts divide a number."""
    return [b - a for a, b in pairwise([0, *cuts, total])]


def placed(before: Sequence[int], lengths: Sequence[int]) -> Spans:
    """Return the spans of a line that have these lengths and so many other symbols before each."""
    spans, gone = [], 0
    for left, size in zip(before, lengths, strict=True):
        spans.append((left + gone, left + gone + size))
        gone += size
    return spans


def _drawn(lengths: list[int], length: int, generator: Chance) -> Spans:
    """Draw where spans of these lengths go in a line, in this order and never side by side."""
    kept = length - sum(lengths)
    before = torch.randperm(kept + 1, generator=generator)[: len(lengths)].sort().values.tolist()
    return placed(before, lengths)


def _with_signs(line: Tensor, spans: Spans, signs: list[int]) -> Tensor:
    """Put one sign in the place of each span."""
    symbols, shown, done = line.tolist(), [], 0
    for (start, end), sign in zip(spans, signs, strict=False):
        shown += [*symbols[done:start], sign]
        done = end
    return torch.tensor([*shown, *symbols[done:]])
