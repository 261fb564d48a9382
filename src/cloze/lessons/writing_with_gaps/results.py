"""What the commands in ``measured/writing_with_gaps`` measured, as notebook 10 shows it."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results


def repeating() -> dict[str, dict[int, Repeated]]:
    """Return held-out nats per character, by training and epochs."""
    results = load_results("writing_with_gaps", "repeating")
    runs = results["runs"].values()
    return {
        name: {
            epoch: Repeated.of(curves[name][i] for curves in runs)
            for i, epoch in enumerate(results["epochs"])
        }
        for name in results["runs"]["0"]
    }


def over_seeds(runs: Mapping[str, Any]) -> Any:
    """Return the means over seeds of results, in their own shape; None stays None."""
    first, *_ = values = [*runs.values()]
    if isinstance(first, Mapping):
        return {key: over_seeds({seed: run[key] for seed, run in runs.items()}) for key in first}
    return None if first is None else fmean(values)
