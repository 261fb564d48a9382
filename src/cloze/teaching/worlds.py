"""Reads a small world that a learner has written."""

from __future__ import annotations

from typing import Any

from cloze.teaching.results import Symptom, is_number, kind_of
from cloze.world import World


def world(value: Any) -> World:
    """Read a world: a dictionary of sentences with their probabilities."""
    if not isinstance(value, dict):
        raise Symptom(
            f"You hand in {kind_of(value)}; a world is a dictionary of sentences with their "
            'probabilities, {"the dog barks": 0.5, …}.'
        )
    for sentence, p in value.items():
        if not isinstance(sentence, str) or not is_number(p) or not 0 <= p <= 1:
            raise Symptom(
                f"{sentence!r}: {p!r} should be a sentence in quotes and a probability from 0 to 1."
            )
    return World({sentence: float(p) for sentence, p in value.items()})
