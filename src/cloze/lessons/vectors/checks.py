"""The exercises of notebook 12."""

from __future__ import annotations

import random

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import Probe, number, tensor

# ── 12.1 ─────────────────────────────────────────────────────────────────────────────────────────


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Return the cosine of each vector of a ``(n, d)`` with each of b ``(m, d)``: ``(n, m)``."""
    a = a / a.norm(dim=1, keepdim=True)
    b = b / b.norm(dim=1, keepdim=True)
    return a @ b.T


def two_sets(chance: random.Random) -> list[Probe]:
    """Make vectors of several lengths and numbers."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for n, m, d in ((3, 2, 4), (2, 5, 3), (4, 4, 4)):
        a, b = (1 + 3 * torch.randn(k, d, generator=source) for k in (n, m))
        probes.append((a, b))
    return probes


check_cosines = Exercise(
    solution=cosines,
    wants=tensor(torch.float32),
    probes=two_sets,
    solved="What is left of two vectors is their direction; how long they are no longer counts.",
    direction="Divide each row by its length, .norm(dim=1, keepdim=True), then a @ b.T.",
    mistakes=Mistakes(__name__, "cosines"),
)

# ── 12.2 ─────────────────────────────────────────────────────────────────────────────────────────


def precision(similarity: Tensor, groups: Tensor, k: int) -> float:
    """Return the share of the k nearest others that are of one's own group, on average."""
    others = similarity.clone()
    others.fill_diagonal_(float("-inf"))
    nearest = others.topk(k, dim=1).indices
    return float((groups[nearest] == groups[:, None]).float().mean())


def similar_things(chance: random.Random) -> list[Probe]:
    """Make similarities of things with themselves, and the group of each.

    They are below 0, as cosines may be, so a 0 on the diagonal does not keep a thing from itself.
    """
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for n, n_groups, k in (
        *((18, 2, 1), (19, 3, 2), (22, 3, 4), (17, 2, 3), (20, 4, 1)),
        *((61, 2, 5), (53, 3, 3)),  # among so many two different shares are hardly ever equal
    ):
        half = torch.rand(n, n, generator=source)
        groups = torch.randint(n_groups, (n,), generator=source)
        groups[:2] = 0
        near = half * (1 + (groups[:, None] == groups).float() / 8) / 2 - 1
        near.fill_diagonal_(1.0)
        probes.append((near, groups, k))
    return probes


check_precision = Exercise(
    solution=precision,
    wants=number,
    probes=similar_things,
    solved="It counts neighbours, so any two ways of measuring nearness can be compared by it.",
    direction="Put -inf on a copy's diagonal, take topk(k, dim=1).indices, compare the groups.",
    mistakes=Mistakes(__name__, "precision"),
)

# ── 12.3 ─────────────────────────────────────────────────────────────────────────────────────────


def partner_loss(cosines: Tensor, temperature: float) -> Tensor:
    """Return the mean −log P(its partner | each row), of cosines ``(n, n)``, in nats."""
    return F.cross_entropy(cosines / temperature, torch.arange(len(cosines)))


def batches_of_cosines(chance: random.Random) -> list[Probe]:
    """Make cosines of n views (rows) with n partners (columns), and temperatures."""
    source = torch.Generator().manual_seed(chance.getrandbits(31))
    probes: list[Probe] = []
    for n, temperature in ((4, 0.1), (3, 0.5), (6, 0.05), (5, 0.2)):
        near = torch.rand(n, n, generator=source) - 0.3
        probes.append((near + 0.3 * torch.eye(n), temperature))
    return probes


check_partner_loss = Exercise(
    solution=partner_loss,
    wants=number,
    probes=batches_of_cosines,
    solved="It is the loss of notebook 01 once more; the vocabulary is the rest of the batch.",
    direction="F.cross_entropy(cosines / temperature, torch.arange(len(cosines))).",
    mistakes=Mistakes(__name__, "partner_loss"),
)
