"""The exercises of notebook 07."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.teaching.exercise import Exercise
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


def _probabilities(P: Next, words: Sequence[str]) -> list[float]:
    return [P[" ".join(words[:i])][word] for i, word in enumerate(words)]


def _looked_up(beginning: Callable[[Sequence[str], int], Any]) -> Callable[..., float]:
    """Add up the costs, each word looked up after some beginning of the sentence."""
    return lambda P, words: (
        -sum(math.log(P[beginning(words, i)][word]) for i, word in enumerate(words))
    )


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
            _looked_up(lambda words, i: "")
        ),
        "You looked every word up after the one word before it; P wants all words before it.": (
            _looked_up(lambda words, i: words[i - 1] if i else "")
        ),
        "You looked every word up after words[i - 1], which for the first word is the last of the "
        "sentence; P wants all words before it, words[:i].": _looked_up(
            lambda words, i: words[i - 1]
        ),
        "The word itself stands in its beginning; what stands before it are only the words "
        "words[:i].": _looked_up(lambda words, i: " ".join(words[: i + 1])),
        "The words of a beginning stand apart: join them by a space, ' '.join(…), not by ''.": (
            _looked_up(lambda words, i: "".join(words[:i]))
        ),
        "A space stands in front of your beginnings, ' the dog': ' '.join(words[:i]) puts spaces "
        "between the words only.": _looked_up(lambda words, i: "".join(f" {w}" for w in words[:i])),
        "A beginning is looked up as a text, not as a list: ' '.join(words[:i]).": (
            _looked_up(lambda words, i: words[:i])
        ),
        "A beginning is looked up as a text, not as a tuple: ' '.join(words[:i]).": (
            _looked_up(lambda words, i: tuple(words[:i]))
        ),
        "words.index(word) is the place where a word stands first, and a word may stand in a "
        "sentence twice: go through enumerate(words).": _looked_up(
            lambda words, i: " ".join(words[: words.index(words[i])])
        ),
        "That is the cost of the first word alone: does `return` stand inside the loop?": (
            lambda P, words: -math.log(P[""][words[0]])
        ),
        "That is the cost of the last word alone: does `cost = 0.0` stand inside the loop, or does "
        "each cost replace the one before?": (
            lambda P, words: -math.log(_probabilities(P, words)[-1])
        ),
        "You added up the probabilities with a minus; a cost is −math.log of each.": (
            lambda P, words: -sum(_probabilities(P, words))
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


def _rolled(windows: Tensor, first: int, dims: int | None, place: Any) -> Tensor:
    late = windows.roll(1, dims=() if dims is None else dims)
    late[place] = first
    return late


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
        "You moved to the left and round: at place i stands x_{i+1}, which is to the right of what "
        "is asked. Move to the right, roll(1, dims=1), and put `first` in front.": (
            lambda windows, first: windows.roll(-1, dims=1)
        ),
        "Nothing has moved, and `first` stands at the end; put it in front: it pushes every "
        "character one place to the right.": (
            lambda windows, first: _ahead(windows.roll(1, dims=1), first)
        ),
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
        "You moved the lines among each other and overwrote the first one; move within each line, "
        "along dim 1.": lambda windows, first: _rolled(windows, first, 0, 0),
        "Only the first line has `first` in front; late[:, 0] is the front of every line.": (
            lambda windows, first: _rolled(windows, first, 1, (0, 0))
        ),
        "roll without dims goes through all lines as one, so a line begins with the last character "
        "of the line above; say dims=1, and put `first` in front of every line, late[:, 0].": (
            lambda windows, first: _rolled(windows, first, None, (0, 0))
        ),
        "One character is carried through the whole line: in a loop from the left each place is "
        "overwritten before it is copied. Copy all at once, windows[:, :-1].": (
            lambda windows, first: _behind(windows, first, windows[:, :1].expand_as(windows)[:, 1:])
        ),
        "`first` is carried through the whole line: in a loop from the left each place is "
        "overwritten before it is copied. Copy all at once, windows[:, :-1].": torch.full_like,
        "What stands in front must be a column, one `first` per line; torch.tensor([first]) has a "
        "single dimension. Try torch.full_like(windows[:, :1], first).": (
            lambda windows, first: torch.cat([torch.tensor([first]), windows[:, :-1]], dim=1)
        ),
        "What stands in front must be a column, one `first` per line; yours has one line. "
        "Try torch.full_like(windows[:, :1], first).": (
            lambda windows, first: torch.cat([torch.tensor([[first]]), windows[:, :-1]], dim=1)
        ),
        "torch.cat joins tensors, and `first` is a number: make a column of it, "
        "torch.full_like(windows[:, :1], first).": (
            lambda windows, first: torch.cat([first, windows[:, :-1]], dim=1)
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
            "right": (key >= query) | (key < prefix),
            "right alone": (key > query) | (key < prefix),
            "one less": (key <= query) | (key < prefix - 1),
            "block": (key < prefix) & (query < prefix),
            "ahead": key <= query + prefix,
            "nearly ahead": key <= query + prefix - 1,
        }
        return rules[rule]

    return mask


def _without_brackets(length: int, prefix: int) -> Tensor:
    query, key = _who(length)
    return key <= query | key < prefix


def _cut_short(length: int, prefix: int) -> Tensor:
    mask = _wrong("causal")(length, prefix)
    mask[:, : prefix - 1] = True
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
        "The comparison is turned round: key >= query lets a position see what is to its right; "
        "to its left is key <= query.": _wrong("right"),
        "The comparison is turned round: key > query lets a position see what is to its right; "
        "itself and its left are key <= query.": _wrong("right alone"),
        "Put each comparison in brackets, (…) | (…): without them | comes before <= and <. "
        "(And `if`, `and`, `or` want one True or False; tensors are joined by |.)": (
            _without_brackets
        ),
        "Your prefix is one position too short: its positions are 0 … prefix − 1, key < prefix.": (
            _wrong("one less")
        ),
        "Your prefix is one position too short: a slice ends before its end, so it is "
        "[:, :prefix].": _cut_short,
        "Only the prefix looks, and only at itself; every position sees itself and its left, too: "
        "add key <= query.": _wrong("block"),
        "Everybody sees `prefix` positions ahead; the prefix is the same for all, the first "
        "positions of the line: the diagonal stays at 0.": _wrong("ahead"),
        "Everybody sees prefix − 1 positions ahead; the prefix is the same for all, the first "
        "positions of the line: the diagonal stays at 0.": _wrong("nearly ahead"),
        "Your mask has one dimension, so each position was compared with itself alone: make a "
        "column of the queries, [:, None], and a row of the keys, [None, :].": (
            lambda length, prefix: torch.ones(length, dtype=torch.bool)
        ),
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
        raise Symptom(
            f"Your answer is {kind_of(value)}; what is asked for is a dict with the probability of "
            "each candidate: {candidate: probability, …}."
        )
    return {str(key): number(p) for key, p in value.items()}


def _shares(costs: Mapping[str, float]) -> dict[str, float]:
    total = sum(costs.values())
    return {c: cost / total for c, cost in costs.items()}


def _twisted(twist: Callable[[float], float]) -> Callable[..., dict[str, float]]:
    """Return what becomes of the right shares, one by one."""
    return lambda costs: {c: twist(p) for c, p in posterior(costs).items()}


def _paired(names: Callable[..., Sequence[str]], values: Callable[..., Sequence[float]]) -> Any:
    """Pair the candidates and the right shares, each in an order of its own."""
    return lambda costs: dict(zip(names(costs), values(posterior(costs).values()), strict=True))


def _replaced_in_a_loop(costs: Mapping[str, float]) -> dict[str, float]:
    shares = dict(costs)
    for c in shares:
        shares[c] = math.exp(-shares[c]) / sum(shares.values())
    return shares


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
        "You return the logarithm of each share; leave out the last math.log.": _twisted(math.log),
        "You return what each candidate costs, −log of its share; leave out the last math.log.": (
            _twisted(lambda p: -math.log(p))
        ),
        "Your shares are upside down: divide e^−cost by the sum, not the sum by it.": (
            _twisted(lambda p: 1 / p)
        ),
        "You divided 1 / e^−cost, which is e^cost, by the sum; leave out the 1 /.": (
            lambda costs: {c: p * math.exp(2 * costs[c]) for c, p in posterior(costs).items()}
        ),
        "You shared out 1 / cost; a cost is −log P, so the probability of a line is e^−cost.": (
            lambda costs: _shares({c: 1 / cost for c, cost in costs.items()})
        ),
        "The dearest line gets 1, and nothing is divided by a sum: e^(cost − most) wants a minus "
        "before the costs, and the division.": (
            lambda costs: {c: math.exp(cost - max(costs.values())) for c, cost in costs.items()}
        ),
        "Every candidate gets the same share, whatever its line costs.": (
            lambda costs: dict.fromkeys(costs, 1 / len(costs))
        ),
        "The cheapest line gets everything; it gets the largest share, and the others theirs.": (
            lambda costs: {c: float(cost == min(costs.values())) for c, cost in costs.items()}
        ),
        "The shares are right, but sorted, and so not with their candidates; go through "
        "costs.items().": _paired(list, sorted),
        "The shares are right, but sorted from the largest, and so not with their candidates; go "
        "through costs.items().": _paired(list, lambda p: sorted(p, reverse=True)),
        "The candidates are sorted and the shares are not, so they do not belong together; go "
        "through costs.items().": _paired(sorted, list),
        "You write into `costs` while its values are still being added up, so the sum changes with "
        "every candidate: make a new dict.": _replaced_in_a_loop,
        "You return the costs as they came; each must become e^−cost, divided by the sum.": dict,
        "You divided by the number of candidates: all the same to begin with, but what counts is "
        "the sum of the probabilities.": (
            lambda costs: {c: math.exp(-cost) / len(costs) for c, cost in costs.items()}
        ),
    },
)
