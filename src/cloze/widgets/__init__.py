"""Widgets that more than one lesson shows.

Each loads what it needs when it is first imported, so a quiz alone does not load torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cloze.widgets.curve import TrainingCurve
    from cloze.widgets.quiz import Quiz

__all__ = ["Quiz", "TrainingCurve"]

_HOMES = {"Quiz": "quiz", "TrainingCurve": "curve"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
