"""The exercises of notebook 07."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, number, tensor

# ── 7.1 ──────────────────────────────────────────────────────────────────────────────────────────

Next = Mapping[str, Mapping[str, float]]
"""By what stands there already, the probability of each next word."""


def chain_cost(P: Next, words: Sequence[str]) -> float:
    """Add up −log P(word | all words before it) over the words of a sentence, in nats."""
    return -sum(math.log(P[" ".join(words[:i])][word]) for i, word in enumerate(words))


def sentences(chance: random.Random) -> list[Probe]:
    """Make sentences of a few words, and what may come next after each of their beginnings."""
    probes: list[Probe] = []
    for length in (3, 4, 1, 5, 3):
        words = [chance.choice(["dog", "cat", "barks", "sleeps", "here"]) for _ in range(length)]
        table = {}
        for i, word in enumerate(words):
            p = round(chance.uniform(0.05, 0.9), 3)
            other = next(w for w in ("owl", "cat", "dog") if w != word)
            table[" ".join(words[:i])] = {word: p, other: 1 - p}
        probes.append((table, words))
    return probes


def _probabilities(P: Next, words: Sequence[str]) -> list[float]:
    return [P[" ".join(words[:i])][word] for i, word in enumerate(words)]


check_chain_cost = Exercise(
    solution=chain_cost,
    wants=number,
    probes=sentences,
    solved="The costs add because the probabilities multiply: that is the chain rule.",
    direction="Add up −math.log of P[the words before, joined by spaces][the word] for every word.",
    mistakes={
        "Your cost is negative, and a cost is −log P: did you forget the minus?": (
            lambda P, words: -chain_cost(P, words)
        ),
        "That is the probability of the sentence itself; its cost is −math.log of it.": (
            lambda P, words: math.prod(_probabilities(P, words))
        ),
        "You left out the first word: it has a probability, too, P[''][word].": (
            lambda P, words: -sum(map(math.log, _probabilities(P, words)[1:]))
        ),
        "You left out the last word: the sentence is not over before it.": (
            lambda P, words: -sum(map(math.log, _probabilities(P, words)[:-1]))
        ),
        "You divided by the number of words; the cost of the sentence is the sum.": (
            lambda P, words: chain_cost(P, words) / len(words)
        ),
        "You added the probabilities and took the logarithm of the sum; take it of each one.": (
            lambda P, words: -math.log(sum(_probabilities(P, words)))
        ),
        "Your cost is right in bits; here it is in nats, so use math.log.": (
            lambda P, words: chain_cost(P, words) / math.log(2)
        ),
        "You looked every word up after the empty beginning; P wants all words before it.": (
            lambda P, words: -sum(math.log(P[""].get(word, 1e-9)) for word in words)
        ),
    },
)

# ── 7.2 ──────────────────────────────────────────────────────────────────────────────────────────


def one_place_late(windows: Tensor, first: int) -> Tensor:
    """Move every line to the right by one place, behind the id ``first``; the last id falls out."""
    late = windows.roll(1, dims=1)
    late[:, 0] = first
    return late


def windows_to_move(chance: random.Random) -> list[Probe]:
    """Make windows of ids of several shapes, and the id that comes first."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    return [
        (torch.randint(28, shape, generator=source), first)
        for shape, first in (((2, 6), 28), ((1, 9), 28), ((3, 5), 0), ((4, 4), 28))
    ]


def _behind(windows: Tensor, first: int, kept: Tensor) -> Tensor:
    return torch.cat([torch.full_like(windows[:, :1], first), kept], dim=1)


def _ahead(windows: Tensor, last: int) -> Tensor:
    return torch.cat([windows[:, 1:], torch.full_like(windows[:, :1], last)], dim=1)


check_one_place_late = Exercise(
    solution=one_place_late,
    wants=tensor(torch.long),
    probes=windows_to_move,
    solved="At place i stands what came before x_i, so x_i can be asked about and is not seen.",
    direction="Put a column of `first` in front of windows[:, :-1].",
    mistakes={
        "Nothing has moved: at place i stands x_i itself, and the model would be asked about what "
        "it reads.": lambda windows, first: windows.clone(),
        "The first place holds the last character of the line: roll is a circle, so put `first` "
        "there. As it is, the future leaks in at the front.": (
            lambda windows, first: windows.roll(1, dims=1)
        ),
        "You moved to the left: at place i stands x_{i+1}, which is to the right of what is "
        "asked.": _ahead,
        "Your lines have become longer by one: the last id falls out, windows[:, :-1].": (
            lambda windows, first: _behind(windows, first, windows)
        ),
        "Your lines have lost their last character and nothing stands in front: put a column of "
        "`first` there.": lambda windows, first: windows[:, :-1],
        "You replaced the first character by `first`, and moved nothing.": (
            lambda windows, first: _behind(windows, first, windows[:, 1:])
        ),
        "You moved the lines among each other; move within each line, along dim 1.": (
            lambda windows, first: windows.roll(1, dims=0)
        ),
    },
)

# ── 7.3 ──────────────────────────────────────────────────────────────────────────────────────────


