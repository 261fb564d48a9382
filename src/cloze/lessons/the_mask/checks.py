"""The exercises of notebook 02."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cloze.masking import IGNORE, mask_tokens
from cloze.teaching.exercise import Exercise
from cloze.teaching.results import Probe, Symptom, number, tensor
from cloze.vocabulary import VOCABULARY

# ── 2.1 ──────────────────────────────────────────────────────────────────────────────────────────

MASK = VOCABULARY.mask_id


def restore(inputs: Tensor, labels: Tensor) -> Tensor:
    """Rebuild the ids before masking from inputs and labels, each of shape (batch, length)."""
    return torch.where(labels == IGNORE, inputs, labels)


def masked_batches(chance: random.Random) -> list[Probe]:
    """Make batches with every fate, in which the label 0, a newline, is among the selected."""
    generator = torch.Generator().manual_seed(chance.getrandbits(31))
    #                       [MASK]  swapped  kept  not selected
    inputs = torch.tensor([[MASK, 23, 18, 15, 9, 0], [4, MASK, 3, MASK, 12, 5]])
    labels = torch.tensor([[2, 9, 18, IGNORE, 0, IGNORE], [IGNORE, 20, IGNORE, 0, IGNORE, 8]])
    fixed = [(inputs, labels), (inputs.flip(1), labels.flip(1))]

    def masked(*shape: int) -> Probe:
        ids = torch.randint(28, shape, generator=generator)
        return mask_tokens(ids, 0.6, mask_share=0.4, random_share=0.4, generator=generator)

    return [*fixed, masked(3, 4), masked(4, 3), masked(1, 9)]


def _where(taken: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Take the labels where a condition on inputs and labels holds."""
    return lambda inputs, labels: torch.where(taken(inputs, labels), labels, inputs)


