"""Does a model use what a probe can read? Remove it, and see what the truth costs then.

Source: Elazar et al. 2021, Amnesic Probing (one direction of it).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cloze.heads import MaskedLM, symbol_log_probs
from cloze.inside import Change, Parts, run
from cloze.masking import seeded
from cloze.tasks.vectors import LinearProbe
from cloze.world import World


def without(states: Tensor, direction: Tensor, mean: Tensor) -> Tensor:
    """Return states that all have the mean's component along a direction.

    Args:
        states: shape ``(n, d)``.
        direction: of any length but 0, shape ``(d,)``.
        mean: shape ``(d,)``.
    """
    unit = direction / direction.norm()
    along = (states - mean) @ unit
    return states - along[:, None] * unit


def removal(
    model: MaskedLM, sentences: Tensor, at: int, labels: Tensor
) -> tuple[float, float, float, float, float]:
    """Mask one word of all sentences, probe the gap after the last attention, and remove.

    The probes, the direction and the mean come from half of the sentences; all that is measured
    comes from the others.

    Args:
        model: reads the sentences.
        sentences: ids, ``(n, length)``.
        at: the place of the word that is masked.
        labels: what is probed, boolean, ``(n,)``.

    Returns:
        How often the probe is right, and how often another one that has learned from states without
        the direction between the means of the two classes. Then what the true word costs, in nats:
        as it is, without that direction, and if each state moves as far in a random direction.
    """
    learn = torch.rand(len(sentences), generator=seeded(0)) < 0.5
    masked, layer = sentences.clone(), model.config.n_layers - 1
    masked[:, at] = model.vocabulary.mask_id

    def cost(parts: Parts) -> float:
        log_probs = symbol_log_probs(parts["logits"][:, at], model.vocabulary)
        return -log_probs.gather(1, sentences[:, at, None])[~learn].mean().item()

    def cost_with(other: Tensor) -> float:
        new = parts["resid_mid", layer].clone()
        new[:, at] = other
        return cost(run(model, masked, Change("resid_mid", layer, new, at=[at])))

    def probed(states: Tensor) -> float:
        probe = LinearProbe(states[learn], labels[learn].long())
        return float((probe(states[~learn]) == labels[~learn]).double().mean())

    parts = run(model, masked)
    states = parts["resid_mid", layer][:, at]
    mean = states[learn].mean(dim=0)
    between = states[learn & labels].mean(dim=0) - states[learn & ~labels].mean(dim=0)
    removed = without(states, between, mean)
    far = (states - mean) @ (between / between.norm())
    any_other = torch.randn(len(between), generator=seeded(1))
    moved = states - far[:, None] * (any_other / any_other.norm())
    nats = cost(parts), cost_with(removed), cost_with(moved)
    return probed(states), probed(removed), *nats


def weather(world: World) -> tuple[Tensor, Tensor, Tensor]:
    """Return the sentences about the weather, which of them are about a woman, and about rain."""
    ids, words = world.input_ids, world.vocabulary.ids
    chosen = ids[(ids == words["because"]).any(dim=1)]
    woman, rain = ((chosen == words[word]).any(dim=1) for word in ("her", "raining"))
    return chosen, woman, rain
