"""Does a model use what a probe can read? Remove it, or turn it into its opposite, and ask again.

Source: Elazar et al. 2021, Amnesic Probing (one direction of it); Belrose et al. 2023, LEACE: if
two classes have the same mean, no linear classifier tells them apart.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cloze.heads import MaskedLM, symbol_log_probs
from cloze.inside import Change, run
from cloze.masking import seeded
from cloze.tasks.vectors import LinearProbe
from cloze.world import World


def without(states: Tensor, direction: Tensor, mean: Tensor) -> Tensor:
    """Return states that all have the mean's component along a direction.

    Args:
        states: shape ``(n, d)``.
        direction: of any length but 0, shape ``(d,)``.
        mean: shape ``(d,)``, or one for each state, ``(n, d)``.
    """
    unit = direction / direction.norm()
    along = (states - mean) @ unit
    return states - along[:, None] * unit


class Removal(NamedTuple):
    """What can be read from a gap, and what is used there, with and without one direction."""

    probe: float
    """How often a linear probe is right, from the states as they are."""
    neighbour: float
    """How often the class of the nearest state of the other half is right, after the removal."""
    cost: float
    """What the true word costs, in nats."""
    removed: float
    """What it costs after the removal."""
    turned: int
    """How many answers become a word that only the other class has there, if each state gets the
    component of the other class's mean."""
    asked: int
    """How many answers there are."""


def removal(model: MaskedLM, sentences: Tensor, at: int, labels: Tensor) -> Removal:
    """Mask one word of all sentences, probe the gap after the last attention, and change it there.

    The direction goes from one class's mean to the other's. To remove it, each state gets the
    component half-way between them: then both classes have the same mean. Probe, means and nearest
    states come from one half of the sentences, and all that is measured from the other. Sentences
    that are the same once the word is masked are in the same half.

    Args:
        model: reads the sentences.
        sentences: ids, ``(n, length)``.
        at: the place of the word that is masked.
        labels: what is probed, boolean, ``(n,)``.
    """
    masked, layer = sentences.clone(), model.config.n_layers - 1
    masked[:, at] = model.vocabulary.mask_id
    inputs, which = torch.unique(masked, dim=0, return_inverse=True)
    learn = (torch.randperm(len(inputs), generator=seeded(0)) < len(inputs) // 2)[which]
    states = run(model, masked)["resid_mid", layer][:, at]
    no, yes = (states[learn & own].mean(dim=0) for own in (~labels, labels))

    def answers(new: Tensor) -> Tensor:
        change = Change("resid_mid", layer, new[:, None], at=[at])
        logits = run(model, masked, change)["logits"][:, at]
        return symbol_log_probs(logits, model.vocabulary)[~learn]

    def cost(log_probs: Tensor) -> float:
        return -log_probs.gather(1, sentences[~learn, at, None]).mean().item()

    def right(found: Tensor) -> float:
        return float((found == labels[~learn]).double().mean())

    removed = without(states, yes - no, (yes + no) / 2)
    turned = without(states, yes - no, torch.where(labels[:, None], no, yes))
    probe = LinearProbe(states[learn], labels[learn].long())
    distances = torch.cdist(removed[~learn].double(), removed[learn].double())
    used = torch.zeros(2, len(model.vocabulary), dtype=torch.bool)
    used[labels.long(), sentences[:, at]] = True  # by class, the words in this place
    turns = ~used[labels[~learn].long(), answers(turned).argmax(dim=1)]
    return Removal(
        probe=right(probe(states[~learn])),
        neighbour=right(labels[learn][distances.argmin(dim=1)]),
        cost=cost(answers(states)),
        removed=cost(answers(removed)),
        turned=int(turns.sum()),
        asked=len(turns),
    )


def weather(world: World) -> tuple[Tensor, Tensor, Tensor]:
    """Return the sentences about the weather, which of them are about a woman, and about rain."""
    ids, words = world.input_ids, world.vocabulary.ids
    chosen = ids[(ids == words["because"]).any(dim=1)]
    woman, rain = ((chosen == words[word]).any(dim=1) for word in ("her", "raining"))
    return chosen, woman, rain
