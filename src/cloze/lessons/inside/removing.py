"""Removing a direction from states: what a probe could read along it is gone."""

from __future__ import annotations

from torch import Tensor


def without(states: Tensor, direction: Tensor, mean: Tensor) -> Tensor:
    """Return states that all have the mean's component along a direction.

    Args:
        states: shape ``(n, d)``.
        direction: of any length but 0, shape ``(d,)``.
        mean: shape ``(d,)``.

    Source: Elazar et al. 2021, Amnesic Probing (one direction of it).
    """
    unit = direction / direction.norm()
    along = (states - mean) @ unit
    return states - along[:, None] * unit
