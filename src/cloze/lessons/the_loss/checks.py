"""The exercises of notebook 01."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.teaching.exercise import Exercise
from cloze.teaching.results import (
    Probe,
    Symptom,
    alike,
    number,
    number_with_gradient,
    numbers,
)
from cloze.teaching.symptoms import ask

# ── 1.1 ──────────────────────────────────────────────────────────────────────────────────────────

Table = Sequence[dict[str, float]]


def summed_loss(P: Table, x: str, M: Sequence[int]) -> float:
    """Add up −log P(x_i) over the positions i in M, in nats."""
    return -sum(math.log(P[i][x[i]]) for i in M)


def tables(chance: random.Random) -> list[Probe]:
    """Make probabilities for texts in which letters repeat, and selected positions in any order."""

    def row(letters: str) -> dict[str, float]:
        shares = [chance.uniform(0.05, 1) for _ in letters]
        return {c: round(share / sum(shares), 3) for c, share in zip(letters, shares, strict=True)}

    small = [{"c": 0.9, "b": 0.1}, {"a": 0.2, "o": 0.7, "u": 0.1}, {"t": 0.8, "d": 0.2}]
    probes: list[Probe] = [([*small, {"s": 0.5, "e": 0.3, "d": 0.2}], "cats", [1, 3])]
    for x, letters in (("banana", "abn"), ("deeded", "adeln"), ("letters", "elrstu")):
        selected = chance.sample(range(len(x)), 3)
        if selected == sorted(selected):
            selected.reverse()
        probes.append(([row(letters) for _ in x], x, selected))
    alike = [{"a": 0.25, "n": 0.75}] * 4
    one = chance.randrange(1, 5)
    return [*probes, (alike, "anna", [0, 2, 3]), ([row("abn") for _ in "banana"], "banana", [one])]


def _truths(P: Table, x: str, M: Sequence[int]) -> list[float]:
    return [P[i][x[i]] for i in M]


def _sum(cost: Callable[[float], float]) -> Callable[..., float]:
    """Make the loss with another price of a probability."""
    return lambda P, x, M: sum(cost(p) for p in _truths(P, x, M))


check_summed_loss = Exercise(
    solution=summed_loss,
    wants=number,
    probes=tables,
    parts=lambda P, x, M: {f"{'one position' if len(M) == 1 else 'several positions'} in M": ...},
    solved="That is −Σ log P over M: each selected position pays for itself, and they add.",
    direction="For every position i in M look up P[i][x[i]], and add up −math.log of it.",
    limits={
        "With many selected positions it fails, though: the product of 500 probabilities of 0.2 "
        "underflows to 0, while the sum of their logarithms is −804.72. Add logarithms rather than "
        "multiply.": ([{"a": 0.2}] * 500, "a" * 500, range(500)),
    },
    mistakes={
        "Your loss is negative, and a loss is a price: did you forget the minus?": _sum(math.log),
        "Your loss is right in bits (log to the base 2); here it is in nats, so use math.log.": (
            _sum(lambda p: -math.log2(p))
        ),
        "You used the logarithm to the base 10; nats need math.log.": (
            _sum(lambda p: -math.log10(p))
        ),
        "You divided by the number of selected positions; that is the mean, and the formula asks "
        "for the sum.": lambda P, x, M: summed_loss(P, x, M) / len(M),
        "You divided by the length of the text; the formula asks for the sum over M.": (
            lambda P, x, M: summed_loss(P, x, M) / len(x)
        ),
        "Your loss also counts positions outside M; sum over the positions in M only.": (
            lambda P, x, M: summed_loss(P, x, range(len(x)))
        ),
        "Your loss counts exactly the positions that are not in M; sum over those in M.": (
            lambda P, x, M: summed_loss(P, x, [i for i in range(len(x)) if i not in M])
        ),
        "You took the first len(M) positions of the text; M holds the positions themselves, so "
        "write `for i in M` rather than `for i in range(len(M))`.": (
            lambda P, x, M: summed_loss(P, x, range(len(M)))
        ),
        "You took the largest probability of each row; take the one of the right character, "
        "P[i][x[i]]: the loss asks what the truth was given, not what the model prefers.": (
            lambda P, x, M: -sum(math.log(max(P[i].values())) for i in M)
        ),
        "You took the first probability of each row; take that of the right character, "
        "P[i][x[i]].": lambda P, x, M: -sum(math.log(next(iter(P[i].values()))) for i in M),
        "You summed over all the characters of each row; take only the right one, P[i][x[i]].": (
            lambda P, x, M: -sum(math.log(p) for i in M for p in P[i].values())
        ),
        "That is the entropy of the rows, P log P over all characters; take −log P of the right "
        "character alone.": (
            lambda P, x, M: -sum(p * math.log(p) for i in M for p in P[i].values())
        ),
        "You weigh each logarithm with its probability, P log P; the formula has log P alone.": (
            _sum(lambda p: -p * math.log(p))
        ),
        "You look up the characters by a counter: x[k] for the k-th selected position. The right "
        "character at position i is x[i].": (
            lambda P, x, M: -sum(math.log(P[i][x[k]]) for k, i in enumerate(M))
        ),
        "You look up the rows by a counter: P[k] for the k-th selected position. The row of "
        "position i is P[i].": (
            lambda P, x, M: -sum(math.log(P[k][x[i]]) for k, i in enumerate(M))
        ),
        "Your positions are one too small: they count from 0, so position i is P[i] and x[i].": (
            lambda P, x, M: summed_loss(P, x, [i - 1 for i in M])
        ),
        "Your positions are one too large: they count from 0, so position i is P[i] and x[i].": (
            lambda P, x, M: -sum(math.log(P[i + 1][x[i + 1]]) for i in M)
        ),
        "A list is indexed by a position and a dictionary by a character: P[i][x[i]], not "
        "P[x[i]][i].": lambda P, x, M: -sum(math.log(P[x[i]][i]) for i in M),
        "P[i] is the whole row of position i, a dictionary; P[i][x[i]] is the probability of the "
        "right character in it.": lambda P, x, M: -sum(math.log(P[i]) for i in M),
        "You looked up the text 'x[i]' or the letter 'x' itself; the key is the character at "
        "position i, so write x[i] without quotes.": (
            lambda P, x, M: -sum(math.log(P[i]["x"]) for i in M)
        ),
        "You multiplied the probabilities; the formula adds their logarithms, with a minus.": (
            lambda P, x, M: math.prod(_truths(P, x, M))
        ),
        "You multiplied the probabilities and took the minus; take the logarithm of each and add "
        "instead.": lambda P, x, M: -math.prod(_truths(P, x, M)),
        "You multiplied the costs; each selected position pays for itself, so add them.": (
            lambda P, x, M: math.prod(-math.log(p) for p in _truths(P, x, M))
        ),
        "You multiplied the logarithms; add them, and take the minus.": (
            lambda P, x, M: math.prod(map(math.log, _truths(P, x, M)))
        ),
        "You multiplied the logarithms and took the minus; add them instead.": (
            lambda P, x, M: -math.prod(map(math.log, _truths(P, x, M)))
        ),
        "You added the probabilities themselves; take the logarithm of each first.": _sum(float),
        "You added the probabilities and took the minus; take the logarithm of each first.": (
            _sum(lambda p: -p)
        ),
        "You took the logarithm of the sum; the formula sums the logarithms.": (
            lambda P, x, M: -math.log(sum(_truths(P, x, M)))
        ),
        "You took the logarithm of the mean; the formula sums the logarithms.": (
            lambda P, x, M: -math.log(sum(_truths(P, x, M)) / len(M))
        ),
        "You took the logarithm of the sum and no minus; the formula sums the logarithms and "
        "turns the sign.": lambda P, x, M: math.log(sum(_truths(P, x, M))),
        "You summed 1 − P; the price of a probability P is −log P.": _sum(lambda p: 1 - p),
        "You summed e to the power of P; the price of a probability P is −log P.": _sum(math.exp),
        "You count how often the favourite is right; the loss is the sum of −log P of the right "
        "character.": lambda P, x, M: sum(max(P[i], key=P[i].__getitem__) == x[i] for i in M),
        "Your loss stops after the first position of the text that is in M: is the `return` inside "
        "the loop?": lambda P, x, M: -math.log(P[min(M)][x[min(M)]]),
        "You summed 1 / P; the price of a probability P is −log P.": _sum(lambda p: 1 / p),
        "You summed −log(1 − P), the price of being wrong; the truth costs −log P.": (
            _sum(lambda p: -math.log(1 - p))
        ),
        "You summed 1 − log P; leave out the 1, or a sure guess would cost something.": (
            _sum(lambda p: 1 - math.log(p))
        ),
        "You summed log(1 + P), as log1p does; the price of a probability is −log P.": (
            _sum(math.log1p)
        ),
        "You squared the error 1 − P; the price of a probability P is −log P.": (
            _sum(lambda p: (1 - p) ** 2)
        ),
        "Your loss stops after the first selected position: is the `return` inside the loop?": (
            lambda P, x, M: -math.log(_truths(P, x, M)[0])
        ),
        "Your loss stops after the first selected position, and has no minus: is the `return` "
        "inside the loop?": lambda P, x, M: math.log(_truths(P, x, M)[0]),
        "Your loss is that of the last selected position alone: does = stand in the loop where += "
        "should?": lambda P, x, M: -math.log(_truths(P, x, M)[-1]),
        "Your loss leaves out the last selected position: M[:-1] and range(len(M) - 1) end before "
        "it.": lambda P, x, M: summed_loss(P, x, M[:-1]),
        "Your loss leaves out the first selected position: M[1:] and range(1, …) begin after it.": (
            lambda P, x, M: summed_loss(P, x, M[1:])
        ),
        "The sign changes from position to position: is the minus inside the loop, as in "
        "`loss = -loss + …`?": lambda P, x, M: _alternating(_truths(P, x, M)),
        "The minus belongs to the first logarithm only: put brackets around the sum.": (
            lambda P, x, M: sum(map(math.log, _truths(P, x, M))) - 2 * math.log(P[M[0]][x[M[0]]])
        ),
        "x.index finds the first place of a letter; a letter may stand in several, so use the "
        "position i itself.": (lambda P, x, M: -sum(math.log(P[x.index(x[i])][x[i]]) for i in M)),
        "Positions that cost the same are paid for once: a set {…} keeps no repetition; use a list "
        "or (…) in its place.": lambda P, x, M: sum({-math.log(p) for p in _truths(P, x, M)}),
        "You return the list of the costs; the loss is their sum.": (
            lambda P, x, M: [-math.log(p) for p in _truths(P, x, M)]
        ),
        "You return the list of the logarithms; the loss is minus their sum.": (
            lambda P, x, M: [math.log(p) for p in _truths(P, x, M)]
        ),
        "You return the list of the probabilities; take −log of each, and the sum.": _truths,
    },
)
"""Mark ``summed_loss(P, x, M)``: −Σ_{i∈M} log P[i][x[i]] in nats, P a list of dicts."""


def _alternating(truths: Sequence[float]) -> float:
    loss = 0.0
    for p in truths:
        loss = -(loss + math.log(p))
    return loss


# ── 1.2 ──────────────────────────────────────────────────────────────────────────────────────────


def units(costs: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of costs in nats, the same in bits, and the perplexity."""
    nats = sum(costs) / len(costs)
    return nats, nats / math.log(2), math.exp(nats)


