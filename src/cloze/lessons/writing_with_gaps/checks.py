"""The exercises of notebook 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.lessons.writing_with_gaps.diffusion import all_costs, line_bound
from cloze.prediction.lines import score
from cloze.prediction.shipped import shipped_model
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, number_with_gradient, positions
from cloze.teaching.texts import two_lines
from cloze.vocabulary import VOCABULARY, counted

# ── 10.1 ─────────────────────────────────────────────────────────────────────────────────────────

MARGIN = 1.0
"""Nats by which each score has to prefer its line."""
FORM = 'Hand in two lines with a comma between them: ("one line", "the other").'


def _judge_two_scores(answer: Any) -> str:
    lines = two_lines(answer, FORM)
    one, other = (line.split() for line in lines)
    differing = sum(a != b for a, b in zip(one, other, strict=False))
    if len(one) != len(other) or differing != 1:
        raise Symptom(
            f"Your lines have {counted(len(one), 'word')} and {len(other)}, and differ in "
            f"{differing} places. Exchange exactly one word, and leave the others as they are."
        )
    alone = [float(score(line).sum()) for line in lines]
    repaired = [float(score(line, within_words="left to right").sum()) for line in lines]
    costs = (
        f"Letter by letter, your lines cost {alone[0]:.1f} and {alone[1]:.1f} nats; with the rest "
        f"of the word hidden, {repaired[0]:.1f} and {repaired[1]:.1f}."
    )
    if alone[0] > alone[1] - MARGIN:
        raise Symptom(
            f"{costs} The plain score does not prefer your first line by {MARGIN:.0f} nat. Which "
            "word would its own letters give away, though it is hard to think of?"
        )
    if repaired[0] < repaired[1] + MARGIN:
        raise Symptom(
            f"{costs} The repaired score does not prefer your second line by {MARGIN:.0f} nat. "
            "Which word would you expect there before you have seen any of its letters?"
        )
    return costs


check_two_scores = Exercise(
    minutes=10,
    solution=(
        "we walked to the village in the evening",
        "we walked to the sea in the evening",
    ),
    solved="A word whose letters give one another away is cheap, even if nobody expects the word.",
    judge=_judge_two_scores,
)

# ── 10.2 ─────────────────────────────────────────────────────────────────────────────────────────


def taken_back(sure: Mapping[int, float], step: int, steps: int) -> list[int]:
    """List the n · (T − t) // T positions of the lowest probability."""
    return sorted(sure, key=sure.__getitem__)[: len(sure) * (steps - step) // steps]


def doubts(chance: Chance) -> Probes:
    """Make how sure a model was at some positions, and a step of several."""
    for n, step, steps in ((10, 1, 4), (9, 2, 3), (8, 4, 4), (14, 3, 5), (7, 2, 3), (10, 4, 5)):
        places = chance.sample(range(40), n)
        yield {at: round(chance.uniform(0.01, 0.99), 4) for at in places}, step, steps
    yield from (({4: 0.9, 7: 0.2, 1: 0.2, 5: 0.6}, 1, 2), ({}, 1, 2))


check_taken_back = Exercise(
    solution=taken_back,
    minutes=12,
    wants=positions,
    probes=doubts,
    solved="After the last step nothing is remasked, and the line is done.",
    direction="Sort the positions by sure[at] and keep the first "
    "len(sure) * (steps - step) // steps.",
)

# ── 10.3 ─────────────────────────────────────────────────────────────────────────────────────────

LINE = "the garden"
MORE = 3.0
"""Nats by which an order has to be more expensive than left to right."""


@cache
def _costs() -> list[list[float]]:
    return all_costs(shipped_model(), VOCABULARY.encode(LINE)).tolist()


def steps_along(order: Sequence[int]) -> list[float]:
    """Return what each step costs when ``LINE`` is written in an order, in nats."""
    sets = [sum(1 << i for i in order[k:]) for k in range(len(order))]
    return [_costs()[hidden][i] for hidden, i in zip(sets, order, strict=True)]


def most_expensive() -> float:
    """Return what the most expensive of all orders costs, in nats."""
    most = [0.0]  # by what is hidden: the lowest positions are the lowest bits
    for hidden in range(1, 2 ** len(LINE)):
        left = [i for i in range(len(LINE)) if hidden >> i & 1]
        most.append(max(_costs()[hidden][i] + most[hidden ^ 1 << i] for i in left))
    return most[-1]


def order_of_line(value: Any) -> list[int]:
    """Read an order in which all positions of ``LINE`` are written."""
    if isinstance(value, set | frozenset):
        raise Symptom("A set has no order: hand in a list, in the order of writing.")
    value = value.tolist() if isinstance(value, Tensor) else value
    given, wanted = positions(value), [*range(len(LINE))]
    if given == [i + 1 for i in wanted]:
        raise Symptom("You count from 1, but the first character has position 0.")
    if strange := [i for i in given if i not in wanted]:
        raise Symptom(f"{strange[0]} is not a position of {LINE!r}, which has 0 to {wanted[-1]}.")
    if missing := [i for i in wanted if i not in given]:
        raise Symptom(
            "Every position must be written once. Your order never writes "
            f"{', '.join(map(str, missing))}."
        )
    return [*value]


def _judge_order(answer: Any) -> str:
    order = order_of_line(answer)
    steps, usual = steps_along(order), sum(steps_along(range(len(LINE))))
    paid = sum(steps)
    facts = f"Your order costs {paid:.2f} nats, left to right {usual:.2f}."
    letters = [LINE[i].replace(" ", "␣") for i in order]
    along = " ".join(f"{c} {nats:.1f}" for c, nats in zip(letters, steps, strict=True))
    if order == sorted(order):
        raise Symptom("That is left to right itself. Which letters would be hard to guess first?")
    if paid <= usual:
        raise Symptom(
            f"{facts} Your order is no more expensive than left to right: its letters help each "
            f"other. Step by step: {along}. Which of them would be hard to guess earlier?"
        )
    if paid < usual + MORE:
        raise Symptom(
            f"{facts} Your order is more expensive, but by less than {MORE:.0f} nats. Step by "
            f"step: {along}. What could you write earlier to mislead "
            "the model even more?"
        )
    mean = line_bound(torch.tensor(_costs(), dtype=torch.float64))
    return (
        f"{facts} The mean of all orders, which is the bound, is {mean:.2f}, and the most "
        f"expensive one costs {most_expensive():.2f}."
    )


check_costly_order = Exercise(
    solution=[4, 5, 6, 7, 8, 9, 0, 1, 2, 3],
    minutes=12,
    wants=order_of_line,
    judge=_judge_order,
    solved="It is the same line and the same model. An exact reader pays the same in every order, "
    "so the difference shows what the model does not know.",
)

# ── 10.4 ─────────────────────────────────────────────────────────────────────────────────────────


def diffusion_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over lines of the mean cost of their hidden symbols."""
    costs = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    hidden = labels != -100
    return (costs.sum(1) / hidden.sum(1)).mean()


def batches(chance: Chance) -> Probes:
    """Make answers and labels of lines with few and many hidden symbols."""
    for lines, length in ((3, 6), (2, 8), (4, 5), (5, 7), (1, 4)):
        labels = torch.randint(28, (lines, length), generator=chance.torch)
        for row in range(lines):
            k = (1, length, length // 2, 2, length - 1)[row] if lines > 1 else 3
            places = torch.randperm(length, generator=chance.torch)
            labels[row, places[k:]] = -100
            if k > 1:  # id 0 is a symbol too
                labels[row, places[0]] = 0
        logits = 2 * torch.randn(lines, length, 29, generator=chance.torch)
        yield logits.requires_grad_(), labels


check_diffusion_loss = Exercise(
    solution=diffusion_loss,
    minutes=12,
    wants=number_with_gradient,
    probes=batches,
    solved="Every line counts the same, whether one symbol of it is hidden or all.",
    direction="Divide the costs of each line by its number of hidden symbols, then average lines.",
)
