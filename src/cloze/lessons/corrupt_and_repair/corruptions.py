"""Corruptions: ways to spoil a line, each with what is then read and what is to be written.

Masking (``masking.py``) keeps the length of a line and asks at single positions. Here lines may
become shorter, longer or change their order, and what is to be written is a line of its own: the
original in BART's five ways, in T5's only what was taken out. A function draws a corruption from a
generator and changes nothing that it is given; lines are ordinary symbols alone, and what frames
them (``[BEGIN]``, ``[PAD]``) is put on afterwards.

Sources: Lewis et al. 2020, BART, section 2.2; Raffel et al. 2020, T5, section 3.1.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from cloze.border import Ids, Line, Probability, between, checked, known_symbols
from cloze.masking import mask_tokens
from cloze.vocabulary import VOCABULARY, Vocabulary, counted

SHARE, MEAN_LENGTH = 0.15, 3.0
"""T5's: the share of a line that is taken out, and how long a span is on average."""
Mean = Annotated[float, between(1, 1000)]
"""The mean length of a span."""
SENTINELS = 16
"""How many gaps with names of their own :func:`with_sentinels` makes room for by default."""


class Corrupted(NamedTuple):
    """A spoilt line, and what it is to be turned into."""

    inputs: Tensor
    """The ids that are read, shape ``(read,)``."""
    target: Tensor
    """The ids that are to be written, shape ``(written,)``."""


