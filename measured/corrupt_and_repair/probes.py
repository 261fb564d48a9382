"""Probes: what frozen vectors are worth if you have a handful of labelled lines."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.heads import MaskedLM
from cloze.masking import seeded
from cloze.tasks.heads import mean_pool
from cloze.vocabulary import PAD, frame
from cloze.world import World

SHOTS = 8
"""How many labelled lines there are."""
DRAWS = 100
"""How often they are drawn."""
RIDGE = 1.0


def tasks(world: World) -> dict[str, tuple[Tensor, Tensor]]:
    """Return two questions about a sentence that is broken off before its answer.

    Of each, the lines between ``[BEGIN]`` and ``[END]``, with ``[PAD]``, ``(lines, length)``, and
    whether the answer is the first one, ``(lines,)``.

    "opinion": will it be *liked* or *hated*? Only *not* or *very* together with *good* or *bad*
    says so. "weather": was it *raining* or *snowing*? Of four things that are taken or worn two are
    for each, and what they have in common stands only in the part that is broken off.
    """
    return {
        "opinion": _before(world, "and", "liked", "hated"),
        "weather": _before(world, "because", "raining", "snowing"),
    }


def _before(world: World, at: str, yes: str, no: str) -> tuple[Tensor, Tensor]:
    """Break off all sentences with one of two words before another word."""
    measured: dict[tuple[str, ...], bool] = {}
    for sentence in world.sentences:
        words = sentence.split()
        if at in words and {yes, no} & {*words}:
            measured[tuple(words[: words.index(at)])] = yes in words
    lines = [frame(words, world.vocabulary) for words in measured]
    pad = world.vocabulary.ids[PAD]
    padded = torch.nn.utils.rnn.pad_sequence(lines, batch_first=True, padding_value=pad)
    return padded, torch.tensor([*measured.values()])


@torch.no_grad()
def vectors(model: MaskedLM, lines: Tensor) -> Tensor:
    """Return the mean hidden state over the words of each line, frozen: ``(lines, d_model)``."""
    states = model.encoder(lines, lines == model.vocabulary.ids[PAD])
    return mean_pool(states, lines >= model.vocabulary.n_ordinary)


def bag_of_words(world: World, lines: Tensor) -> Tensor:
    """Return how often each word stands in each line: ``(lines, n_ordinary)``, no model at all."""
    counts = F.one_hot(lines, len(world.vocabulary)).sum(1)
    return counts[:, : world.vocabulary.n_ordinary].float()


def accuracy(points: Tensor, labels: Tensor) -> float:
    """Fit a linear probe on a few labelled vectors and count how often it is right about the rest.

    Half of the labelled lines are of each kind. The probe is ridge regression on ±1, with vectors
    scaled to mean 0 and variance 1 per dimension over all lines, for which no label is needed.

    Returns:
        The mean over ``DRAWS`` draws of the labelled lines.
    """
    chance = seeded(0)
    spread = points.std(0)
    alive = spread > 1e-6
    x = ((points - points.mean(0))[:, alive] / spread[alive]).double() / int(alive.sum()) ** 0.5
    y = labels.double() * 2 - 1
    kinds = [labels.nonzero().flatten(), (~labels).nonzero().flatten()]
    right = 0.0
    for _ in range(DRAWS):
        mine = torch.cat(
            [kind[torch.randperm(len(kind), generator=chance)[: SHOTS // 2]] for kind in kinds]
        )
        gram = x[mine] @ x[mine].T + RIDGE / SHOTS * torch.eye(SHOTS, dtype=torch.float64)
        said = x @ (x[mine].T @ torch.linalg.solve(gram, y[mine])) > 0
        rest = torch.ones(len(labels), dtype=torch.bool)
        rest[mine] = False
        right += float((said == labels)[rest].double().mean())
    return right / DRAWS