def prefix_mask(length: int, prefix: int) -> Tensor:
    """Return True where a query (row) may look at a key (column), ``(length, length)``."""
    query = torch.arange(length)[:, None]
    key = torch.arange(length)[None, :]
    return (key <= query) | (key < prefix)


def lengths_and_prefixes(chance: random.Random) -> list[Probe]:
    """Make lengths of lines and of prefixes, none and all among them."""
    some = [(n := chance.randint(4, 9), chance.randint(2, n - 1)) for _ in range(4)]
    return [(6, 3), *some, (5, 0), (4, 4)]


def _who(length: int) -> tuple[Tensor, Tensor]:
    places = torch.arange(length)
    return places[:, None], places[None, :]


def _wrong(rule: str) -> Callable[[int, int], Tensor]:
    def mask(length: int, prefix: int) -> Tensor:
        query, key = _who(length)
        rules = {
            "causal": key <= query,
            "all": key < length + 0 * query,
            "prefix only": (key < prefix) & (query >= 0),
            "one more": (key <= query) | (key <= prefix),
            "and": (key <= query) & (key < prefix),
            "not itself": (key < query) | (key < prefix),
            "open": (key <= query) | (query < prefix),
        }
        return rules[rule]

    return mask


check_prefix_mask = Exercise(
    solution=prefix_mask,
    wants=tensor(torch.bool),
    probes=lengths_and_prefixes,
    solved="With a prefix of 0 it is the causal mask, with one as long as the line the encoder's.",
    direction="A key is in sight if it is not to the right of the query, or is in the prefix.",
    mistakes={
        "That is the causal mask: the prefix makes no difference to it.": _wrong("causal"),
        "Everybody sees everything: that is the encoder.": _wrong("all"),
        "What comes after the prefix is blind to itself and to its left: add key <= query.": (
            _wrong("prefix only")
        ),
        "Your prefix is one position too long: its positions are 0 … prefix − 1.": (
            _wrong("one more")
        ),
        "You joined the two conditions by `and`; one of them is enough, so use |.": _wrong("and"),
        "A position after the prefix does not see itself: key <= query.": _wrong("not itself"),
        "The positions of the prefix see what comes after it: who looks is the row, and what is "
        "looked at is the column.": _wrong("open"),
        "Rows and columns are exchanged: the row looks, the column is looked at.": (
            lambda length, prefix: prefix_mask(length, prefix).T
        ),
    },
)

# ── 7.4 ──────────────────────────────────────────────────────────────────────────────────────────


def posterior(costs: Mapping[str, float]) -> dict[str, float]:
    """Return P(candidate | the rest of the line) from the cost of the line with each candidate."""
    least = min(costs.values())
    weights = {candidate: math.exp(least - cost) for candidate, cost in costs.items()}
    total = sum(weights.values())
    return {candidate: weight / total for candidate, weight in weights.items()}


def lines_scored(chance: random.Random) -> list[Probe]:
    """Make costs of short lines, by what stands in their gap."""
    return [
        ({c: round(base + chance.uniform(0, 4), 3) for c in chance.sample("abcdeo", n)},)
        for base, n in ((20, 3), (12, 4), (3, 2), (30, 5), (8, 3))
    ]


def probabilities_by_name(value: object) -> dict[str, float]:
    """Read a dict of probabilities."""
    if not isinstance(value, dict):
        return {"": number(value)}
    return {str(key): number(p) for key, p in value.items()}


def _shares(costs: Mapping[str, float]) -> dict[str, float]:
    total = sum(costs.values())
    return {c: cost / total for c, cost in costs.items()}


check_posterior = Exercise(
    solution=posterior,
    wants=probabilities_by_name,
    probes=lines_scored,
    solved="Each line's probability, divided by the sum over all candidates: Bayes' rule.",
    direction="P(line) is e^−cost; divide each by the sum of all of them.",
    limits={
        "With long lines it fails, though: e^−800 is 0 as a float, and all shares come out as 0/0. "
        "Subtract the least cost from all of them first; that divides out.": (
            {"a": 800.0, "b": 801.0},
        ),
    },
    mistakes={
        "Your shares do not sum to 1: divide each e^−cost by the sum of all.": (
            lambda costs: {c: math.exp(-cost) for c, cost in costs.items()}
        ),
        "The dearest line gets the largest share: a probability is e^−cost, with a minus.": (
            lambda costs: posterior({c: -cost for c, cost in costs.items()})
        ),
        "You shared out the costs themselves; turn them into probabilities first.": _shares,
        "You divided by the largest e^−cost, not by their sum.": (
            lambda costs: {c: math.exp(min(costs.values()) - cost) for c, cost in costs.items()}
        ),
        "You took 2^−cost; these costs are in nats, so it is math.exp(−cost).": (
            lambda costs: posterior({c: cost * math.log(2) for c, cost in costs.items()})
        ),
        "You divided by the number of candidates: all the same to begin with, but what counts is "
        "the sum of the probabilities.": (
            lambda costs: {c: math.exp(-cost) / len(costs) for c, cost in costs.items()}
        ),
    },
)
