"""The models that ship with the series, each loaded once."""

from __future__ import annotations

from cloze.border import checked
from cloze.checkpoint import shipped
from cloze.encoder import DIRECTIONS, Direction
from cloze.heads import MaskedLM


@checked
def shipped_model(direction: Direction = "both") -> MaskedLM:
    """Load a model that ships with the series, once.

    Args:
        direction: "both" for the encoder; "left" and "right" for its one-sided twins. All three
            have the same size and saw the same text with the same gaps for as many steps; a twin's
            attention reaches only its own position and what is on its side.
    """
    return shipped("masked" if direction == "both" else direction)


@checked
def shipped_world_model(direction: Direction = "both") -> MaskedLM:
    """Load a model of the small world that ships with the series, once: the encoder or a twin."""
    return shipped("world" if direction == "both" else f"world_{direction}")


def shipped_models() -> dict[str, MaskedLM]:
    """Load the shipped encoder and its twins: ``{"left": …, "right": …, "both": …}``."""
    return {direction: shipped_model(direction) for direction in DIRECTIONS}
