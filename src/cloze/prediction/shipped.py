"""The models that ship with the series, each loaded once."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, overload

from cloze.checkpoint import CHECKPOINTS, load_model
from cloze.encoder import DIRECTIONS
from cloze.heads import CausalLM, MaskedLM


@overload
def shipped_model(name: Literal["causal", "world_causal"]) -> CausalLM: ...


@overload
def shipped_model(name: str = "both") -> MaskedLM: ...


def shipped_model(name: str = "both") -> MaskedLM:
    """Load a model that ships with the series, once.

    Args:
        name: "both" (or "masked") for the encoder; "left" and "right" for its one-sided twins. All
            three have the same size and saw the same text with the same gaps for as many steps; a
            twin's attention reaches only its own position and what is on its side. "world",
            "world_left" and "world_right" are those of the small world, "causal" and
            "world_causal" the causal models, "words" the encoder that reads pieces of words, and
            others are named after their files in ``data/checkpoints``.

    Raises:
        CheckpointError: there is no such model.
    """
    return _load({"both": "masked", "world_both": "world"}.get(name, name))


@lru_cache
def _load(name: str) -> MaskedLM:
    return load_model(CHECKPOINTS / f"{name}.safetensors")


def shipped_models() -> dict[str, MaskedLM]:
    """Load the shipped encoder and its twins: ``{"left": …, "right": …, "both": …}``."""
    return {direction: shipped_model(direction) for direction in DIRECTIONS}
