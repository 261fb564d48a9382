"""What the command ``measured.your_own_text.comparison`` measured, as notebook 15 shows it."""

from __future__ import annotations

from statistics import fmean

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results


def costs() -> dict[str, dict[str, Repeated]]:
    """Return nats per character of both held-out texts, by way of training."""
    return {
        way: {
            name: Repeated.of(run[name] for run in by_seed.values())
            for name in ("your text", "general text")
        }
        for way, by_seed in load_results("your_own_text", "comparison")["runs"].items()
    }


def as_printed() -> dict[str, list[list[float]]]:
    """Return costs before and after training on today's spelling, change and margin, by seed."""
    first, *more = load_results("your_own_text", "comparison")["today's spelling"].values()
    return {name: [run[name] for run in (first, *more)] for name in first}


def swaps_found() -> dict[str, list[float]]:
    """Return the shares of swapped copies that cost more, by way: for each draw the mean of seeds.

    The last are the untrained model's in today's spelling.
    """
    file, shares = load_results("your_own_text", "comparison"), {}
    for way in ("as it was", "general text alone", "letters alone"):
        by_draw = zip(*(run["told"] for run in file["runs"][way].values()), strict=True)
        shares[way] = [fmean(of_seeds) for of_seeds in by_draw]
    return shares | {"as it was, today's spelling": file["told in today's spelling"]}