def costs_in_nats(chance: random.Random) -> list[Probe]:
    """Make costs of several positions; the first list is 2 bits and perplexity 4."""
    lists = [[math.log(2), math.log(2), math.log(16)]]
    lists += [[chance.uniform(0.3, 2.5) for _ in range(n)] for n in (4, 5, 2, 7)]
    return [(costs,) for costs in lists]


def _mean_then(
    bits: Callable[[float], float], perplexity: Callable[[float], float]
) -> Callable[[Sequence[float]], Any]:
    """Make the solution with other conversions of the mean."""

    def convert(costs: Sequence[float]) -> tuple[float, float, float]:
        nats = sum(costs) / len(costs)
        return nats, bits(nats), perplexity(nats)

    return convert


def _bits(bits: Callable[[float], float]) -> Callable[[Sequence[float]], Any]:
    return _mean_then(bits, math.exp)


def _perplexity(perplexity: Callable[[float], float]) -> Callable[[Sequence[float]], Any]:
    return _mean_then(lambda nats: nats / math.log(2), perplexity)


def _from(nats: Callable[[Sequence[float]], float]) -> Callable[[Sequence[float]], Any]:
    """Make the solution with something else than the mean, and right conversions of it."""
    return lambda costs: units([nats(costs)])


def _divided_by(n: int) -> Callable[[Sequence[float]], Any]:
    return _from(lambda costs: sum(costs) / n)


