"""The exercises of notebook 10."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import (
    Probe,
    Symptom,
    in_short,
    number,
    number_with_gradient,
    wrong_kind,
)


def positions(value: Any) -> list[int]:
    """Read a list of positions, in whatever order and kind of collection."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, list | tuple | set | range) or not all(
        isinstance(at, int) and not isinstance(at, bool) for at in value
    ):
        if isinstance(value, list | tuple) and value and isinstance(value[0], float | str | tuple):
            raise Symptom(
                f"Your list begins with {in_short(value[0])}, which is no position; list where "
                "things stand, as whole numbers."
            )
        raise wrong_kind(value, "a list of positions, which are whole numbers")
    if len(set(value)) < len(value):
        raise Symptom("A position stands in your list twice; each is hidden once.")
    return sorted(value)


# ── 10.1 ─────────────────────────────────────────────────────────────────────────────────────────


def hidden_with(text: str, i: int) -> list[int]:
    """List position i and what follows it in its word: what is hidden when i is scored."""
    end = i + 1
    while text[i] != " " and end < len(text) and text[end] != " ":
        end += 1
    return list(range(i, end))


def texts_and_positions(chance: random.Random) -> list[Probe]:
    """Make lines, and positions at the beginning, inside and at the end of words, and a space."""
    words = ["umbrella", "rain", "a", "kitchen", "old", "garden", "sea"]
    probes: list[Probe] = [("the umbrella", 6), ("the umbrella", 0), ("old sea rain", 5)]
    for _ in range(4):
        text = " ".join(chance.sample(words, 4))
        probes.append((text, chance.randrange(1, len(text) - 1)))
    text = "garden rain sea"
    return [*probes, (text, 6), (text, 10), (text, 14), (text, 2)]


def _word(text: str, i: int) -> tuple[int, int]:
    """Return where the word around i begins and ends; a space is a word of its own."""
    if text[i] == " ":
        return i, i + 1
    return text.rfind(" ", 0, i) + 1, i + len(text[i:].split(" ")[0])


check_hidden_with = Exercise(
    solution=hidden_with,
    wants=positions,
    probes=texts_and_positions,
    solved="A letter is guessed from what stands before it in its word, and from all other words.",
    direction="Begin at i and go on until a space or the end of the text.",
    mistakes={
        "Only i is hidden: that is the pseudo-likelihood as it was, and the rest of the word gives "
        "the letter away.": lambda text, i: [i],
        "You hide what follows i in its word, but not i itself, which would then be read off.": (
            lambda text, i: hidden_with(text, i)[1:]
        ),
        "You hide the whole word; what stands before i in it may be seen.": (
            lambda text, i: list(range(*_word(text, i)))
        ),
        "You hide what stands before i in its word; hide what follows it.": (
            lambda text, i: list(range(_word(text, i)[0], i + 1))
        ),
        "You hide everything from i to the end of the text; stop at the end of the word.": (
            lambda text, i: list(range(i, len(text)))
        ),
        "You hide the space behind the word as well; stop before it.": (
            lambda text, i: list(range(i, min(len(text), _word(text, i)[1] + (text[i] != " "))))
        ),
        "The last letter of the word is not hidden; range and slices end before their end.": (
            lambda text, i: list(range(i, max(i + 1, _word(text, i)[1] - 1)))
        ),
        "At a space you hide the word behind it; a space is a word of its own.": (
            lambda text, i: list(range(i, i + 1 + len(text[i + 1 :].split(" ")[0])))
        ),
        "At a space your list is empty; a space is a word of its own, and hides itself.": (
            lambda text, i: hidden_with(text, i) if text[i] != " " else []
        ),
        "At a space you hide as many positions as the word behind it has letters; a space is a "
        "word of its own.": (lambda text, i: list(range(i, i + len(text[i:].split()[0])))),
        "In the last word there is no space to be found, and find then answers −1: the word ends "
        "where the text does.": (
            lambda text, i: (
                [i] if text.find(" ", i) < 0 else list(range(i, max(i + 1, text.find(" ", i))))
            )
        ),
        "Your positions count from the beginning of the word; count from that of the text.": (
            lambda text, i: [at - _word(text, i)[0] for at in hidden_with(text, i)]
        ),
        "Your positions count from i; count from the beginning of the text, i + 0, i + 1 …": (
            lambda text, i: list(range(len(hidden_with(text, i))))
        ),
    },
)

