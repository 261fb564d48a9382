"""What notebook 15 needs beyond the others; without it, its cells do nothing."""

from __future__ import annotations

from cloze.handover.packages import need, quiet

__all__ = ["quiet", "ready"]


def ready() -> bool:
    """Return whether the packages are there; if not, say so and let all later cells do nothing."""
    try:
        need("This notebook", accelerate=1, tokenizers=0, transformers=5)
    except ValueError as error:
        from IPython import get_ipython

        print(
            f"{error}\nThey come with `python run.py lab --own`, too, or with pip by "
            '`pip install "cloze-notebooks[own]"`.\nUntil then the cells below do nothing.'
        )
        if shell := get_ipython():
            shell.input_transformers_cleanup.append(nothing)
        return False
    return True


def nothing(lines: list[str]) -> list[str]:  # noqa: ARG001 - a cell, which is left out
    """Replace a cell by nothing."""
    return []