def _within(region: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Restore those of the selected positions that lie in a region."""
    return _where(lambda inputs, labels: (labels != IGNORE) & region(labels != IGNORE))


def _rows(selected: Tensor) -> Tensor:
    return torch.arange(len(selected))[:, None]


def _columns(selected: Tensor) -> Tensor:
    return torch.arange(selected.shape[1])


def _first(selected: Tensor) -> Tensor:
    """Find the first selected position of each row."""
    return selected.cumsum(1) == 1


def _last(selected: Tensor) -> Tensor:
    return _first(selected.flip(1)).flip(1)


check_restore = Exercise(
    solution=restore,
    wants=tensor(torch.long),
    probes=masked_batches,
    parts=lambda inputs, labels: {
        "selected and [MASK]": (labels != -100) & (inputs == VOCABULARY.mask_id),
        "selected, but another character or the same": (
            (labels != -100) & (inputs != VOCABULARY.mask_id)
        ),
        "not selected": labels == -100,
    },
    solved="Inputs and labels together hold the whole text: nothing is lost by masking, it is only "
    "moved to where the model cannot read it.",
    direction="Where the label is -100 the original is the input; everywhere else it is the label.",
    mistakes={
        "You return the inputs as they are: is your condition true nowhere, or are inputs and "
        "labels exchanged? A position was selected where its label is not -100, and its original "
        "is that label.": (lambda inputs, labels: inputs),
        "You return the labels as they are, -100 included: is your condition true everywhere? "
        "-100 stands for no character: the original there is what the model reads, inputs.": (
            lambda inputs, labels: labels
        ),
        "The [MASK]s are filled, but a swapped character stays: you looked for [MASK], and a "
        "selected position may show any character. Ask the labels which ones were selected.": (
            _where(lambda inputs, labels: inputs == MASK)
        ),
        "The [MASK]s are filled, but a swapped character stays, and so does a newline that became "
        "[MASK]: ask the labels which positions were selected, labels != -100.": (
            _where(lambda inputs, labels: (inputs == MASK) & (labels > 0))
        ),
        "The swapped characters are restored, but the [MASK]s stay: ask only whether the label is "
        "-100, not what the input shows.": (
            _where(lambda inputs, labels: (labels != IGNORE) & (inputs != MASK))
        ),
        "Inputs and labels are exchanged: you take -100 where nothing was selected, and what the "
        "model reads where something was. Exchange the two, or turn the condition round.": (
            _where(lambda inputs, labels: labels == IGNORE)
        ),
        "A selected newline is not restored: its label is 0, an id like any other. What was not "
        "selected has the label -100, so compare with that: labels != -100.": (
            _where(lambda inputs, labels: labels > 0)
        ),
        "You take every label that is not 0, and -100 is not 0 either, while 0 is the newline: a "
        "position was selected if labels != -100.": _where(lambda inputs, labels: labels != 0),
        "You take the label only where it is equal to the input, or where it is 0: a position was "
        "selected if labels != -100.": _where(lambda inputs, labels: labels == 0),
        "You take the larger of input and label, so a [MASK] stays, for 28 is larger than any "
        "label: ask only whether the label is -100.": torch.maximum,
        "You take the smaller of input and label, and -100 is always the smaller: ask whether the "
        "label is -100.": torch.minimum,
        "You add inputs and labels; the original is one of the two, so choose at each position: "
        "torch.where.": lambda inputs, labels: inputs + labels,
        "You add inputs and labels where a position was selected; the label alone is the original "
        "there.": lambda inputs, labels: torch.where(labels == IGNORE, inputs, inputs + labels),
        "You add the labels to the other inputs, -100 included: set the labels to 0 there, or use "
        "torch.where.": lambda inputs, labels: inputs * (labels == IGNORE) + labels,
        "You subtract the labels from the inputs; the original is one of the two, so choose at "
        "each position: torch.where.": lambda inputs, labels: inputs - labels,
        "Where something was selected you write 0; the original there is the label.": (
            lambda inputs, labels: inputs.masked_fill(labels != IGNORE, 0)
        ),
        "Where something was selected you write [MASK]; that hides it, and the original there is "
        "the label.": lambda inputs, labels: inputs.masked_fill(labels != IGNORE, MASK),
        "Where something was selected you write -100; the original there is the label.": (
            lambda inputs, labels: inputs.masked_fill(labels != IGNORE, IGNORE)
        ),
        "Where nothing was selected you write 0; the original there is what the model reads, "
        "inputs.": lambda inputs, labels: labels.masked_fill(labels == IGNORE, 0),
        "Where nothing was selected you write [MASK]; the original there is what the model reads, "
        "inputs.": lambda inputs, labels: labels.masked_fill(labels == IGNORE, MASK),
        "You write 0 in place of every [MASK]; the original is the label, wherever it is not "
        "-100.": lambda inputs, labels: inputs.masked_fill(inputs == MASK, 0),
        "You return only the originals of the selected positions, in one row; put them where they "
        "belong in a copy of inputs: torch.where.": (
            lambda inputs, labels: labels[labels != IGNORE]
        ),
        "You return only the labels of the [MASK]s, in one row; put the label of every selected "
        "position where it belongs in a copy of inputs: torch.where.": (
            lambda inputs, labels: labels[inputs == MASK]
        ),
        "You return only what the model reads at the selected positions; return the originals of "
        "all positions, in the shape of inputs.": lambda inputs, labels: inputs[labels != IGNORE],
        "You return only the positions that were not selected; return the originals of all, in the "
        "shape of inputs.": lambda inputs, labels: inputs[labels == IGNORE],
        "You return which positions were selected; return the ids: torch.where with this as its "
        "condition.": lambda inputs, labels: labels != IGNORE,
        "You return which positions were not selected; return the ids: torch.where with this as "
        "its condition.": lambda inputs, labels: labels == IGNORE,
        "You return which positions show [MASK]; return the original ids of all.": (
            lambda inputs, labels: inputs == MASK
        ),
        "You return where the selected positions are; return the original ids of all.": (
            lambda inputs, labels: (labels != IGNORE).nonzero()
        ),
        "torch.where with a condition alone finds positions; give it the two tensors to choose "
        "from, too.": lambda inputs, labels: torch.where(labels == IGNORE),
        "You use the labels as positions in inputs; they are the original ids themselves.": (
            lambda inputs, labels: inputs[labels]
        ),
        "You gather from inputs at the labels, as if they were positions; they are the original "
        "ids themselves.": lambda inputs, labels: inputs.gather(1, labels),
        "You return inputs and labels, both; choose one of the two at each position.": (
            lambda inputs, labels: (inputs, labels)
        ),
        "You return inputs and labels one below the other; choose one of the two at each "
        "position.": lambda inputs, labels: torch.cat((inputs, labels)),
        "You return the text; what is asked for are the ids, so leave out decode.": (
            lambda inputs, labels: [VOCABULARY.decode(row) for row in restore(inputs, labels)]
        ),
        "masked_fill writes one and the same number everywhere; torch.where takes from a tensor.": (
            lambda inputs, labels: inputs.masked_fill(labels != IGNORE, labels)
        ),
        "masked_scatter writes what it is given from the beginning, here with the labels -100: "
        "give it labels[labels != -100], or use torch.where.": (
            lambda inputs, labels: inputs.masked_scatter(labels != IGNORE, labels)
        ),
        "Only the position at row 0, column 0 is restored: is the `return` inside the loop?": (
            _within(lambda selected: (_rows(selected) == 0) & (_columns(selected) == 0))
        ),
        "Only the first selected position of all is restored: is a `return` or `break` inside the "
        "loop?": _within(lambda selected: _first(selected.view(1, -1)).view_as(selected)),
        "Only the last selected position of all is restored: is what writes the label outside the "
        "loop, or is `inputs` copied anew each time?": (
            _within(lambda selected: _last(selected.view(1, -1)).view_as(selected))
        ),
        "Only the first selected position of each row is restored: every one has its label.": (
            _within(_first)
        ),
        "Only the last selected position of each row is restored: is the line that writes the "
        "label outside the inner loop?": _within(_last),
        "Only the first row is restored: is a `return` inside the loop, or a [0] somewhere?": (
            _within(lambda selected: _rows(selected) == 0)
        ),
        "You return the first row alone; return all of them, in the shape of inputs.": (
            lambda inputs, labels: restore(inputs, labels)[0]
        ),
        "Only the last row is restored: is what you collect made anew for each row?": (
            _within(lambda selected: _rows(selected) == len(selected) - 1)
        ),
        "The first row is left out: rows count from 0.": (
            _within(lambda selected: _rows(selected) > 0)
        ),
        "The last row is left out: range(n) ends before n already.": (
            _within(lambda selected: _rows(selected) < len(selected) - 1)
        ),
        "The first position of each row is left out: positions count from 0.": (
            _within(lambda selected: _columns(selected) > 0)
        ),
        "The last position of each row is left out: range(n) ends before n already.": (
            _within(lambda selected: _columns(selected) < selected.shape[1] - 1)
        ),
        "Only as many columns are restored as there are rows: len(inputs) counts the rows; there "
        "are inputs.shape[1] columns.": (
            _within(lambda selected: _columns(selected) < len(selected))
        ),
    },
)
"""Mark ``restore(inputs, labels)``: the original ids, from a masked batch alone."""


# ── 2.2 ──────────────────────────────────────────────────────────────────────────────────────────


def suspect(value: Any) -> str:
    """Read the letter of one suspect, alone or after the word."""
    named = 'the letter of one suspect, in quotes: "A", "B", "C" or "D"'
    if callable(value):
        raise Symptom(f"You hand in a function; answer with {named}.")
    if not isinstance(value, str):
        raise Symptom(f"Answer with {named}: a text, and no list, count or share.")
    words = re.findall("[a-z0-9%]+", value.lower().replace("_", " "))
    letters = "".join(word for word in words if word not in ("suspect", "suspects", "and", "or"))
    if len(letters) > 1 and set(letters) <= set("abcd"):
        raise Symptom("You name more than one; only one yields 81/10/9. Run tally for each.")
    if letters not in ("a", "b", "c", "d"):
        raise Symptom(f"Answer with {named}, and nothing else.")
    return letters.upper()


check_culprit = Exercise(
    solution="C",
    wants=suspect,
    solved="C swaps 10 % first and gives [MASK] to 0.9 of the rest: 0.9 · 0.9 = 81 % [MASK], 10 % "
    "swapped and 0.9 · 0.1 = 9 % kept. Two independent draws multiply.",
    mistakes={
        "A gives 80/10/10: its 9.64 and 10.36 are the trap of one in 28. One number decides, and "
        "nothing can overlap. Look for 81 % [MASK].": "A",
        "B gives 80/10/10, although a rate of 0.5 looks wrong: half of the 20 % that are left is "
        "10 %. Measure it before you accuse it, and look for 81 % [MASK].": "B",
        "D is wrong too, but not this wrong: its second draw asks for 10 % of the 20 % that are "
        "left, so it gives 80/2/18. Look for 81 % [MASK].": "D",
    },
)
"""Mark the letter of the suspect that gives 81/10/9."""


# ── 2.3 ──────────────────────────────────────────────────────────────────────────────────────────

CHANCE = ("rand", "rand_like", "randint", "bernoulli", "binomial", "random", "uniform", "choices")
"""Names by which an answer draws at random what it should compute."""


def second_rate(mask_share: float, random_share: float) -> float:
    """Turn a share of all into a share of what is not masked."""
    return random_share / (1 - mask_share)


def shares(chance: random.Random) -> list[Probe]:
    """Make shares of [MASK] and of swapped characters that leave some characters kept."""
    probes: list[Probe] = [(0.8, 0.1), (0.7, 0.2), (0.5, 0.2), (0.25, 0.6), (0.6, 0.4), (0.3, 4e-4)]
    for _ in range(3):
        mask_share = chance.uniform(0.1, 0.9)
        probes.append((mask_share, (1 - mask_share) * chance.uniform(0.1, 0.9)))
    return probes


def _rate_times(factor: float) -> Callable[[float, float], float]:
    return lambda m, r: factor * second_rate(m, r)


check_second_rate = Exercise(
    solution=second_rate,
    wants=number,
    probes=shares,
    solved="For 80/10/10 that is 0.1 / 0.2 = 0.5, the rate of suspect B. One draw, as in "
    "mask_tokens, needs no such conversion.",
    direction="What is left for the second draw is the share 1 - mask_share, and random_share "
    "must be taken out of that.",
    without=dict.fromkeys(
        CHANCE, "You make the draw itself; what is asked for is its rate, which can be computed."
    ),
    mistakes={
        "That is suspect D: the second draw sees only what the first left over, so a share of the "
        "whole must be turned into a share of the rest.": lambda m, r: r,
        "You multiplied by the rest; to turn a share of the whole into a share of the rest, divide "
        "by it.": lambda m, r: r * (1 - m),
        "You divided by what became [MASK]; divide by what is left over, 1 - mask_share.": (
            lambda m, r: r / m
        ),
        "You multiplied by what is left over and divided by what became [MASK]; divide by what is "
        "left over, and that is all.": lambda m, r: r * (1 - m) / m,
        "You multiplied mask_share by what is not swapped; divide random_share by what is not "
        "[MASK], 1 - mask_share.": lambda m, r: m * (1 - r),
        "You divided the share of [MASK] by that of swapped characters; what is asked for is how "
        "much of what is left over is swapped.": lambda m, r: m / r,
        "That is the share that is kept, of all; what is asked for is how much of what is left "
        "over is swapped.": lambda m, r: 1 - m - r,
        "That is how much of the rest is kept; the second draw swaps, so take the other part.": (
            lambda m, r: (1 - m - r) / (1 - m)
        ),
        "That is everything that is left over, swapped and kept together; how much of it is to be "
        "swapped?": lambda m, r: 1 - m,
        "You divided by what is not swapped; the second draw sees what is not [MASK], "
        "1 - mask_share.": lambda m, r: r / (1 - r),
        "That is the rate for [MASK] if swapping came first, as with suspect C. Here [MASK] comes "
        "first: exchange mask_share and random_share.": lambda m, r: m / (1 - r),
        "random_share is not in it: you divide mask_share by what is left over.": (
            lambda m, r: m / (1 - m)
        ),
        "You divided by what is kept; the second draw sees the swapped ones, too: divide by "
        "1 - mask_share.": lambda m, r: r / (1 - m - r),
        "That compares swapped with kept; divide by both together, 1 - mask_share.": (
            lambda m, r: (1 - m - r) / r
        ),
        "You divided by the share of [MASK] and swapped together; divide by what is left over, "
        "1 - mask_share.": lambda m, r: r / (m + r),
        "Brackets are missing: a / 1 - b is (a / 1) - b, so write a / (1 - b).": lambda m, r: r - m,
        "You divided by 1 + mask_share; what is left over is 1 - mask_share.": (
            lambda m, r: r / (1 + m)
        ),
        "Your rate is negative: is there a minus too many, or do you divide by mask_share - 1 "
        "where 1 - mask_share is what is left over?": (lambda m, r: r / (m - 1)),
        "You subtract before you divide, and the other way round; what is asked for is "
        "random_share divided by what is left over.": lambda m, r: (1 - r) / (1 - m),
        "You divided 1 by what is left over; divide random_share by it.": lambda m, r: 1 / (1 - m),
        "There is a factor mask_share too many, or random_share is subtracted at the end; to "
        "divide random_share by what is left over is all.": (lambda m, r: second_rate(m, r) - r),
        "You take half of what is left over, of all; what is asked for is random_share as a part "
        "of what is left over.": lambda m, r: (1 - m) / 2,
        "One half fits 80/10/10 only: compute it from mask_share and random_share.": (
            lambda m, r: 0.5
        ),
        "You wrote down 0.1, which fits 80/10/10 only: use random_share.": (
            lambda m, r: 0.1 / (1 - m)
        ),
        "You wrote down 0.2 (or 5, 1 / 0.2), which fits 80/10/10 only: use 1 - mask_share.": (
            lambda m, r: r / 0.2
        ),
        "You added the shares, which is where the interval of a single draw ends; the second draw "
        "needs a share of what is left over.": lambda m, r: m + r,
        "You subtracted the shares; divide random_share by what is left over, 1 - mask_share.": (
            lambda m, r: m - r
        ),
        "You multiplied the shares; divide random_share by what is left over, 1 - mask_share.": (
            lambda m, r: m * r
        ),
        "You left out mask_share: the second draw sees only what is not [MASK].": (
            lambda m, r: 1 - r
        ),
        "You convert twice: divide by 1 - mask_share once.": lambda m, r: r / (1 - m) ** 2,
        "The 15 % of the selection do not belong here: mask_share and random_share are shares of "
        "the selected positions already.": _rate_times(0.15),
        "The 15 % of the selection do not belong here: the shares are of the selected positions "
        "already, so do not divide by 0.15.": _rate_times(1 / 0.15),
        "The 15 % of the selection do not belong here, and a share of the rest is asked for: "
        "divide random_share by what is left over.": lambda m, r: 0.15 * r,
        "The one in 28 does not belong here: a character swapped for itself is swapped, too, so "
        "leave out 28/27.": _rate_times(28 / 27),
        "The one in 28 does not belong here: a character swapped for itself is swapped, too, so "
        "leave out 27/28.": _rate_times(27 / 28),
        "The shares are numbers between 0 and 1, so what is left over is 1 - mask_share, not "
        "100 - mask_share.": lambda m, r: r / (100 - m),
        "The shares are numbers between 0 and 1, so what is left over is 1 - mask_share, not "
        "100 - mask_share, and no per cent are to be made.": lambda m, r: 100 * r / (100 - m),
        "You return a pair; return the second rate alone.": lambda m, r: (m, second_rate(m, r)),
        "You took a logarithm; a share of the rest is a division, random_share / what is left "
        "over.": lambda m, r: math.log(r) / math.log(1 - m),
    },
)
"""Mark ``second_rate(mask_share, random_share)``: the rate of a second draw for swapping."""


# ── 2.4 ──────────────────────────────────────────────────────────────────────────────────────────


def coverage(epochs: int, mask_prob: float, copies: int) -> float:
    """Return the expected share of positions that are selected at least once."""
    return 1 - (1 - mask_prob) ** min(epochs, copies)


def schedules(chance: random.Random) -> list[Probe]:
    """Make trainings with fewer, as many and more epochs than copies, whole turns or not."""
    fixed = [(3, 0.15, 10), (40, 0.15, 10), (1, 0.15, 1), (5, 0.4, 2), (6, 0.3, 6), (7, 0.2, 1)]
    drawn = [(chance.randint(2, 4), chance.randint(5, 9)) for _ in range(2)]
    return [
        *fixed,
        *((few, chance.uniform(0.1, 0.3), many) for few, many in drawn),
        *((many, chance.uniform(0.1, 0.3), few) for few, many in drawn),
    ]


Count = Callable[[int, int], float]
"""Counts the different masks of so many epochs and copies."""

MASKS: dict[str, Count] = {
    "": min,
    "And the number of different masks is min(epochs, copies), not epochs: from epoch copies + 1 "
    "on they repeat.": lambda epochs, copies: epochs,
}
"""Whether the masks that repeat are counted, too."""

SHARES: dict[str, Callable[[float, float], Any]] = {
    "That is the share never selected so far; take the rest of 1.": lambda p, n: (1 - p) ** n,
    "You added the rates, which counts a position selected twice twice (and would pass 100 % in "
    "the end); multiply the chances of *not* being selected.": lambda p, n: p * n,
    "You added the rates and stop at 1, but a position selected twice is still counted twice; "
    "multiply the chances of *not* being selected.": lambda p, n: min(1, p * n),
    "That is the share selected every single time; the question is at least once: begin with the "
    "chance to escape, 1 - mask_prob.": lambda p, n: p**n,
    "You took the power of mask_prob, which is the chance to be selected every time, and 1 minus "
    "that is to escape at least once. A position escapes one mask with 1 - mask_prob: take the "
    "power of that.": lambda p, n: 1 - p**n,
    "Brackets are missing: 1 - 1 - p ** n is -p ** n; write (1 - p) first.": lambda p, n: -(p**n),
    "You multiply where a power belongs: the chance to escape is (1 - mask_prob) times itself, "
    "once for each mask, which is **.": lambda p, n: 1 - (1 - p) * n,
    "You multiply the chance to escape by the number of masks; take its power, and the rest of "
    "1.": lambda p, n: (1 - p) * n,
    "You subtract mask_prob once for each mask; the chance to escape shrinks by a factor each "
    "time: a power of 1 - mask_prob.": lambda p, n: 1 - p * n,
    "That is the share selected exactly once; those selected more often count, too: take 1 minus "
    "the share that is never selected.": lambda p, n: n * p * (1 - p) ** (n - 1),
    "That is the share selected for the first time by the last mask; add those of the masks "
    "before, or take 1 minus the share never selected.": lambda p, n: p * (1 - p) ** (n - 1),
    "That is the share selected at least twice; the question is at least once.": (
        lambda p, n: 1 - (1 - p) ** n - n * p * (1 - p) ** (n - 1)
    ),
    "That is close for a small mask_prob only: exp(-mask_prob) stands for 1 - mask_prob, which is "
    "the exact chance to escape one mask.": lambda p, n: 1 - math.exp(-p * n),
    "That is nearly the share never selected: exp(-mask_prob) stands for 1 - mask_prob, the exact "
    "chance to escape one mask; and take the rest of 1.": lambda p, n: math.exp(-p * n),
    "You count one mask too few: is a - 1 left over, or does a loop end early?": (
        lambda p, n: 1 - (1 - p) ** (n - 1)
    ),
    "You count one mask too many: is there a + 1, or does a loop begin before the first?": (
        lambda p, n: 1 - (1 - p) ** (n + 1)
    ),
    "You count only those shown as [MASK], 80 %; selected positions count whatever is shown.": (
        lambda p, n: 1 - (1 - 0.8 * p) ** n
    ),
    "You take 80 % of the result; selected positions count whatever is shown.": (
        lambda p, n: 0.8 * (1 - (1 - p) ** n)
    ),
    "You wrote down 0.15 (or 0.85); other rates are asked for, too: use mask_prob.": (
        lambda p, n: 1 - 0.85**n
    ),
    "You multiply the result by mask_prob; the chance to escape all masks has it in it already.": (
        lambda p, n: p * (1 - (1 - p) ** n)
    ),
    "That is a mean over the masks: do not divide by their number.": (
        lambda p, n: (1 - (1 - p) ** n) / n
    ),
    "You exchanged base and exponent: it is (1 - mask_prob) to the power of the number of masks.": (
        lambda p, n: 1 - n ** (1 - p)
    ),
    "You return the number of different masks; (1 - mask_prob) to its power is the share that "
    "escapes all.": lambda p, n: n,
}
"""Other shares than the one asked for, from mask_prob and a number of masks."""


def _of(share: Callable[[float, float], Any], count: Count) -> Callable[[int, float, int], Any]:
    return lambda epochs, p, copies: share(p, count(epochs, copies))


def _after(count: Count) -> Callable[[int, float, int], float]:
    """Make the solution with another number of different masks."""
    return _of(lambda p, n: 1 - (1 - p) ** n, count)


check_coverage = Exercise(
    solution=coverage,
    wants=number,
    probes=schedules,
    parts=lambda epochs, mask_prob, copies: {
        f"{'more' if epochs > copies else 'no more'} epochs than copies": ...
    },
    solved="Ten copies end at 80 % however long you train; fresh masks have no such ceiling.",
    direction="Count the different masks first, then find the chance to escape all of them; what "
    "remains is selected at least once.",
    without=dict.fromkeys(
        (*CHANCE, "mask_tokens", "draw_masks", "StaticMasks", "covered"),
        "You draw masks and count, so the result is an estimate that hangs on the draw; what is "
        "asked for is the formula: begin with the chance to escape one mask, 1 - mask_prob.",
    ),
    mistakes={
        "From epoch copies + 1 on the masks repeat, and a repeated mask selects nothing new: the "
        "number of different masks is min(epochs, copies), not epochs.": _after(lambda e, c: e),
        "Only as many copies have been seen as there were epochs: the number of different masks "
        "is min(epochs, copies), not copies.": _after(lambda e, c: c),
        "You took the larger of epochs and copies; no more copies are seen than there are epochs, "
        "and no more masks differ than there are copies: take the smaller.": _after(max),
        "You multiplied epochs and copies; each epoch reads one copy, so the number of different "
        "masks is min(epochs, copies).": _after(lambda e, c: e * c),
        "You divided epochs by copies, which is how often each copy is read; a copy read again "
        "selects nothing new: the number of different masks is min(epochs, copies).": (
            _after(lambda e, c: e / c)
        ),
        "You divided epochs by copies, which is how often each copy is read in full turns; a copy "
        "read again selects nothing new: the number of different masks is min(epochs, copies).": (
            _after(lambda e, c: e // c)
        ),
        "You divided epochs by copies and rounded up, which is how many turns have begun; within a "
        "turn every copy is another mask: there are min(epochs, copies) different ones.": (
            _after(lambda e, c: math.ceil(e / c))
        ),
        "You count the copies read in the present turn; the masks of the turns before count, too, "
        "and from the first full turn on there are copies different ones.": (
            _after(lambda e, c: e % c or c)
        ),
        "You added the full turns and what is left of the last; the number of different masks is "
        "min(epochs, copies).": _after(lambda e, c: e // c + e % c),
        "You subtracted copies from epochs; the number of different masks is the smaller one.": (
            _after(lambda e, c: e - c)
        ),
        "You divided copies by epochs; the number of different masks is min(epochs, copies).": (
            _after(lambda e, c: c / e)
        ),
        "You took the remainder of epochs by copies, which says whose turn it is; the number of "
        "different masks is min(epochs, copies).": _after(lambda e, c: e % c),
        "You added epochs and copies; the number of different masks is min(epochs, copies).": (
            _after(lambda e, c: e + c)
        ),
        "You wrote down the 10 copies of the example; use copies.": _after(lambda e, c: min(e, 10)),
        "You count one copy too few: after copies epochs all of them have been read.": (
            _after(lambda e, c: min(e, c - 1))
        ),
        "That is what one mask selects: is there a single static copy, or a loop that ends after "
        "its first turn? Every further copy selects more.": lambda epochs, p, copies: p,
        "That is the chance to escape one mask; find that of escaping all the different ones, and "
        "take the rest of 1.": lambda epochs, p, copies: 1 - p,
        "You expect copies to be drawn at random for each epoch; they take turns, so after epochs "
        "epochs min(epochs, copies) have been read.": (
            _after(lambda e, c: c * (1 - (1 - 1 / c) ** e))
        ),
        "Where epochs is not larger than copies you return what one mask selects; each epoch there "
        "has another mask: epochs different masks.": (
            lambda epochs, p, copies: p if epochs <= copies else 1 - (1 - p) ** copies
        ),
        "Where epochs is larger than copies you return what one mask selects; all copies have been "
        "read by then: copies different masks.": (
            lambda epochs, p, copies: 1 - (1 - p) ** epochs if epochs <= copies else p
        ),
        "You multiplied the rate by epochs and copies; multiply the chances of *not* being "
        "selected by each different mask.": lambda epochs, p, copies: p * epochs * copies,
        "You added the rates of all copies, which counts a position selected twice twice; multiply "
        "the chances of *not* being selected by each different mask.": (
            lambda epochs, p, copies: p * copies
        ),
        "You divide mask_prob among the copies; each of them selects with the whole of it.": (
            lambda epochs, p, copies: 1 - (1 - p / copies) ** epochs
        ),
        "You return the list of the shares after each epoch; return the last.": (
            lambda epochs, p, copies: [coverage(e, p, copies) for e in range(1, epochs + 1)]
        ),
        "You add up the shares after each epoch; the last of them is the answer.": (
            lambda epochs, p, copies: sum(coverage(e, p, copies) for e in range(1, epochs + 1))
        ),
        "Your first parameter is taken for the rate; your function is called as coverage(epochs, "
        "mask_prob, copies), in this order.": lambda epochs, p, copies: coverage(p, epochs, copies),
        "Your last parameter is taken for the rate; your function is called as coverage(epochs, "
        "mask_prob, copies), in this order.": lambda epochs, p, copies: coverage(epochs, copies, p),
        **{
            f"{said} {also}".rstrip(): _of(share, count)
            for also, count in MASKS.items()
            for said, share in SHARES.items()
        },
    },
)
"""Mark ``coverage(epochs, mask_prob, copies)``: the share selected at least once."""
