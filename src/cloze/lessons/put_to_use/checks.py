"""The exercises of notebook 11."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, in_short, kind_of, number, numbers, tensor

# ── 11.1 ─────────────────────────────────────────────────────────────────────────────────────────


def my_mean_pool(states: Tensor, padding: Tensor) -> Tensor:
    """Average states ``(batch, length, d)`` over what is not padding: ``(batch, d)``."""
    real = ~padding[..., None]
    return (states * real).sum(1) / real.sum(1)


def states_and_padding(chance: random.Random) -> list[Probe]:
    """Make hidden states of some lines and where their padding is."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for lengths in ([3, 5, 2], [4, 1], [6, 6, 3, 2]):
        most = max(lengths) + (1 if len(lengths) == 2 else 0)
        padding = torch.arange(most)[None] >= torch.tensor(lengths)[:, None]
        probes.append((torch.randn(len(lengths), most, 4, generator=source), padding))
    return probes


def _real(padding: Tensor) -> Tensor:
    return (~padding)[..., None].float()


check_my_mean_pool = Exercise(
    solution=my_mean_pool,
    wants=tensor(torch.float32),
    probes=states_and_padding,
    solved="What a line is filled up with no longer says anything about it.",
    direction="Multiply by ~padding[..., None], add up along dim 1, divide by how many are real.",
    mistakes={
        "The padding is averaged, too: a short line gets another vector in longer company.": (
            lambda states, padding: states.mean(1)
        ),
        "You averaged the padding alone: it is True where nobody reads, so use ~padding.": (
            lambda states, padding: (states * padding[..., None]).sum(1) / padding.sum(1)[:, None]
        ),
        "You left the padding out of the sum but divide by the whole length; divide by how many "
        "positions are real.": lambda states, padding: (states * _real(padding)).mean(1),
        "The dimension that you averaged over is still there, with length 1: leave out "
        "keepdim=True.": (
            lambda states, padding: (
                (states * _real(padding)).sum(1, keepdim=True) / _real(padding).sum(1, keepdim=True)
            )
        ),
        "That is one number per line: you averaged over the numbers of a state, too. Average over "
        "positions alone, dim 1.": (
            lambda states, padding: (
                (states * _real(padding)).sum((1, 2)) / (~padding).sum(1) / states.shape[2]
            )
        ),
        "You averaged the lines at each position (dim 0); average the positions of each line, "
        "dim 1.": (
            lambda states, padding: (states * _real(padding)).sum(0) / _real(padding).sum(0)
        ),
        "You divided by how many positions are padding; divide by how many are real.": (
            lambda states, padding: (states * _real(padding)).sum(1) / padding.sum(1)[:, None]
        ),
        "That is the sum of the real states; divide it by how many there are.": (
            lambda states, padding: (states * _real(padding)).sum(1)
        ),
        "You divided by the number of lines; each line has its own number of real positions.": (
            lambda states, padding: (states * _real(padding)).sum(1) / len(states)
        ),
        "All lines share one average in yours; boolean indexing puts the lines into one row. "
        "Add up along dim 1.": (
            lambda states, padding: states[~padding].mean(0).expand(len(states), -1)
        ),
        "That is a single vector for all lines; each line has one of its own.": (
            lambda states, padding: states[~padding].mean(0)
        ),
        "You averaged over the numbers of a state; average over positions, dim 1.": (
            lambda states, padding: (states * _real(padding)).sum(2) / states.shape[2]
        ),
        "That is the state at the first position, BERT's [CLS]; here the mean is asked for.": (
            lambda states, padding: states[:, 0]
        ),
        "That is the state at the last position, which is padding in short lines.": (
            lambda states, padding: states[:, -1]
        ),
        "That is the greatest number, not the mean, over the real positions.": (
            lambda states, padding: (
                states.masked_fill(padding[..., None], float("-inf")).max(1).values
            )
        ),
        "Every line is divided by the length of the first; keep one count per line: "
        "real.sum(1), not real[0].sum().": (
            lambda states, padding: (states * _real(padding)).sum(1) / _real(padding)[0].sum()
        ),
        "You divided by the number of real positions of all lines together; count along dim 1.": (
            lambda states, padding: (states * _real(padding)).sum(1) / _real(padding).sum()
        ),
    },
)