def _median(costs: Sequence[float]) -> float:
    return sorted(costs)[len(costs) // 2]


check_units = Exercise(
    solution=units,
    wants=numbers("nats", "bits", "perplexity"),
    probes=costs_in_nats,
    parts=lambda costs: {"nats": 0, "bits": 1, "perplexity": 2},
    solved="For instance 1.386 nats = 2 bits = a choice among 4 equally likely characters: three "
    "names for one loss.",
    direction="nats is the mean of the costs, bits is nats / log 2, perplexity is e^nats.",
    mistakes={
        "Your first number grows with the number of positions: it is the sum; divide by "
        "len(costs).": _from(sum),
        "Your first number is the largest cost; take the mean of all.": _from(max),
        "Your first number is the smallest cost; take the mean of all.": _from(min),
        "Your first number is the median; take the mean, the sum divided by how many there are.": (
            _from(_median)
        ),
        "Your first number is the first cost alone; take the mean of all.": (
            _from(lambda costs: costs[0])
        ),
        "Your first number is the last cost alone; take the mean of all.": (
            _from(lambda costs: costs[-1])
        ),
        "You divide by one too few: the mean divides by len(costs).": (
            _from(lambda costs: sum(costs) / (len(costs) - 1))
        ),
        "You divide by one too many: the mean divides by len(costs).": (
            _from(lambda costs: sum(costs) / (len(costs) + 1))
        ),
        **{
            f"You divide by {n}, and costs may have any length: divide by len(costs).": (
                _divided_by(n)
            )
            for n in (2, 3, 5)
        },
        "Your first number is the geometric mean, a root of the product; take the mean, the sum "
        "divided by how many there are.": (
            _from(lambda costs: math.prod(costs) ** (1 / len(costs)))
        ),
        "Your first number is −log of the mean probability; take the mean of the costs as they "
        "are.": _from(lambda costs: -math.log(sum(math.exp(-c) for c in costs) / len(costs))),
        "Your nats are negative: the costs are −log P already, so the minus is in them.": (
            _from(lambda costs: -sum(costs) / len(costs))
        ),
        "You take the logarithm once more: the costs are −log P already, not probabilities.": (
            _from(lambda costs: -sum(map(math.log, costs)) / len(costs))
        ),
        "You take the logarithm of the costs; they are logarithms already, −log P: just average.": (
            _from(lambda costs: sum(map(math.log, costs)) / len(costs))
        ),
        "You take the logarithm of the mean; the costs are −log P already: just average.": (
            _from(lambda costs: math.log(sum(costs) / len(costs)))
        ),
        "Your perplexity is where the bits belong: return nats, bits, perplexity in this order.": (
            lambda costs: tuple(units(costs)[i] for i in (0, 2, 1))
        ),
        "Your nats and bits are exchanged: there are more bits than nats, for a bit is smaller; "
        "return nats, bits, perplexity in this order.": (
            lambda costs: tuple(units(costs)[i] for i in (1, 0, 2))
        ),
        "Your numbers are right but in another order; return nats, bits, perplexity.": (
            lambda costs: tuple(units(costs)[i] for i in (2, 1, 0))
        ),
        "Your numbers are right but in another order: return nats first, then bits, then "
        "perplexity.": lambda costs: tuple(units(costs)[i] for i in (1, 2, 0)),
        "Your numbers are right but in another order: perplexity comes last, after nats and "
        "bits.": lambda costs: tuple(units(costs)[i] for i in (2, 0, 1)),
        "Your bits are fewer than the nats: you multiplied by log 2; one bit is only 0.693 nats, "
        "so there are more of them: divide.": _bits(lambda nats: nats * math.log(2)),
        "You took log2 of the loss, which is a logarithm already; divide it by log 2.": (
            _bits(math.log2)
        ),
        "Your bits are equal to your nats: a bit is 0.693 nats, so divide by log 2.": (
            _bits(lambda nats: nats)
        ),
        "You divided by 2 for the bits; divide by log 2 = 0.693.": _bits(lambda nats: nats / 2),
        "You multiplied by 2 for the bits; divide by log 2 = 0.693.": _bits(lambda nats: 2 * nats),
        "You divided by log 10 for the bits; they need the base 2: divide by log 2.": (
            _bits(lambda nats: nats / math.log(10))
        ),
        "You divided by log10(2); the costs are natural logarithms, so divide by math.log(2).": (
            _bits(lambda nats: nats / math.log10(2))
        ),
        "You divided by log2(e) for the bits; multiply by it, or divide by log 2.": (
            lambda costs: (units(costs)[0], sum(costs) / len(costs) / math.log2(math.e), 0.0)
        ),
        "Your bits are 2 to the power of the loss; a unit is converted by dividing: by log 2.": (
            _bits(lambda nats: 2**nats)
        ),
        "You subtracted log 2 for the bits; a unit is converted by dividing.": (
            _bits(lambda nats: nats - math.log(2))
        ),
        "Your bits come from the sum; convert the mean.": (
            lambda costs: (units(costs)[0], sum(costs) / math.log(2), units(costs)[2])
        ),
        "You raised 2 to a loss in nats; nats belong to e (and bits to 2).": (
            _perplexity(lambda nats: 2**nats)
        ),
        "You raised e to a loss in bits; e belongs to nats (and 2 to bits).": (
            _perplexity(lambda nats: math.exp(nats / math.log(2)))
        ),
        "You raised 10 to a loss in nats; nats belong to e: math.exp(nats).": (
            _perplexity(lambda nats: 10**nats)
        ),
        "You took the logarithm of the loss for the perplexity; it is the other way round, e to "
        "the power of the loss.": _perplexity(math.log),
        "You took log2 of the loss for the perplexity; it is the other way round, e to the power "
        "of the loss (or 2 to that of the bits).": _perplexity(math.log2),
        "You multiplied the loss by e for the perplexity; raise e to its power: math.exp(nats).": (
            _perplexity(lambda nats: math.e * nats)
        ),
        "You raised the loss to the power of e; it is e to the power of the loss.": (
            _perplexity(lambda nats: nats**math.e)
        ),
        "You squared the bits for the perplexity; it is 2 to the power of the bits.": (
            _perplexity(lambda nats: (nats / math.log(2)) ** 2)
        ),
        "You squared the loss for the perplexity; it is e to the power of the loss.": (
            _perplexity(lambda nats: nats**2)
        ),
        "Your perplexity is one too small, as expm1 gives it: it is e to the power of the loss.": (
            _perplexity(math.expm1)
        ),
        "Your perplexity is the loss itself; it is e to the power of the loss.": (
            _perplexity(lambda nats: nats)
        ),
        "Your perplexity is 1 divided by the loss; it is e to the power of the loss.": (
            _perplexity(lambda nats: 1 / nats)
        ),
        "Your perplexity is e to the power of e to the power of the loss: one exp is enough.": (
            _perplexity(lambda nats: math.exp(math.exp(nats)))
        ),
        "Your perplexity is below 1: without the minus, e^mean is a number of characters.": (
            _perplexity(lambda nats: math.exp(-nats))
        ),
        "Your perplexity is 1 − e^−nats, a share; it is a number of characters, e^nats.": (
            _perplexity(lambda nats: 1 - math.exp(-nats))
        ),
        "You took e to the power of the sum; perplexity is e to the mean.": (
            lambda costs: (*units(costs)[:2], math.exp(sum(costs)))
        ),
        "You averaged e^cost over the positions; average the costs first, then take e^mean.": (
            lambda costs: (*units(costs)[:2], sum(map(math.exp, costs)) / len(costs))
        ),
        "You added up e^cost over the positions; average the costs first, then take e^mean.": (
            lambda costs: (*units(costs)[:2], sum(map(math.exp, costs)))
        ),
        "Your perplexity is the number of positions; it is e to the power of the mean.": (
            lambda costs: (*units(costs)[:2], len(costs))
        ),
    },
)
"""Mark ``units(costs)``: (mean nats, bits, perplexity) from the costs in nats."""


# ── 1.3 ──────────────────────────────────────────────────────────────────────────────────────────


def my_mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Average −log P(label) over the labels that are not −100, shapes (b, n, |V|) and (b, n)."""
    selected = labels != -100
    log_probs = logits[selected].log_softmax(dim=-1)
    ids = labels[selected]
    return -log_probs[torch.arange(len(ids)), ids].mean()


def batches(chance: random.Random) -> list[Probe]:
    """Make logits and labels: rows of unequal counts, the label 0, and logits far apart."""
    generator = torch.Generator().manual_seed(chance.getrandbits(31))

    def batch(size: int, length: int, symbols: int, counts: Sequence[int]) -> Probe:
        logits = 2 * torch.randn(size, length, symbols, generator=generator)
        labels = torch.full((size, length), -100)
        for row, count in enumerate(counts):
            at = torch.randperm(length, generator=generator)[:count]
            labels[row, at] = torch.randint(symbols, (count,), generator=generator)
            labels[row, at[:1]] = 0  # a character like any other
        return logits.requires_grad_(), labels

    shapes = [(2, 6, 5, [3, 1]), (3, 4, 7, [1, 2, 3]), (1, 9, 4, [4]), (4, 8, 6, [2, 5, 1, 4])]
    return [batch(*shape) for shape in shapes]


def _picked(scores: Tensor, labels: Tensor) -> Tensor:
    """Return the entries of the labels that are not −100, shape (|M|,)."""
    selected = labels != -100
    return scores[selected].gather(1, labels[selected][:, None])[:, 0]


def _costs(logits: Tensor, labels: Tensor) -> Tensor:
    return -_picked(logits.log_softmax(-1), labels)


def _clamped(logits: Tensor, labels: Tensor) -> Tensor:
    """Return costs of all positions, with −100 read as character 0."""
    return -logits.log_softmax(-1).gather(2, labels.clamp(min=0)[..., None])[..., 0]


def _per_row(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.stack([my_mlm_loss(a, b) for a, b in zip(logits, labels, strict=True)])


def _probabilities(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the probabilities at the selected positions, and what they should be (one-hot)."""
    selected = labels != -100
    return logits[selected].softmax(-1), F.one_hot(labels[selected], logits.shape[-1]).float()


def _squared(logits: Tensor, labels: Tensor) -> Tensor:
    p, truth = _probabilities(logits, labels)
    return (p - truth) ** 2


def _binary(logits: Tensor, labels: Tensor) -> Tensor:
    p, truth = _probabilities(logits, labels)
    return F.binary_cross_entropy(p, truth)


def _rows_by_id(logits: Tensor, labels: Tensor) -> Tensor:
    selected = labels != -100
    return -logits[selected].log_softmax(-1)[labels[selected]].mean()


def _favourite(logits: Tensor) -> Tensor:
    return -logits.log_softmax(-1).max(-1).values


def _all_pairs(logits: Tensor, labels: Tensor) -> Tensor:
    selected = labels != -100
    return -logits[selected].log_softmax(-1)[:, labels[selected]].mean()


def _where(keep: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    """Make the loss over other labels than those that are not −100."""
    return lambda logits, labels: my_mlm_loss(logits, labels.masked_fill(~keep(labels), -100))


def _entropy(logits: Tensor) -> Tensor:
    log_probs = logits.log_softmax(-1)
    return -(log_probs.exp() * log_probs).sum(-1)


OWN = (
    "The exercise asks for the loss without F.cross_entropy: pick the positions with labels != "
    "-100, take log_softmax of their logits, and pick the entry of each label yourself."
)

FAR_APART = (
    "With logits far apart it fails: for 0 and 200 the loss is 200, and yours is not. softmax (or "
    "exp) first and log afterwards leaves the range of floats; log_softmax does both in one."
)


def _judge_loss(loss: Callable[..., Any]) -> None:
    """Let the logits be far apart, as those of a model that is sure are."""
    logits = torch.tensor([[[0.0, 200.0]]], requires_grad=True)
    if not alike(number(ask(loss, logits, torch.tensor([[0]]))), 200.0):
        raise Symptom(FAR_APART)


check_my_mlm_loss = Exercise(
    solution=my_mlm_loss,
    wants=number_with_gradient,
    probes=batches,
    solved="It equals F.cross_entropy(…, ignore_index=-100).",
    judge=_judge_loss,
    direction="It is the mean of −log_softmax(logits) at the label, over the labels that are not "
    "-100; log_softmax needs no small number added and nothing clamped.",
    without={
        "cross_entropy": OWN,
        "CrossEntropyLoss": OWN,
        "mlm_loss": "mlm_loss calls F.cross_entropy. " + OWN,
    },
    mistakes={
        FAR_APART: lambda logits, labels: -_picked(logits.softmax(-1).log(), labels).mean(),
        "Your loss is negative, and a loss is a price: did you forget the minus?": (
            lambda logits, labels: -my_mlm_loss(logits, labels)
        ),
        "Your loss doubles when the batch is doubled: it is the sum; divide by the number of "
        "selected positions.": lambda logits, labels: _costs(logits, labels).sum(),
        "Your loss falls when unselected positions are added: you divide by all positions; divide "
        "by the number of labels that are not -100.": (
            lambda logits, labels: _costs(logits, labels).sum() / labels.numel()
        ),
        "You divide by the number of rows; divide by the number of selected positions.": (
            lambda logits, labels: _costs(logits, labels).sum() / len(labels)
        ),
        "You divide by the length; divide by the number of selected positions.": (
            lambda logits, labels: _costs(logits, labels).sum() / labels.shape[1]
        ),
        "You divide by the number of characters |V|; divide by the number of selected positions.": (
            lambda logits, labels: _costs(logits, labels).sum() / logits.shape[-1]
        ),
        "Your loss divides by the number of selected positions twice: mean() has done it.": (
            lambda logits, labels: _costs(logits, labels).mean() / (labels != -100).sum()
        ),
        "You average over all |V| entries of the selected positions, of which one each is not 0; "
        "divide by the number of selected positions.": (
            lambda logits, labels: _costs(logits, labels).mean() / logits.shape[-1]
        ),
        "You averaged each row and then the rows, so a position in a row with few selected ones "
        "counts more; average over all selected positions at once.": (
            lambda logits, labels: _per_row(logits, labels).mean()
        ),
        "You return one loss for each row; average over all selected positions at once.": _per_row,
        "You added up the means of the rows; average over all selected positions at once.": (
            lambda logits, labels: _per_row(logits, labels).sum()
        ),
        "Your loss leaves out the label 0, which is a character like any other; what is not asked "
        "has the label -100: labels != -100.": _where(lambda labels: labels > 0),
        "Your loss does not leave the -100 positions out: they count as character 0 (did you clamp "
        "the labels?) and are averaged in.": lambda logits, labels: _clamped(logits, labels).mean(),
        "Your loss takes -100 as an index from the end, or the remainder of it: select the "
        "positions with labels != -100 before you look anything up.": (
            lambda logits, labels: (
                -logits.log_softmax(-1).gather(2, (labels % logits.shape[-1])[..., None]).mean()
            )
        ),
        "Your loss counts the positions with the label -100 alone; it must count the others: "
        "labels != -100.": (lambda logits, labels: _clamped(logits, labels)[labels == -100].mean()),
        "A label of -100 was used as an index. Select the positions with labels != -100 first.": (
            lambda logits, labels: -logits.log_softmax(-1).gather(2, labels[..., None]).mean()
        ),
        "Your loss is right in bits (log2); the series counts in nats, so use the natural "
        "logarithm.": lambda logits, labels: my_mlm_loss(logits, labels) / math.log(2),
        "Your loss is the perplexity, e to the power of the loss; return the loss itself.": (
            lambda logits, labels: my_mlm_loss(logits, labels).exp()
        ),
        "Your loss does not change when the labels do: it takes the largest probability of each "
        "position; take the one of the label.": (
            lambda logits, labels: _favourite(logits)[labels != -100].mean()
        ),
        "Your loss does not change when the labels do: it takes the largest probability of each "
        "position; take the one of the label, where there is one.": (
            lambda logits, labels: _favourite(logits).mean()
        ),
        "You average over all |V| characters of the selected positions; pick the entry of the "
        "label at each.": (lambda logits, labels: -logits[labels != -100].log_softmax(-1).mean()),
        "You average over all characters of all positions; pick the entry of the label, where it "
        "is not -100.": lambda logits, labels: -logits.log_softmax(-1).mean(),
        "You sum over all |V| characters of the selected positions; pick the entry of the label at "
        "each.": lambda logits, labels: -logits[labels != -100].log_softmax(-1).sum(-1).mean(),
        "That is the entropy of the guesses, P log P over all characters, and the labels are not "
        "in it; take −log P of the label.": (
            lambda logits, labels: _entropy(logits)[labels != -100].mean()
        ),
        "log_probs[ids] takes whole rows, the ids as numbers of positions; pick one entry of each "
        "row: log_probs[torch.arange(len(ids)), ids].": _rows_by_id,
        "log_probs[:, ids] takes every label at every position; pick one entry of each row: "
        "log_probs[torch.arange(len(ids)), ids].": _all_pairs,
        "Your softmax runs over the selected positions (dim=0), so the probabilities of one "
        "position do not sum to 1; the characters are along the last axis, dim=-1.": (
            lambda logits, labels: (
                -logits[labels != -100]
                .log_softmax(0)
                .gather(1, labels[labels != -100][:, None])
                .mean()
            )
        ),
        "Your softmax runs over axis 0, across the rows of the batch; the probabilities of one "
        "position are along the last axis, dim=-1.": (
            lambda logits, labels: -_picked(logits.log_softmax(0), labels).mean()
        ),
        "Your softmax runs over axis 1, across other positions; the probabilities of one position "
        "are along the last axis, dim=-1.": (
            lambda logits, labels: -_picked(logits.log_softmax(1), labels).mean()
        ),
        "You reshape to have |V| before the length, which mixes up the characters of different "
        "positions: transpose(1, 2) exchanges the two.": (
            lambda logits, labels: (
                -_picked(
                    logits.log_softmax(-1)
                    .reshape(len(logits), logits.shape[2], -1)
                    .transpose(1, 2),
                    labels,
                ).mean()
            )
        ),
        "Your softmax runs over all selected positions at once, as exp(…) / exp(…).sum() does; "
        "each position has its own probabilities: dim=-1, and keepdim=True in a sum.": (
            lambda logits, labels: (
                my_mlm_loss(logits, labels)
                - logits[labels != -100].logsumexp(-1).mean()
                + logits[labels != -100].logsumexp((0, 1))
            )
        ),
        "Your softmax runs over everything at once; each position has its own probabilities, along "
        "the last axis, dim=-1.": (
            lambda logits, labels: (
                -_picked(logits.flatten().log_softmax(0).view_as(logits), labels).mean()
            )
        ),
        "Your loss is NaN, for you take the logarithm of logits, and they may be negative: "
        "log_softmax turns them into log-probabilities.": (
            lambda logits, labels: -_picked(logits.log(), labels).mean()
        ),
        "Your softmax comes twice: softmax and then log_softmax, which contains it already.": (
            lambda logits, labels: my_mlm_loss(logits.softmax(-1), labels)
        ),
        "You averaged −logits: logits are not log-probabilities until log_softmax has made the "
        "probabilities of each position sum to 1.": (
            lambda logits, labels: -_picked(logits, labels).mean()
        ),
        "You averaged the logits themselves; take −log_softmax of them.": (
            lambda logits, labels: _picked(logits, labels).mean()
        ),
        "You used a sigmoid for every character; the probabilities of a position come from a "
        "softmax, so that they sum to 1.": (
            lambda logits, labels: -_picked(F.logsigmoid(logits), labels).mean()
        ),
        "You averaged −P; the price of a probability is −log P: take the logarithm.": (
            lambda logits, labels: -_picked(logits.softmax(-1), labels).mean()
        ),
        "You averaged P itself; the price of a probability is −log P.": (
            lambda logits, labels: _picked(logits.softmax(-1), labels).mean()
        ),
        "You averaged 1 − P; the price of a probability is −log P.": (
            lambda logits, labels: 1 - _picked(logits.softmax(-1), labels).mean()
        ),
        "You averaged −log(1 − P), the price of being wrong; the label costs −log P.": (
            lambda logits, labels: -(1 - _picked(logits.softmax(-1), labels)).log().mean()
        ),
        "You averaged P log P; the formula has log P of the label alone.": (
            lambda logits, labels: (
                _costs(logits, labels) * _costs(logits, labels).neg().exp()
            ).mean()
        ),
        "You took the logarithm of the mean; take the mean of the logarithms.": (
            lambda logits, labels: -_picked(logits.softmax(-1), labels).mean().log()
        ),
        "That is the squared error between the probabilities and the truth, averaged over all "
        "characters; the cost is −log P of the label.": (
            lambda logits, labels: _squared(logits, labels).mean()
        ),
        "That is the squared error between the probabilities and the truth; the cost is −log P of "
        "the label.": lambda logits, labels: _squared(logits, labels).sum(-1).mean(),
        "That is the squared error 1 − P of the label; the cost is −log P.": (
            lambda logits, labels: ((1 - _picked(logits.softmax(-1), labels)) ** 2).mean()
        ),
        "That is the binary cross-entropy, which asks of every character yes or no; the cost is "
        "−log P of the label alone.": _binary,
        "That is the share of wrong guesses, which has no gradient; the cost is −log P of the "
        "label.": (
            lambda logits, labels: (logits.argmax(-1) != labels)[labels != -100].float().mean()
        ),
        "That is the share of right guesses; the cost is −log P of the label.": (
            lambda logits, labels: (logits.argmax(-1) == labels)[labels != -100].float().mean()
        ),
        "You return the cost of every selected position; average them to a single number.": _costs,
        "You return the cost of every position; select those with labels != -100 and average.": (
            _clamped
        ),
        "Your loss is that of the first selected position alone: is the `return` inside the "
        "loop?": lambda logits, labels: _costs(logits, labels)[0],
        "Your loss is that of the last selected position alone: is = in the loop where += should "
        "be?": lambda logits, labels: _costs(logits, labels)[-1],
        "Your loss looks at the first row of the batch alone; every row counts.": (
            lambda logits, labels: my_mlm_loss(logits[:1], labels[:1])
        ),
        "You took the median of the costs; take the mean.": (
            lambda logits, labels: _costs(logits, labels).median()
        ),
        "You took the largest of the costs; take the mean.": (
            lambda logits, labels: _costs(logits, labels).max()
        ),
    },
)
"""Mark ``my_mlm_loss(logits, labels)``: mean −log P over the labels that are not −100."""