# ── 10.2 ─────────────────────────────────────────────────────────────────────────────────────────


def taken_back(sure: Mapping[int, float], step: int, steps: int) -> list[int]:
    """List the n · (T − t) // T positions of the lowest probability."""
    return sorted(sure, key=sure.__getitem__)[: len(sure) * (steps - step) // steps]


def doubts(chance: random.Random) -> list[Probe]:
    """Make how sure a model was at some positions, and a step of several."""
    probes: list[Probe] = []
    for n, step, steps in ((12, 1, 4), (10, 2, 5), (9, 2, 3), (8, 4, 4), (15, 3, 5), (7, 1, 3)):
        places = chance.sample(range(40), n)
        probes.append(({at: round(chance.uniform(0.01, 0.99), 4) for at in places}, step, steps))
    return probes


def _first_of(
    order: Callable[[Mapping[int, float]], list[int]], count: Callable[[int, int, int], int]
) -> Callable[[Mapping[int, float], int, int], list[int]]:
    return lambda sure, step, steps: order(sure)[: count(len(sure), step, steps)]


def _least(sure: Mapping[int, float]) -> list[int]:
    return sorted(sure, key=sure.__getitem__)


def _left(n: int, step: int, steps: int) -> int:
    return n * (steps - step) // steps


check_taken_back = Exercise(
    solution=taken_back,
    wants=positions,
    probes=doubts,
    solved="After the last step nothing is taken back, and the line is done.",
    direction="Sort the positions by sure[at] and keep the first "
    "len(sure) * (steps - step) // steps.",
    mistakes={
        "You take back what the model is surest of; sort from the lowest probability.": _first_of(
            lambda sure: _least(sure)[::-1], _left
        ),
        "You take back n · t / T: a few first, and everything after the last step. It is "
        "n · (T − t) / T.": _first_of(_least, lambda n, step, steps: n * step // steps),
        "You count one step too few: after step t of T, T − t steps are left.": _first_of(
            _least, lambda n, step, steps: n * (steps - step + 1) // steps
        ),
        "You count one step too many: after step t of T, T − t steps are left.": _first_of(
            _least, lambda n, step, steps: max(0, n * (steps - step - 1) // steps)
        ),
        "You multiply by (T − t) // T, which is 0 after every step; multiply by n first, and "
        "divide then.": _first_of(_least, lambda n, step, steps: n * ((steps - step) // steps)),
        "You take back one position too many; [:count] already ends before count.": _first_of(
            _least, lambda n, step, steps: _left(n, step, steps) + 1
        ),
        "Not rounded down: you round up, or to the nearest; // rounds down.": _first_of(
            _least, lambda n, step, steps: math.ceil(n * (steps - step) / steps)
        ),
        "You take the leftmost positions; take the least sure ones.": _first_of(sorted, _left),
        "You take the positions in the order in which they came; sort them by sure[at].": (
            _first_of(list, _left)
        ),
        "You list what is kept; what is asked for is what is taken back.": (
            lambda sure, step, steps: _least(sure)[_left(len(sure), step, steps) :]
        ),
        "You take back as many as there are steps left; it is that share of all positions, "
        "n · (T − t) / T.": _first_of(_least, lambda n, step, steps: steps - step),
        "You take back everything whenever a step is left.": (
            lambda sure, step, steps: list(sure) if step < steps else []
        ),
        "You list the ranks 0, 1, 2 …; list the positions themselves, the keys of sure.": (
            lambda sure, step, steps: list(range(_left(len(sure), step, steps)))
        ),
    },
)

# ── 10.3 ─────────────────────────────────────────────────────────────────────────────────────────

Costs = Mapping[tuple[int, frozenset[int]], float]
"""By a position and all that is hidden when it is written, itself included: −log P in nats."""


def order_bound(C: Costs, n: int) -> float:
    """Average, over all orders of n positions, what it costs to write them in that order."""
    return fmean(_paths(C, n))


def _paths(C: Costs, n: int, hidden: Callable[..., Any] | None = None) -> list[float]:
    def still(order: Sequence[int], k: int) -> frozenset[int]:
        return frozenset(order[k:])

    what = hidden or still
    return [
        sum(C[at, what(order, k)] for k, at in enumerate(order)) for order in permutations(range(n))
    ]


def tables(chance: random.Random) -> list[Probe]:
    """Make what two to four positions cost under every set of hidden ones."""
    probes: list[Probe] = []
    for n in (2, 3, 4, 3, 2):
        sets = [frozenset(i for i in range(n) if code >> i & 1) for code in range(1, 2**n)]
        probes.append(({(i, s): chance.uniform(0.1, 4) for s in sets for i in s}, n))
    return probes


def _by_number(C: Costs, n: int) -> list[list[float]]:
    """Return the costs by how many are hidden, 1 … n."""
    return [[c for (_, s), c in C.items() if len(s) == k] for k in range(1, n + 1)]


check_order_bound = Exercise(
    solution=order_bound,
    wants=number,
    probes=tables,
    solved=(
        "That is the bound. The mean over orders of −log P(along the order) is never below −log of "
        "the mean of P, which is what writing in random order really gives."
    ),
    direction="For each order add up C[at, what is still hidden], then take the mean over orders.",
    mistakes={
        "You added up over all orders; divide by their number, n!.": (
            lambda C, n: sum(_paths(C, n))
        ),
        "You divided by n; there are more orders than that, n!.": (
            lambda C, n: sum(_paths(C, n)) / n
        ),
        "When k are hidden, any one of them is written next: take the mean of their costs, not the "
        "sum.": (lambda C, n: sum(k * fmean(costs) for k, costs in enumerate(_by_number(C, n), 1))),
        "You took the best order; a bound for random order is the mean over all of them.": (
            lambda C, n: min(_paths(C, n))
        ),
        "You took the worst order; take the mean over all of them.": lambda C, n: max(_paths(C, n)),
        "That is the cost of the first order alone, from left to right: does `return` stand inside "
        "the loop?": lambda C, n: _paths(C, n)[0],
        "That is the cost of the last order alone, from right to left: is the sum begun anew for "
        "each order, or replaced?": lambda C, n: _paths(C, n)[-1],
        "You averaged the probabilities and took −log of that: it is what writing in random order "
        "really costs, and it is smaller. The bound is the mean of the costs.": (
            lambda C, n: -math.log(fmean(math.exp(-paid) for paid in _paths(C, n)))
        ),
        "You divided by n, too: that is the bound per symbol. What is asked for is that on the "
        "whole line.": lambda C, n: order_bound(C, n) / n,
        "You hid all n positions all the time: that is filling all at once. What has been written "
        "is seen by those that follow.": (
            lambda C, n: fmean(_paths(C, n, lambda order, k: frozenset(order)))
        ),
        "You hid only the position that is being written, as the pseudo-likelihood does; hide all "
        "that come later as well, order[k:].": (
            lambda C, n: fmean(_paths(C, n, lambda order, k: frozenset({order[k]})))
        ),
        "You hid only what comes after the position that is being written; it is still missing "
        "itself: frozenset(order[k:]).": (
            lambda C, n: fmean(_paths(C, n, lambda order, k: frozenset(order[k + 1 :])))
        ),
        "The keys of C are pairs of a position and a frozenset, which knows no order; you look up "
        "a tuple: frozenset(order[k:]).": lambda C, n: fmean(
            _paths(C, n, lambda order, k: order[k:])
        ),
        "The keys of C are pairs of a position and a frozenset; a set, which may change, can be no "
        "key: frozenset(order[k:]).": lambda C, n: fmean(
            _paths(C, n, lambda order, k: set(order[k:]))
        ),
        "You took the mean of all entries of C; numbers with many sets then count for more.": (
            lambda C, n: fmean(C.values())
        ),
        "You took n times the mean of all entries of C; numbers of hidden symbols of which there "
        "are many sets then count for more.": lambda C, n: n * fmean(C.values()),
        "You added up all entries of C; an order meets only n of them.": (
            lambda C, n: sum(C.values())
        ),
        "Your bound is in bits; here it is in nats.": lambda C, n: order_bound(C, n) / math.log(2),
    },
)

# ── 10.4 ─────────────────────────────────────────────────────────────────────────────────────────


def diffusion_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over lines of the mean cost of their hidden symbols."""
    costs = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    hidden = labels != -100
    return (costs.sum(1) / hidden.sum(1)).mean()


def batches(chance: random.Random) -> list[Probe]:
    """Make answers and labels of lines with few and many hidden symbols."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for lines, length in ((3, 6), (2, 8), (4, 5), (5, 7)):
        labels = torch.randint(28, (lines, length), generator=source)
        for row in range(lines):
            k = (1, length, length // 2, 2, length - 1)[row]
            shown = torch.randperm(length, generator=source)[k:]
            labels[row, shown] = -100
        logits = 2 * torch.randn(lines, length, 29, generator=source)
        probes.append((logits.requires_grad_(), labels))
    return probes


def _each(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return what every position costs, 0 where nothing is hidden, and how many are hidden."""
    costs = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    return costs, (labels != -100).sum(1)


def _combined(rule: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda logits, labels: rule(*_each(logits, labels))


check_diffusion_loss = Exercise(
    solution=diffusion_loss,
    wants=number_with_gradient,
    probes=batches,
    solved="Every line counts the same, whether one symbol of it is hidden or all.",
    direction="Divide the costs of each line by its number of hidden symbols, then average lines.",
    mistakes={
        "That is the masked language modeling loss: the mean over all hidden symbols together, in "
        "which lines with many gaps count for more. Average within each line first.": _combined(
            lambda costs, k: costs.sum() / k.sum()
        ),
        "You divided by the length of the line, not by the number of its hidden symbols: n/k is "
        "missing.": _combined(lambda costs, k: costs.mean()),
        "You forgot to divide by k; the sum of a line must be divided by its hidden symbols.": (
            _combined(lambda costs, k: costs.sum(1).mean())
        ),
        "You divided each line by the number of symbols that are hidden in all lines together; "
        "divide it by its own.": _combined(lambda costs, k: (costs.sum(1) / k.sum()).mean()),
        "You divided each line by its k, and by n as well, for you took the mean over positions; "
        "add up each line.": _combined(lambda costs, k: (costs / k[:, None]).mean()),
        "You averaged columns, the same place in all lines; a line is a row: dim=1.": _combined(
            lambda costs, k: (costs.sum(0) / (costs > 0).sum(0)).mean()
        ),
        "You reshaped the logits, which mixes places and symbols; swap the two dimensions with "
        "transpose(1, 2).": lambda logits, labels: diffusion_loss(
            logits.reshape(len(logits), logits.shape[2], -1).transpose(1, 2), labels
        ),
        "F.cross_entropy takes logits and makes the softmax itself; you gave it probabilities.": (
            lambda logits, labels: diffusion_loss(logits.softmax(-1), labels)
        ),
        "You added up the lines; take their mean.": _combined(
            lambda costs, k: (costs.sum(1) / k).sum()
        ),
        "You added up all costs and divided by nothing.": _combined(lambda costs, k: costs.sum()),
        "That is the bound on whole lines, n/k · the sum; per symbol it is divided by n.": (
            _combined(lambda costs, k: (costs.sum(1) * costs.shape[1] / k).mean())
        ),
        "You multiplied by k instead of dividing by it: lines with many gaps count k² times as "
        "much.": _combined(lambda costs, k: (costs.sum(1) * k).mean()),
        "Your loss is right in bits; training is in nats.": _combined(
            lambda costs, k: (costs.sum(1) / k).mean() / math.log(2)
        ),
        "Your loss has the wrong sign; a cost is −log P.": _combined(
            lambda costs, k: -(costs.sum(1) / k).mean()
        ),
        "You divided by the number of symbols that are shown; divide by those that are hidden.": (
            _combined(lambda costs, k: (costs.sum(1) / (costs.shape[1] - k)).mean())
        ),
        "That is the first line alone; average over all of them.": _combined(
            lambda costs, k: costs[0].sum() / k[0]
        ),
        "That is the last line alone: is the sum replaced for each line?": _combined(
            lambda costs, k: costs[-1].sum() / k[-1]
        ),
    },
)