@checked
def delete(
    line: Line,
    rate: Probability = SHARE,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Delete each symbol with probability ``rate``: not even *where* something is missing is seen.

    Raises:
        ValueError: the line (``(length,)``) is empty or no ordinary text, or the rate is none.
    """
    _only_text(line, vocabulary)
    return Corrupted(line[~_chosen(line, rate, generator)], line)


@checked
def replace(
    line: Line,
    rate: Probability = SHARE,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Replace each symbol, with probability ``rate``, by one of the *other* ordinary symbols.

    Raises:
        ValueError: as :func:`delete`; or there is no other symbol.
    """
    _only_text(line, vocabulary)
    n = vocabulary.n_ordinary
    if n < 2:
        raise ValueError("This vocabulary has one ordinary symbol, and none to replace it by.")
    # So many places further on in the vocabulary, and never all the way round.
    away = torch.randint(1, n, line.shape, generator=generator)
    return Corrupted(torch.where(_chosen(line, rate, generator), (line + away) % n, line), line)


@checked
def mask(
    line: Line,
    rate: Probability = SHARE,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Put ``[MASK]`` in the place of each symbol with probability ``rate``.

    Raises:
        ValueError: as :func:`delete`.
    """
    _only_text(line, vocabulary)
    masked = mask_tokens(
        line,
        rate,
        mask_share=1,
        random_share=0,
        vocabulary=vocabulary,
        at_least_one=False,
        generator=generator,
    )
    return Corrupted(masked.inputs, line)


@checked
def infill(
    line: Line,
    share: Probability = 0.3,
    mean_length: Mean = MEAN_LENGTH,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Put ONE ``[MASK]`` in the place of each of some spans: how many are missing is not seen.

    Lengths are Poisson(``mean_length``), drawn until a ``share`` of the line is taken out, of which
    the last may be cut short. A length of 0 puts a ``[MASK]`` where nothing is missing.

    Raises:
        ValueError: as :func:`delete`; or such spans do not fit into the line.
    """
    _only_text(line, vocabulary)
    taken = _taken(line, share, mean_length)
    lengths: list[int] = []
    while sum(lengths) < taken:
        drawn = int(torch.poisson(torch.tensor(float(mean_length)), generator=generator))
        lengths.append(min(drawn, taken - sum(lengths)))
    # No two spans touch, so there is room for one more than there are symbols left.
    lengths = sorted(lengths, reverse=True)[: len(line) - taken + 1]
    order = torch.randperm(len(lengths), generator=generator)
    spans = _placed([lengths[i] for i in order.tolist()], len(line), generator)
    return Corrupted(_with_signs(line, spans, [vocabulary.mask_id] * len(spans)), line)


@checked
def permute(
    text: Line,
    separator: str = "\n",
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Put the sentences of a text, which a separator sets apart, into a random order.

    Raises:
        ValueError: as :func:`delete`; or the separator is no ordinary symbol.
    """
    _only_text(text, vocabulary)
    if separator not in [*vocabulary.ordinary]:
        raise ValueError(
            f"The separator is an ordinary symbol of the vocabulary, and {separator!r:.60} is none."
        )
    between = vocabulary.ids[separator]
    sentences: list[list[int]] = [[]]
    for symbol in text.tolist():
        if symbol == between:
            sentences.append([])
        else:
            sentences[-1].append(symbol)
    order = torch.randperm(len(sentences), generator=generator).tolist()
    moved = [symbol for i in order for symbol in (between, *sentences[i])]
    return Corrupted(torch.tensor(moved[1:]), text)


@checked
def rotate(
    text: Line,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Let a text begin at any of its symbols; what stood before follows at the end.

    Raises:
        ValueError: as :func:`delete`.
    """
    _only_text(text, vocabulary)
    begin = int(torch.randint(len(text), (), generator=generator))
    return Corrupted(text.roll(-begin), text)


# T5's sentinels


def sentinel(i: int) -> str:
    """Return the name of gap number ``i`` = 0, 1, … as T5 calls it."""
    return f"<extra_id_{i}>"


@checked
def with_sentinels(
    vocabulary: Vocabulary, count: Annotated[int, between(2, 1000)] = SENTINELS
) -> Vocabulary:
    """Return a vocabulary with so many sentinels more."""
    return vocabulary.with_specials(*map(sentinel, range(count)))


@checked
def take_out(
    line: Line,
    share: Probability = SHARE,
    mean_length: Mean = MEAN_LENGTH,
    *,
    vocabulary: Vocabulary,
    generator: torch.Generator | None = None,
) -> Corrupted:
    """Put a sentinel in the place of each span that is taken out, and write the spans after them.

    So many symbols are taken out as ``share`` of the line is when rounded, in so many spans as
    ``mean_length`` then asks for, at least one of each: all spans of all lines of one length are as
    long together, which T5 chose so that a batch has no padding. All ways to do so are equally
    likely, and no two spans touch. (T5's own code never takes out the first symbol and always the
    last.) The target ends with the sentinel that comes next.

    Raises:
        ValueError: as :func:`delete`; or the spans do not fit into the line, or the vocabulary has
            too few sentinels.
    """
    _only_text(line, vocabulary)
    taken = _taken(line, share, mean_length)
    count = number_of_spans(len(line), taken, mean_length)
    signs = _sentinels(vocabulary)
    if count + 1 > len(signs):
        raise ValueError(
            f"{counted(count, 'gap')} and the end need {count + 1} sentinels, and this vocabulary "
            f"has {len(signs)}; take out less, in longer spans, or make it with "
            f"with_sentinels(vocabulary, {count + 1})."
        )
    cuts = (1 + torch.randperm(taken - 1, generator=generator)[: count - 1]).sort().values.tolist()
    lengths = [b - a for a, b in zip([0, *cuts], [*cuts, taken], strict=True)]
    return out_of(line, _placed(lengths, len(line), generator), vocabulary)


@checked
def out_of(line: Line, spans: list[tuple[int, int]], vocabulary: Vocabulary) -> Corrupted:
    """Take given spans (start and end) out of a line, in T5's way.

    Raises:
        ValueError: the spans do not follow each other in the line.
    """
    ends = [end for span in spans for end in span]
    if ends != sorted(ends) or (ends and not 0 <= ends[0] <= ends[-1] <= len(line)):
        raise ValueError(
            f"Spans follow each other inside the line's {len(line)} symbols, not {spans[:20]}."
        )
    signs = _sentinels(vocabulary)
    symbols = line.tolist()
    target: list[int] = []
    for sign, (start, end) in zip(signs, spans, strict=False):
        target += [sign, *symbols[start:end]]
    return Corrupted(_with_signs(line, spans, signs), torch.tensor([*target, signs[len(spans)]]))


@checked
def restore(inputs: Line, target: Ids, vocabulary: Vocabulary) -> Tensor:
    """Put what was taken out back into its gaps, shape ``(length,)``.

    Raises:
        ValueError: the target does not write what belongs to the sentinels of the input, each in
            its turn.
    """
    signs = {sign: i for i, sign in enumerate(_sentinels(vocabulary))}
    order = [*signs]
    gaps = [symbol for symbol in inputs.tolist() if symbol in signs]
    written: list[list[int]] = []
    for symbol in target.tolist():
        if symbol in signs:
            written.append([symbol])
        elif written:
            written[-1].append(symbol)
    heads = [part[0] for part in written]
    begun = len(target) > 0 and int(target[0]) in signs
    if (
        not begun
        or gaps != order[: len(gaps)]
        or heads != order[: len(gaps) + 1]
        or written[-1][1:]
    ):
        raise ValueError(
            "What was taken out is written after the sentinels of the input, each once and in "
            f"its turn, and the next one ends it; so {counted(len(gaps), 'gap')} "
            f"need{'s' * (len(gaps) == 1)} {counted(len(gaps) + 1, 'sentinel')}, not "
            f"{[order.index(h) for h in heads][:20]}."
        )
    whole: list[int] = []
    for symbol in inputs.tolist():
        whole += written[signs[symbol]][1:] if symbol in signs else [symbol]
    return torch.tensor(whole, dtype=torch.int64)


# What they share


def number_of_spans(length: int, taken: int, mean_length: float) -> int:
    """Return into how many spans that do not touch so many symbols of a line are divided."""
    return min(max(1, round(taken / mean_length)), taken, length - taken + 1)


def number_taken(length: int, share: float) -> int:
    """Return how many symbols of a line are taken out, at least one."""
    return max(1, round(share * length))


def _taken(line: Tensor, share: float, mean_length: float) -> int:
    """Return how many symbols are taken out of a line in spans.

    Raises:
        ValueError: the spans are longer than the line.
    """
    if mean_length > len(line):
        raise ValueError(
            f"The mean length of a span is at least 1 and at most {len(line)}, the length of the "
            f"line, not {mean_length:g}."
        )
    return number_taken(len(line), share)


def _placed(
    lengths: list[int], length: int, generator: torch.Generator | None
) -> list[tuple[int, int]]:
    """Draw where spans of these lengths stand in a line, in this order and never side by side."""
    kept = length - sum(lengths)
    before = torch.randperm(kept + 1, generator=generator)[: len(lengths)].sort().values.tolist()
    spans, gone = [], 0
    for left, size in zip(before, lengths, strict=True):
        spans.append((left + gone, left + gone + size))
        gone += size
    return spans


def _with_signs(line: Tensor, spans: list[tuple[int, int]], signs: list[int]) -> Tensor:
    """Put one sign in the place of each span."""
    symbols, shown, done = line.tolist(), [], 0
    for (start, end), sign in zip(spans, signs, strict=False):
        shown += [*symbols[done:start], sign]
        done = end
    return torch.tensor([*shown, *symbols[done:]])


def _chosen(line: Tensor, rate: float, generator: torch.Generator | None) -> Tensor:
    """Choose each position of a line with probability ``rate``: boolean, ``(length,)``."""
    return torch.rand(line.shape, generator=generator) < rate


def _only_text(line: Tensor, vocabulary: Vocabulary) -> None:
    """Refuse a line that is empty or holds more than ordinary symbols."""
    if not line.numel():
        raise ValueError("The line is empty, so there is nothing to spoil; type some text.")
    most = int(known_symbols(line, len(vocabulary)).max())
    if most >= vocabulary.n_ordinary:
        raise ValueError(
            f"Only text can be spoilt, and this line holds {vocabulary.symbols[most]}; leave "
            "special symbols out, and put them around what comes of it."
        )


def _sentinels(vocabulary: Vocabulary) -> list[int]:
    """Return the ids of all sentinels of a vocabulary, in their order.

    Raises:
        ValueError: there is none.
    """
    found = [vocabulary.ids[s] for s in vocabulary.specials if s.startswith("<extra_id_")]
    if not found:
        raise ValueError("This vocabulary has no sentinels; make it with with_sentinels(…).")
    return found


CORRUPTIONS: Mapping[str, Callable[..., Corrupted]] = {
    "token masking": mask,
    "token deletion": delete,
    "token replacement": replace,
    "text infilling": infill,
    "sentence permutation": permute,
    "document rotation": rotate,
    "sentinels": take_out,
}
"""Every corruption by the name that the field has for it."""
