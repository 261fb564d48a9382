"""The exercises of notebook 02."""

from __future__ import annotations

import random
import re
from typing import Any

import torch
from torch import Tensor

from cloze.masking import IGNORE, mask_tokens
from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
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
    mistakes=Mistakes(__name__, "restore"),
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
    mistakes=Mistakes(__name__, "culprit"),
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
    mistakes=Mistakes(__name__, "second_rate"),
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
    mistakes=Mistakes(__name__, "coverage"),
)
"""Mark ``coverage(epochs, mask_prob, copies)``: the share selected at least once."""
