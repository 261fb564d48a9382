"""Faults in tiny programs: planted, so that where they are is known, and found in several ways."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import DATA
from cloze.encoder import Direction
from cloze.heads import Model, log_probs_at
from cloze.masking import seeded
from cloze.vocabulary import BEGIN, END, PAD
from cloze.world import Corruption, Truth, World

PROGRAMS = DATA / "programs.toml"
ONE_FAULT = Corruption(mask_prob=0.16, mask_share=0.5, random_share=0.5)
"""What a reader may expect of a line that is probably spoilt in one of about twelve places."""

MOST = 20.0
"""The greatest surprise in nats; what the exact reader holds for impossible would cost infinity."""


class Faulty(NamedTuple):
    """Programs, each with one wrong symbol."""

    input_ids: Tensor
    """Shape ``(n, length)``."""
    at: Tensor
    """Its position, shape ``(n,)``."""
    truth: Tensor
    """What should stand there, shape ``(n,)``."""


def padded(world: World, line: str) -> Tensor:
    """Return a typed line as :func:`posterior` wants it, shape ``(1, max_len)``."""
    input_ids = world.encode(line)
    missing = world.max_len - len(input_ids)
    return F.pad(input_ids, (0, missing), value=world.vocabulary.ids[PAD])[None]


def symbols_of(world: World, input_ids: Tensor) -> Tensor:
    """Return where ordinary symbols stand, ``(n, length)``."""
    return input_ids < world.vocabulary.n_ordinary


KINDS = (
    "( ) [ ]",
    "+ - *",
    "< >",
    ", : ; =",
    "0 1 2 3 5 9",
    "x y n total i j k",
    "area speed cost",
    "def return for in range print while if else",
)
"""What is taken for each other: a bracket for a bracket, a name for a name."""


def kinds(world: World) -> Tensor:
    """Return the kind of each symbol as an index into ``KINDS``, ``(n_ordinary,)``."""
    number = {symbol: n for n, kind in enumerate(KINDS) for symbol in kind.split()}
    return torch.tensor([number[symbol] for symbol in world.vocabulary.ordinary])


def plant(world: World, n: int, seed: int = 0) -> Faulty:
    """Draw programs and replace one symbol of each, anywhere, by another one of its kind."""
    chance = seeded(seed)
    input_ids = world.sample(n, generator=chance)
    kind = kinds(world)
    alike = (kind[:, None] == kind) & ~torch.eye(len(kind), dtype=torch.bool)
    special = torch.zeros(len(world.vocabulary) - len(kind), dtype=torch.bool)
    replaceable = torch.cat([alike.any(1), special])
    at = torch.multinomial(replaceable[input_ids].double(), 1, generator=chance)
    truth = input_ids.gather(1, at)
    others = alike[truth[:, 0]]
    other = torch.multinomial(others.double(), 1, generator=chance)
    return Faulty(input_ids.scatter(1, at, other), at[:, 0], truth[:, 0])


def posterior(world: World, input_ids: Tensor) -> Tensor:
    """Return P(the fault is at i | the line) by Bayes' rule, one fault planted by :func:`plant`.

    Args:
        world: all programs there are, and how often each is written.
        input_ids: lines of :func:`plant`, shape ``(n, max_len)``.

    Returns:
        Shape ``(n, max_len)``.

    Raises:
        ValueError: a line is not one symbol away from any program.
    """
    none = torch.full((len(world.vocabulary) - world.vocabulary.n_ordinary,), -1)
    kind = torch.cat([kinds(world), none])
    others = torch.bincount(kinds(world), minlength=len(KINDS)) - 1
    likely = torch.where(others > 0, 1 / others.clamp(min=1).double(), 0.0)  # one of its kind
    found = []
    for line in input_ids:
        differ = world.input_ids != line
        weights = world.probabilities[:, None] * differ * likely[kind[line].clamp(min=0)]
        weights[differ.sum(1) != 1] = 0
        weights[(kind[world.input_ids] != kind[line]) | (kind[line] < 0)] = 0
        if not weights.sum() > 0:
            read = " ".join(line_of(world, line))
            raise ValueError(f"No program is one symbol away from {read}; plant one fault.")
        found.append(weights.sum(0) / weights.sum())
    return torch.stack(found)


def surprises(world: World, reader: Model, input_ids: Tensor) -> Tensor:
    """Return what each symbol costs a reader while it is hidden, in nats: ``(n, length)``.

    The cost is 0 wherever there is no ordinary symbol.
    """
    here = symbols_of(world, input_ids)
    rows, at = here.nonzero(as_tuple=True)
    hidden = input_ids[rows].clone()
    selected = torch.zeros_like(hidden, dtype=torch.bool)
    selected[torch.arange(len(rows)), at] = True
    hidden[selected] = world.vocabulary.mask_id
    log_probs = log_probs_at(reader, hidden, selected).double()
    costs = torch.zeros(input_ids.shape, dtype=torch.float64)
    costs[rows, at] = 0 - log_probs.gather(1, input_ids[rows, at][:, None])[:, 0]
    return costs.clamp(0, MOST)


def exact_reader(world: World, direction: Direction = "both") -> Truth:
    """Return the best reader of spoilt programs with one side or with both."""
    return Truth(world, direction, ONE_FAULT)


def hits(guesses: Tensor, at: Tensor) -> float:
    """Return how often the greatest of numbers ``(n, length)`` is where the fault is.

    Ties are decided by lot.

    Args:
        guesses: how likely the fault is at each position, in any unit, ``(n, length)``.
        at: where it is, ``(n,)``.
    """
    best = guesses >= guesses.max(1, keepdim=True).values - 1e-3
    there = best.gather(1, at[:, None])[:, 0]
    return float((there / best.sum(1)).mean())


def best_hits(world: World, faulty: Faulty) -> float:
    """Return how often the best possible guess is right: the mean of the greatest posterior."""
    return float(posterior(world, faulty.input_ids).max(1).values.mean())


def line_of(world: World, input_ids: Tensor) -> list[str]:
    """Return the symbols of a line ``(length,)`` without its frame."""
    frame = {world.vocabulary.ids[special] for special in (BEGIN, END, PAD)}
    return [world.vocabulary.symbols[i] for i in input_ids.tolist() if i not in frame]