# ── 11.2 ─────────────────────────────────────────────────────────────────────────────────────────

Names = Sequence[set[tuple[str, int, int]]]
"""By line, the names in it: kind, first and last position."""


def name_f1(true: Names, said: Names) -> float:
    """Return 2 · right / (there + found), over all lines together; 0 if there is nothing."""
    right = sum(len(a & b) for a, b in zip(true, said, strict=True))
    total = sum(map(len, true)) + sum(map(len, said))
    return 2 * right / total if total else 0.0


def names_in_lines(chance: random.Random) -> list[Probe]:
    """Make lines with names, and what a model might have found."""
    probes: list[Probe] = [
        (
            [{("PER", 0, 1), ("LOC", 4, 4)}, {("PER", 0, 1)}, set()],
            [{("PER", 0, 1), ("PER", 4, 4)}, {("PER", 0, 0)}, {("PER", 0, 1)}],
        ),
        ([{("LOC", 2, 3)}, set()], [set(), set()]),
        ([set()], [set()]),
    ]
    for _ in range(3):
        true: list[set[tuple[str, int, int]]] = []
        said: list[set[tuple[str, int, int]]] = []
        for _ in range(chance.randint(3, 5)):
            starts = chance.sample(range(0, 20, 3), 4)
            there = [(chance.choice(["PER", "LOC"]), s, s + chance.randint(0, 2)) for s in starts]
            true.append(set(there[: chance.randint(1, 3)]))
            wrong = {"PER": "LOC", "LOC": "PER"}[there[0][0]], *there[0][1:]
            said.append({*there[chance.randint(0, 1) : 4], chance.choice([wrong, there[0]])})
        said[0] = true[0] | {("LOC", 30, 30)}
        probes.append((true, said))
    return probes


def _counts(true: Names, said: Names) -> tuple[int, int, int]:
    right = sum(len(a & b) for a, b in zip(true, said, strict=True))
    return right, sum(map(len, true)), sum(map(len, said))


def _rule(of: Callable[[int, int, int], float]) -> Callable[[Names, Names], float]:
    """Score by a rule of how many names are right, there and found."""
    return lambda true, said: of(*_counts(true, said))


def _share(a: float, b: float) -> float:
    return a / b if b else 0.0


def _right_in(right: Callable[[Names, Names], int]) -> Callable[[Names, Names], float]:
    """Score by a rule of which names are right; there and found are counted rightly."""
    return lambda true, said: _share(2 * right(true, said), sum(_counts(true, said)[1:]))


def _without(part: Callable[[tuple[str, int, int]], Any]) -> Callable[[Names, Names], float]:
    def f1(true: Names, said: Names) -> float:
        sets = [[{part(name) for name in line} for line in lines] for lines in (true, said)]
        return name_f1(*sets)

    return f1


def _merged(true: Names, said: Names) -> float:
    return name_f1([set().union(*true)], [set().union(*said)])


def _by_line(true: Names, said: Names) -> float:
    each = [name_f1([a], [b]) for a, b in zip(true, said, strict=True)]
    return sum(each) / len(each)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


