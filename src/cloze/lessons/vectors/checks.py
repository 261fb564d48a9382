"""The exercises of notebook 12."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cloze.lessons.vectors.search import words_vectors
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import cosine, embed
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import Probes, Symptom, kind_of, number, tensor
from cloze.teaching.texts import two_lines
from cloze.tokenizer import plain_words
from cloze.vocabulary import VOCABULARY

# ── 12.1 ─────────────────────────────────────────────────────────────────────────────────────────


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Return the cosine of each vector of a ``(n, d)`` with each of b ``(m, d)``: ``(n, m)``."""
    a = a / a.norm(dim=1, keepdim=True)
    b = b / b.norm(dim=1, keepdim=True)
    return a @ b.T


def two_sets(chance: Chance) -> Probes:
    """Make vectors of several lengths and numbers."""
    for n, m, d in ((3, 2, 4), (2, 5, 3), (4, 4, 4), (1, 3, 2), (1, 1, 5)):
        a, b = (1 + 3 * torch.randn(k, d, generator=chance.torch) for k in (n, m))
        yield a, b


check_cosines = Exercise(
    solution=cosines,
    minutes=10,
    wants=tensor(torch.float32),
    probes=two_sets,
    solved="Only the direction of each vector is left; its length no longer counts.",
    direction="Divide each row by its length, .norm(dim=1, keepdim=True), then a @ b.T.",
)

# ── 12.2 ─────────────────────────────────────────────────────────────────────────────────────────


def precision(similarity: Tensor, groups: Tensor, k: int) -> float:
    """Return the share of the k nearest others that are of one's own group, on average."""
    others = similarity.clone()
    others.fill_diagonal_(float("-inf"))
    nearest = others.topk(k, dim=1).indices
    return float((groups[nearest] == groups[:, None]).float().mean())


def similar_things(chance: Chance) -> Probes:
    """Make similarities of things with themselves, and the group of each.

    They are below 0, as cosines may be, so a 0 on the diagonal does not keep a thing from itself.
    """
    for n, n_groups, k in (
        *((18, 2, 1), (19, 3, 2), (22, 3, 4), (17, 2, 3), (20, 4, 1), (5, 1, 4), (2, 2, 1)),
        *((61, 2, 5), (53, 3, 3)),  # among so many two different shares are hardly ever equal
    ):
        half = torch.rand(n, n, generator=chance.torch)
        groups = torch.randint(n_groups, (n,), generator=chance.torch)
        groups[:2] = 0
        near = half * (1 + (groups[:, None] == groups).float() / 8) / 2 - 1
        near.fill_diagonal_(1.0)
        yield near, groups, k


check_precision = Exercise(
    solution=precision,
    minutes=10,
    wants=number,
    probes=similar_things,
    solved="It only counts neighbours, so you can compare any two ways of searching with it.",
    direction="Put -inf on a copy's diagonal, take topk(k, dim=1).indices, compare the groups, and "
    "take the mean.",
    limits={
        "(You drop the nearest as the window itself. With products instead of cosines, another "
        "window may be nearer; the diagonal is always the window itself.)": (
            torch.tensor([[0.1, 0.9, 0.5], [0.9, 0.8, 0.4], [0.5, 0.4, 0.6]]),
            torch.tensor([0, 1, 0]),
            1,
        )
    },
)

# ── 12.3 ─────────────────────────────────────────────────────────────────────────────────────────

ENOUGH = 0.9
FORM = 'Hand in two lines with a comma between them: ("one line", "the other").'


def _judge_lines(answer: Any) -> str:
    one, other = lines = two_lines(answer, FORM)
    if both := set(one.split()) & set(other.split()):
        raise Symptom(f"Both lines have the word {min(both)!r}, so counting words would find them.")
    encoder = shipped_model().encoder
    near = cosines(*(embed(encoder, VOCABULARY.encode(line)[None]) for line in lines)).item()
    facts = f"Their cosine is {near:.3f}"
    if near >= ENOUGH:
        return f"{facts}."
    if (short := min(map(len, lines))) < 40:
        raise Symptom(
            f"{facts}, and at least {ENOUGH} is wanted. One of your lines has {short} characters: "
            "the mean of a short line still shows its own letters, so write longer ones."
        )
    shares = {c: [line.count(c) / len(line) for line in lines] for c in one + other}
    most = max(shares, key=lambda c: abs(shares[c][0] - shares[c][1]))
    raise Symptom(
        f"{facts}, and at least {ENOUGH} is wanted. Your lines differ most in {most!r}, which is "
        f"{shares[most][0]:.0%} of one and {shares[most][1]:.0%} of the other. What all lines have "
        "in common is the mixture of letters: make it more alike, in everyday words."
    )


check_unrelated = Exercise(
    minutes=12,
    solution=(
        "our teacher found it hard to explain how clouds are made",
        "we could see some lights far away across a wide dark river",
    ),
    solved="They have no word in common. What the vectors share is a mixture of letters, no topic.",
    judge=_judge_lines,
)

# ── 12.4 ─────────────────────────────────────────────────────────────────────────────────────────

ASKED, KNOWN = "the boat left the harbour", "a ship sailed out to sea"


def _judge_nearer(answer: Any) -> str:
    if not isinstance(answer, str):
        raise Symptom(f"You hand in {kind_of(answer)}. Hand in one line in quotes.")
    counted = [{*plain_words(line)} for line in (ASKED, answer)]
    if both := counted[0] & counted[1]:
        raise Symptom(
            f"Both lines have the word {min(both)!r}, so counting words would find yours."
        )
    vectors = words_vectors()([ASKED, KNOWN, answer])
    known, yours = cosine(vectors[:1], vectors[1:])[0].tolist()
    shown = f"{yours:.3f} for your line, {known:.3f} for {KNOWN!r}"
    if yours > known:
        return f"Cosines: {shown}."
    raise Symptom(
        f"Yours is not nearer: cosines {shown}. The vector is a mean over all pieces: does your "
        "line say the same, in about as many words, and is it built alike?"
    )


check_nearer = Exercise(
    solution="a ship and its crew sailed from shore",
    minutes=8,
    solved="To somebody who counts words, the two lines have nothing in common.",
    judge=_judge_nearer,
)
"""Mark a line that shares no word with ``ASKED`` and is nearer to it than ``KNOWN``."""
