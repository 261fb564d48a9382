"""The exercises of notebook 12."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.teaching.exercise import Exercise
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


def _length(a: Tensor, dim: int = 1) -> Tensor:
    return a.norm(dim=dim, keepdim=True)


check_cosines = Exercise(
    solution=cosines,
    wants=tensor(torch.float32),
    probes=two_sets,
    solved="What is left of two vectors is their direction; how long they are no longer counts.",
    direction="Divide each row by its length, .norm(dim=1, keepdim=True), then a @ b.T.",
    mistakes={
        "That is the product of the vectors, which long ones win; divide each by its length "
        "first.": lambda a, b: a @ b.T,
        "You divided by the lengths of `a` alone; b has lengths, too.": (
            lambda a, b: a / _length(a) @ b.T
        ),
        "You divided by the lengths of `b` alone; a has lengths, too.": (
            lambda a, b: a @ (b / _length(b)).T
        ),
        "You divided by the squared lengths; the length is the root of the sum of squares.": (
            lambda a, b: a / _length(a) ** 2 @ (b / _length(b) ** 2).T
        ),
        "You divided by the length of the whole table; each row has a length of its own: "
        ".norm(dim=1, keepdim=True).": lambda a, b: a / a.norm() @ (b / b.norm()).T,
        "You took the lengths of the columns; a vector is a row, so dim=1.": (
            lambda a, b: a / _length(a, 0) @ (b / _length(b, 0)).T
        ),
        "You divided by the sum of the numbers; the length of a vector is the root of the sum of "
        "their squares.": (
            lambda a, b: a / a.sum(1, keepdim=True) @ (b / b.sum(1, keepdim=True)).T
        ),
        "You divided by the sum of the absolute numbers; the length is the root of the sum of "
        "squares.": (
            lambda a, b: a / a.abs().sum(1, keepdim=True) @ (b / b.abs().sum(1, keepdim=True)).T
        ),
        "That is a distance, which is small where vectors are alike; a cosine is large there.": (
            lambda a, b: torch.cdist(a, b)
        ),
        "You compared a with itself; compare each row of a with each row of b.": (
            lambda a, b: cosines(a, a)
        ),
        "Your table lies on its side: rows are the vectors of a, columns those of b.": (
            lambda a, b: cosines(b, a)
        ),
        "You took the mean off each vector first; that is a correlation, not a cosine.": (
            lambda a, b: cosines(a - a.mean(1, keepdim=True), b - b.mean(1, keepdim=True))
        ),
        "You centred the vectors first; here the plain cosine is asked for.": (
            lambda a, b: cosines(a - a.mean(0), b - b.mean(0))
        ),
        "That is one minus the cosine, a distance.": lambda a, b: 1 - cosines(a, b),
        "You compared row i with row i alone, and what is asked for is each with each; a[:, None] "
        "and b[None] make a table of pairs.": F.cosine_similarity,
        "The lengths of a belong to the rows of the table, so they have to stand in a column: "
        "a.norm(dim=1, keepdim=True).": lambda a, b: a @ b.T / (a.norm(dim=1) * b.norm(dim=1)),
        "That is the angle, in radians; its cosine is asked for.": (
            lambda a, b: cosines(a, b).clamp(-1, 1).acos()
        ),
        "You took the sign off; vectors that point in opposite ways have a negative cosine.": (
            lambda a, b: cosines(a, b).abs()
        ),
        "That is the product over √d, as in attention; divide by the lengths of both vectors.": (
            lambda a, b: a @ b.T / a.shape[1] ** 0.5
        ),
        "You divided the rows of the products by their length; the lengths of the vectors "
        "themselves are needed, before the product.": lambda a, b: F.normalize(a @ b.T),
        "The lengths lie along the wrong side: a.norm(dim=1) has no dimension left to divide rows "
        "by; add keepdim=True.": lambda a, b: a / a.norm(dim=1) @ (b / b.norm(dim=1)).T,
    },
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


def _nearest(similarity: Tensor, k: int, *, itself: bool = False, largest: bool = True) -> Tensor:
    if not itself:
        worst = float("-inf" if largest else "inf")
        similarity = similarity.clone().fill_diagonal_(worst)
    return similarity.topk(k, dim=1, largest=largest).indices


def _hits(found: Tensor, groups: Tensor) -> Tensor:
    return (groups[found] == groups[:, None]).float()


check_precision = Exercise(
    solution=precision,
    wants=number,
    probes=similar_things,
    solved="It counts neighbours, so any two ways of measuring nearness can be compared by it.",
    direction="Put -inf on a copy's diagonal, take topk(k, dim=1).indices, compare the groups.",
    mistakes={
        "Everything found itself: put -inf on the diagonal of a copy before you look for the "
        "nearest.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k, itself=True), groups).mean().item()
            )
        ),
        "You looked only at the nearest one; look at k of them.": (
            lambda similarity, groups, k: _hits(_nearest(similarity, 1), groups).mean().item()
        ),
        "Those are the farthest: a greater similarity is nearer.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k, largest=False), groups).mean().item()
            )
        ),
        "You counted how many find at least one of their group among k; precision is the share "
        "of all k.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k), groups).amax(1).mean().item()
            )
        ),
        "You counted how many find nothing but their group; precision is the share of all k.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k), groups).amin(1).mean().item()
            )
        ),
        "That is the share of wrong neighbours; count those of the same group.": (
            lambda similarity, groups, k: 1 - _hits(_nearest(similarity, k), groups).mean().item()
        ),
        "That is the number of right neighbours per thing; divide by k.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k), groups).sum(1).mean().item()
            )
        ),
        "That is the number of all right neighbours; divide it by n · k, how many there are.": (
            lambda similarity, groups, k: _hits(_nearest(similarity, k), groups).sum().item()
        ),
        "You took topk along the columns, dim=0; the neighbours of a thing stand in its row.": (
            lambda similarity, groups, k: (
                _hits(
                    similarity.clone().fill_diagonal_(float("-inf")).topk(k, dim=0).indices.T,
                    groups,
                )
                .mean()
                .item()
            )
        ),
        "You took k + 1 neighbours and counted the thing itself among them.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k + 1, itself=True), groups).mean().item()
            )
        ),
        "You compared the neighbours' row numbers with groups; look up their groups first: "
        "groups[nearest].": (
            lambda similarity, groups, k: (
                (_nearest(similarity, k) == groups[:, None]).float().mean().item()
            )
        ),
        "The groups of the neighbours are a table (n, k), so one's own has to stand in a column "
        "beside it: groups[:, None].": (
            lambda similarity, groups, k: (
                (groups[_nearest(similarity, k)] == groups).float().mean().item()
            )
        ),
        "You skipped the thing itself and took k − 1 others: a slice 1:k ends before k.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k, itself=True)[:, 1:], groups).mean().item()
            )
        ),
        "You let the k neighbours vote for one group; precision counts each of them.": (
            lambda similarity, groups, k: (
                (groups[_nearest(similarity, k)].mode(1).values == groups).float().mean().item()
            )
        ),
        "You looked at the k-th neighbour alone; look at all up to the k-th.": (
            lambda similarity, groups, k: (
                _hits(_nearest(similarity, k)[:, -1:], groups).mean().item()
            )
        ),
        "You divided by how many of the group there are: that is recall; precision divides by k.": (
            lambda similarity, groups, k: (
                (
                    _hits(_nearest(similarity, k), groups).sum(1)
                    / ((groups[:, None] == groups).sum(1) - 1).clamp(min=1)
                )
                .mean()
                .item()
            )
        ),
    },
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


def _loss_of(change: Callable[[Tensor, float], Tensor]) -> Callable[[Tensor, float], Tensor]:
    def loss(cosines: Tensor, temperature: float) -> Tensor:
        scores = change(cosines, temperature)
        return F.cross_entropy(scores, torch.arange(len(scores)))

    return loss


def _others_alone(cosines: Tensor, temperature: float) -> Tensor:
    scores = cosines / temperature
    others = scores.clone().fill_diagonal_(float("-inf"))
    return (others.logsumexp(1) - scores.diagonal()).mean()


check_partner_loss = Exercise(
    solution=partner_loss,
    wants=number,
    probes=batches_of_cosines,
    solved="It is the loss of notebook 01 once more; the vocabulary is the rest of the batch.",
    direction="F.cross_entropy(cosines / temperature, torch.arange(len(cosines))).",
    mistakes={
        "The temperature makes no difference to your loss: divide the cosines by it.": _loss_of(
            lambda cosines, temperature: cosines
        ),
        "You multiplied by the temperature; divide by it, so that a small one sharpens.": _loss_of(
            lambda cosines, temperature: cosines * temperature
        ),
        "The partners are looked for in the columns; each row is to find its column.": _loss_of(
            lambda cosines, temperature: (cosines / temperature).T
        ),
        "You took the softmax twice: cross_entropy does it itself, and wants the plain scores, not "
        "probabilities.": _loss_of(lambda cosines, temperature: (cosines / temperature).softmax(1)),
        "Your loss is negative: a cost is −log P.": (
            lambda cosines, temperature: -partner_loss(cosines, temperature)
        ),
        "That is the sum over the batch; take the mean.": (
            lambda cosines, temperature: partner_loss(cosines, temperature) * len(cosines)
        ),
        "Right in bits; the loss is in nats.": (
            lambda cosines, temperature: (
                partner_loss(cosines, temperature) / torch.log(torch.tensor(2.0))
            )
        ),
        "Below the fraction line stand the others alone; the partner itself is one of the answers, "
        "too.": _others_alone,
        "That is the mean cosine with the partner; the others of the batch have to count: it is "
        "a softmax over the row.": lambda cosines, temperature: cosines.diagonal().mean(),
        "You drew partners nearer and pushed nobody away: without the others all vectors may "
        "become one.": lambda cosines, temperature: -cosines.diagonal().mean() / temperature,
        "Everybody is asked for the first column; the partner of row i is column i: "
        "torch.arange(n).": (
            lambda cosines, temperature: F.cross_entropy(
                cosines / temperature, torch.zeros(len(cosines), dtype=torch.int64)
            )
        ),
        "You took the largest cosine of a row for its partner; that is whom it finds, not whom "
        "it should.": (
            lambda cosines, temperature: F.cross_entropy(cosines / temperature, cosines.argmax(1))
        ),
        "That is the probability of the partner; its cost is −log of it.": (
            lambda cosines, temperature: (cosines / temperature).softmax(1).diagonal().mean()
        ),
        "You took the logarithm of the mean probability; take the mean of the logarithms.": (
            lambda cosines, temperature: -(cosines / temperature).softmax(1).diagonal().mean().log()
        ),
        "You asked in both directions and took the mean, as the package does in training; here "
        "each row alone is to find its column.": (
            lambda cosines, temperature: (
                (partner_loss(cosines, temperature) + partner_loss(cosines.T, temperature)) / 2
            )
        ),
        "You divided the loss by the temperature; divide the cosines by it, before the softmax.": (
            lambda cosines, temperature: partner_loss(cosines, 1.0) / temperature
        ),
        "You took the exponential before cross_entropy, which takes it itself; hand it the cosines "
        "over the temperature.": _loss_of(
            lambda cosines, temperature: (cosines / temperature).exp()
        ),
        "You divided by the temperature above the fraction line and not below it.": (
            lambda cosines, temperature: (
                cosines.logsumexp(1) - cosines.diagonal() / temperature
            ).mean()
        ),
        "You took the mean over the whole table; only the partners count, which stand on the "
        "diagonal.": (lambda cosines, temperature: -(cosines / temperature).log_softmax(1).mean()),
        "That is how often the partner is not found, 1 − P on average; its cost is −log P.": (
            lambda cosines, temperature: 1 - (cosines / temperature).softmax(1).diagonal().mean()
        ),
        "You asked of every pair by itself whether they are partners; here the row is one question "
        "with n answers: a softmax over it.": (
            lambda cosines, temperature: F.binary_cross_entropy_with_logits(
                cosines / temperature, torch.eye(len(cosines))
            )
        ),
        "The softmax runs over the whole table; it is over each row.": (
            lambda cosines, temperature: (
                -(cosines / temperature).flatten().log_softmax(0).view_as(cosines).diagonal().mean()
            )
        ),
    },
)