check_name_f1 = Exercise(
    solution=name_f1,
    wants=number,
    probes=names_in_lines,
    solved="So counts seqeval, and so are named-entity systems compared.",
    direction="Add up right, there and found over all lines; F1 is 2 · right / (there + found).",
    mistakes={
        "That is the precision: the share of what was found that is right. F1 weighs in what was "
        "missed, too.": _rule(lambda right, there, found: _share(right, found)),
        "That is the recall: the share of what is there that was found. F1 weighs in what was "
        "found wrongly, too.": _rule(lambda right, there, found: _share(right, there)),
        "You took the ordinary mean of precision and recall; F1 is their harmonic mean, "
        "2 · right / (there + found).": _rule(
            lambda right, there, found: (_share(right, there) + _share(right, found)) / 2
        ),
        "You computed an F1 per line and averaged; add up the counts of all lines first.": _by_line,
        "All lines went into one set, so names at the same place of different lines became one; "
        "compare line by line.": _merged,
        "A name of the wrong kind counts as right in yours; kind, start and end must agree.": (
            _without(lambda name: name[1:])
        ),
        "A name counts as right in yours if only kind and start agree; its end matters.": (
            _without(lambda name: name[:2])
        ),
        "Divide by the names that are there and those that were found, together; right names "
        "stand in both, and that is why F1 has the factor 2.": _rule(
            lambda right, there, found: _share(right, there + found)
        ),
        "That is right / (right + wrong + missed), the Jaccard index; F1 counts what is right "
        "twice, above and below.": _rule(
            lambda right, there, found: _share(right, there + found - right)
        ),
        "Twice what is right belongs over there + found, in which right names count twice; in the "
        "union of both sets they count once.": _rule(
            lambda right, there, found: _share(2 * right, there + found - right)
        ),
        "You compared the names of every line with those of every other; zip(true, said) puts "
        "those of one line side by side.": _right_in(
            lambda true, said: sum(len(a & b) for a in true for b in said)
        ),
        "a - b is what stands in the first set alone, here the missed names; a & b is what both "
        "share.": _right_in(
            lambda true, said: sum(len(a - b) for a, b in zip(true, said, strict=True))
        ),
        "b - a is what stands in the second set alone, here what was found wrongly; a & b is what "
        "both share.": _right_in(
            lambda true, said: sum(len(b - a) for a, b in zip(true, said, strict=True))
        ),
        "You divided by the number of lines; count the names in them: sum(len(a) for a in true).": (
            lambda true, said: _share(2 * _counts(true, said)[0], len(true) + len(said))
        ),
        "That is the precision, and it divides by zero where nothing is found; F1 weighs in what "
        "was missed, too: 2 · right / (there + found).": _rule(
            lambda right, there, found: right / found
        ),
        "That is the recall, and it divides by zero where nothing is there; F1 weighs in what was "
        "found wrongly, too: 2 · right / (there + found).": _rule(
            lambda right, there, found: right / there
        ),
        "Where nothing is found, the precision divides by zero: 2 · right / (there + found) needs "
        "neither precision nor recall.": _rule(
            lambda right, there, found: _harmonic(right / found, right / there)
        ),
        "Where nothing is there and nothing found, yours divides by zero; F1 is 0 then.": _rule(
            lambda right, there, found: 2 * right / (there + found)
        ),
        "Nothing there and nothing found is agreed to count as 0, as seqeval has it.": _rule(
            lambda right, there, found: _share(2 * right, there + found) if there + found else 1.0
        ),
        "Where nothing is found, precision and recall are both 0, and their harmonic mean divides "
        "by zero: use 2 · right / (there + found).": _rule(
            lambda right, there, found: _harmonic(_share(right, found), _share(right, there))
        ),
        "Yours is the share of lines in which all names are right; count names.": (
            lambda true, said: (
                sum(a == b for a, b in zip(true, said, strict=True)) / max(1, len(true))
            )
        ),
    },
)

# ── 11.3 ─────────────────────────────────────────────────────────────────────────────────────────


