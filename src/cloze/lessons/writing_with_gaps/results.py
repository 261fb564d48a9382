"""What the commands in ``measured/writing_with_gaps`` measured, as notebook 10 shows it."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any


def over_seeds(runs: Mapping[str, Any]) -> Any:
    """Return the means over seeds of results, in their own shape; None stays None."""
    first, *_ = values = [*runs.values()]
    if isinstance(first, Mapping):
        return {key: over_seeds({seed: run[key] for seed, run in runs.items()}) for key in first}
    return None if first is None else fmean(values)
