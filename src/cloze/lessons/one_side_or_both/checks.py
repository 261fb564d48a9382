"""The exercises of notebook 07."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, Symptom, kind_of, number, tensor

# ── 7.1 ──────────────────────────────────────────────────────────────────────────────────────────

Next = Mapping[str, Mapping[str, float]]
"""By what stands there already, the probability of each next word."""


def chain_cost(P: Next, words: Sequence[str]) -> float:
    """Add up −log P(word | all words before it) over the words of a sentence, in nats."""
    return -sum(math.log(P[" ".join(words[:i])][word]) for i, word in enumerate(words))


def sentences(chance: random.Random) -> list[Probe]:
    """Make sentences, some with a word twice, and what may come next after many beginnings."""
    probes: list[Probe] = []
    for length in (3, 4, 1, 5, 3):
        words = [chance.choice(["dog", "cat", "barks", "sleeps", "here"]) for _ in range(length)]
        if length > 3:
            words[-1] = words[0]
        beginnings = [" ".join(words[:i]) for i in range(length + 1)]
        table = {}
        for beginning in dict.fromkeys([*beginnings, *words]):
            odds = {word: chance.uniform(0.1, 1) for word in dict.fromkeys([*words, "owl"])}
            table[beginning] = {word: p / sum(odds.values()) for word, p in odds.items()}
        probes.append((table, words))
    return probes


check_chain_cost = Exercise(
    solution=chain_cost,
    wants=number,
    probes=sentences,
    solved="The costs add because the probabilities multiply: that is the chain rule.",
    direction="Add up −math.log of P[the words before, joined by spaces][the word] for every word.",
    mistakes=Mistakes(__name__, "chain_cost"),
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


check_one_place_late = Exercise(
    solution=one_place_late,
    wants=tensor(torch.long),
    probes=windows_to_move,
    solved="At place i stands what came before x_i, so x_i can be asked about and is not seen.",
    direction="Put a column of `first` in front of windows[:, :-1].",
    mistakes=Mistakes(__name__, "one_place_late"),
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


check_prefix_mask = Exercise(
    solution=prefix_mask,
    wants=tensor(torch.bool),
    probes=lengths_and_prefixes,
    solved="With a prefix of 0 it is the causal mask, with one as long as the line the encoder's.",
    direction="A key is in sight if it is not to the right of the query, or is in the prefix.",
    mistakes=Mistakes(__name__, "prefix_mask"),
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
        raise Symptom(
            f"Your answer is {kind_of(value)}; what is asked for is a dict with the probability of "
            "each candidate: {candidate: probability, …}."
        )
    return {str(key): number(p) for key, p in value.items()}


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
    mistakes=Mistakes(__name__, "posterior"),
)