def my_best_span(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    """Return first and last position, in this order, with the greatest start + end."""
    n = len(start)
    spans = [(i, j) for i in range(n) for j in range(i, n)]
    return max(spans, key=lambda span: start[span[0]] + end[span[1]])


def starts_and_ends(chance: random.Random) -> list[Probe]:
    """Make logits of starts and ends, some with the greatest end before the greatest start."""
    probes: list[Probe] = [
        ([0.5, 1.0, 4.0, 0.0], [0.3, 5.0, 1.0, 0.2]),
        ([3.0, 0.1, 0.2], [2.0, 0.4, 1.0]),
        ([0.0, -1.0, 6.0, 5.5, -2.0], [-3.0, 8.5, 1.0, 2.0, -4.0]),
        ([-1.0, 2.0, 0.0, 1.9], [-1.0, -1.0, -1.5, 4.0]),
        ([-3.0, -2.0, -1.0, -4.0], [-2.5, -1.5, -3.5, -0.5]),  # logits may all be negative
        ([-4.0, -2.0, -3.0], [-5.0, -1.0, -6.0]),
    ]
    for length in (5, 7, 9, 6):
        start, end = ([round(chance.gauss(0, 3), 3) for _ in range(length)] for _ in range(2))
        probes.append((start, end))
    for _ in range(3):  # here the two are best apart
        length = chance.randint(5, 8)
        start, end = ([round(chance.uniform(0, 2), 3) for _ in range(length)] for _ in range(2))
        start[length - 2] += 3
        end[1] += 3
        probes.append((start, end))
    return probes


def _argmax(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def _best(
    allowed: Callable[[int, int], bool], score: Callable[[float, float], float] = lambda a, b: a + b
) -> Callable[..., tuple[int, int]]:
    def span(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
        n = len(start)
        spans = [(i, j) for i in range(n) for j in range(n) if allowed(i, j)]
        return max(spans, key=lambda at: score(start[at[0]], end[at[1]]))

    return span


def _from_the_start(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    i = _argmax(start)
    return i, i + _argmax(end[i:])


def _from_the_end(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    j = _argmax(end)
    return _argmax(start[: j + 1]), j


def _of_two(value: Any) -> list[float]:
    """Read two numbers, as a list: they are right together or not at all."""
    return list(numbers("start", "end")(value))


def _more_than_zero(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    i, j = my_best_span(start, end)
    return (i, j) if start[i] + end[j] > 0 else (0, 0)


def _zero_elsewhere(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    n = len(start)
    sums = [start[i] + end[j] if i <= j else 0 for i in range(n) for j in range(n)]
    return divmod(_argmax(sums), n)


def _last(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    return len(start) - 1, len(end) - 1


def _summed_up(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    n = len(start)
    spans = [(i, j) for i in range(n) for j in range(i, n)]
    return max(spans, key=lambda at: sum(start[at[0] : at[1] + 1]) + sum(end[at[0] : at[1] + 1]))


def _cut(start: Sequence[float], end: Sequence[float]) -> tuple[int, int]:
    """Choose start and end apart, and let no span end before it begins."""
    i, j = _argmax(start), _argmax(end)
    return i, max(i, j)


def _then(change: Callable[[int, int], tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    return lambda start, end: change(*my_best_span(start, end))


check_my_best_span = Exercise(
    solution=my_best_span,
    wants=_of_two,
    probes=starts_and_ends,
    solved="No answer ends before it begins.",
    direction="Go through all pairs i ≤ j and keep the one with the greatest start[i] + end[j].",
    mistakes={
        "The best start and the best end, each for itself: then a span may end before it begins.": (
            _best(lambda i, j: True)
        ),
        "You exchanged start and end where they were the wrong way round; that pair need not be "
        "the best one. Look at all pairs i ≤ j.": (
            lambda start, end: tuple(sorted((_argmax(start), _argmax(end))))
        ),
        "A span of one word begins and ends at the same position: allow i == j.": (
            _best(lambda i, j: i < j)
        ),
        "You took the best start and then the best end after it; a worse start may allow a much "
        "better end.": _from_the_start,
        "You looked for the end in a list that begins at the start, so its positions count from "
        "there; and a worse start may allow a much better end.": (
            lambda start, end: (_argmax(start), _argmax(end[_argmax(start) :]))
        ),
        "You took the best end and then the best start before it; a worse end may allow a much "
        "better start.": _from_the_end,
        "The comparison is turned round: the start comes first, i ≤ j.": (
            _best(lambda i, j: j <= i)
        ),
        "The end belongs to the span: give its position, not the one behind it.": (
            _then(lambda i, j: (i, j + 1))
        ),
        "You gave the length in place of the end.": _then(lambda i, j: (i, j - i + 1)),
        "You gave the end first; the start comes first.": _then(lambda i, j: (j, i)),
        "You multiplied the logits; they are logarithms, so their sum is what counts.": (
            _best(lambda i, j: i <= j, lambda a, b: a * b)
        ),
        "You took the pair with the smallest sum.": (
            _best(lambda i, j: i <= j, lambda a, b: -a - b)
        ),
        "You begin with 0 as the best sum so far, and where all logits are negative nothing beats "
        "it; begin with float('-inf').": _more_than_zero,
        "Forbidden pairs hold 0 in yours (triu fills up with 0), and where all sums are negative 0 "
        "wins; fill them with float('-inf').": (_zero_elsewhere),
        "Whatever beats −∞ is kept, so the last pair wins: where you keep a pair, keep its sum as "
        "the best, too.": _last,
        "You added up all logits of the span; its first start and its last end are what counts.": (
            _summed_up
        ),
        "You chose start and end apart and pulled the end up to the start; that pair need not be "
        "the best one. Look at all pairs i ≤ j.": _cut,
        "Only spans that begin at the first position are tried: does your `return` stand inside "
        "the outer loop?": _best(lambda i, j: i == 0),
        "The last position is never tried as an end: range(i, n) goes up to n − 1.": (
            lambda start, end: my_best_span(start[:-1], end[:-1])
        ),
        "You never look at the first position.": _best(lambda i, j: 1 <= i <= j),
        "You judge a span by its better end alone; add the two.": (_best(lambda i, j: i <= j, max)),
        "Only spans of one word are tried; the end may be any position from the start on.": (
            _best(lambda i, j: i == j)
        ),
    },
)

# ── 11.4 ─────────────────────────────────────────────────────────────────────────────────────────

Pair = tuple[list[str], list[int]]


def pair_up(a: list[str], b: list[str]) -> Pair:
    """Return the symbols of a pair, and for each the number of its segment."""
    return (
        ["[BEGIN]", *a, "[SEP]", *b, "[END]"],
        [0] * (len(a) + 2) + [1] * (len(b) + 1),
    )


def pairs_of_sentences(chance: random.Random) -> list[Probe]:
    """Make two sentences of different lengths."""
    words = ["anna", "took", "the", "umbrella", "it", "was", "raining", "tom"]
    return [
        ([chance.choice(words) for _ in range(m)], [chance.choice(words) for _ in range(n)])
        for m, n in ((1, 1), (5, 3), (2, 4), (chance.randint(6, 8), chance.randint(1, 5)))
    ]


def symbols_and_segments(value: Any) -> tuple[list[str], list[int]]:
    """Read symbols and segments."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Symptom(
            f"Your answer is {kind_of(value)}; what is asked for are two lists, symbols and "
            "segments, with a comma between them."
        )
    symbols, segments = value
    if isinstance(segments, Tensor):
        segments = segments.tolist()
    for name, part, kind in (("symbols", symbols, str), ("segments", segments, int)):
        what = "texts" if kind is str else "whole numbers"
        if not isinstance(part, list | tuple):
            raise Symptom(f"Your {name} are {kind_of(part)}; they must be a list of {what}.")
        for entry in part:
            if isinstance(entry, list) and kind is str:
                raise Symptom(
                    f"Among your symbols is {kind_of(entry)}; * in front of a list writes its "
                    "words into the other one: [*a]."
                )
            if not isinstance(entry, kind):
                raise Symptom(
                    f"Among your {name} is {in_short(entry)}, {kind_of(entry)}; they must be a "
                    f"list of {what}, and the symbols come first."
                )
    if len(symbols) != len(segments):
        raise Symptom(
            f"There are {len(symbols)} symbols and {len(segments)} segments; every symbol has one, "
            "[BEGIN], [SEP] and [END] included."
        )
    return list(symbols), [int(segment) for segment in segments]


def _numbered(
    segments: Callable[[int, int], list[int]],
) -> Callable[[list[str], list[str]], Pair]:
    return lambda a, b: (pair_up(a, b)[0], segments(len(a), len(b)))


check_pair_up = Exercise(
    solution=pair_up,
    wants=symbols_and_segments,
    probes=pairs_of_sentences,
    solved="This is the input of every model that compares two texts in one reading.",
    direction="[BEGIN], a, [SEP] are segment 0; b and [END] are segment 1.",
    mistakes={
        "[SEP] ends the first part and belongs to it: its segment is 0.": (
            _numbered(lambda m, n: [0] * (m + 1) + [1] * (n + 2))
        ),
        "The [END] belongs to the second part: its segment is 1.": (
            _numbered(lambda m, n: [0] * (m + 2) + [1] * n + [0])
        ),
        "Segments count from 0.": _numbered(lambda m, n: [1] * (m + 2) + [2] * (n + 1)),
        "The segments are exchanged: the first part is 0.": (
            _numbered(lambda m, n: [1] * (m + 2) + [0] * (n + 1))
        ),
        "All your segments are 0, so the two parts cannot be told apart.": (
            _numbered(lambda m, n: [0] * (m + n + 3))
        ),
        "Your segments number the positions; they say which part a symbol is in, 0 or 1.": (
            _numbered(lambda m, n: [*range(m + n + 3)])
        ),
        "The special symbols have segments of their own in yours; they belong to the parts.": (
            _numbered(lambda m, n: [2] + [0] * m + [2] + [1] * n + [2])
        ),
        "[SEP] is missing between the two parts: where does the first one end?": (
            lambda a, b: (["[BEGIN]", *a, *b, "[END]"], [0] * (len(a) + 1) + [1] * (len(b) + 1))
        ),
        "[BEGIN] is missing in front.": (
            lambda a, b: ([*a, "[SEP]", *b, "[END]"], [0] * (len(a) + 1) + [1] * (len(b) + 1))
        ),
        "[END] is missing.": (
            lambda a, b: (["[BEGIN]", *a, "[SEP]", *b], [0] * (len(a) + 2) + [1] * len(b))
        ),
        "BERT ends with a [SEP]; here it is [END] that ends a line.": (
            lambda a, b: (["[BEGIN]", *a, "[SEP]", *b, "[SEP]"], pair_up(a, b)[1])
        ),
        "BERT ends with a [SEP]; here [END] alone ends the second part.": (
            lambda a, b: (
                ["[BEGIN]", *a, "[SEP]", *b, "[SEP]", "[END]"],
                [0] * (len(a) + 2) + [1] * (len(b) + 2),
            )
        ),
        "Whether a word stands in `a` does not say where it stands: [BEGIN] and [SEP] stand in "
        "neither, and a word may stand in both. Count positions.": (
            lambda a, b: (pair_up(a, b)[0], [int(word not in a) for word in pair_up(a, b)[0]])
        ),
        "BERT begins with [CLS]; here it is [BEGIN].": (
            lambda a, b: (["[CLS]", *a, "[SEP]", *b, "[END]"], pair_up(a, b)[1])
        ),
        "That is BERT's line, [CLS] a [SEP] b [SEP]; here [BEGIN] stands in front and [END] at the "
        "end.": lambda a, b: (["[CLS]", *a, "[SEP]", *b, "[SEP]"], pair_up(a, b)[1]),
        "The second sentence stands first in yours.": lambda a, b: pair_up(b, a),
        "Each part is framed by itself in yours; there is one [BEGIN] and one [END].": (
            lambda a, b: (
                ["[BEGIN]", *a, "[END]", "[SEP]", "[BEGIN]", *b, "[END]"],
                [0] * (len(a) + 3) + [1] * (len(b) + 2),
            )
        ),
    },
)
