"""What the command ``measured.your_own_text.comparison`` measured, as notebook 15 shows it."""

from __future__ import annotations

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


def swaps_found(way: str) -> list[float]:
    """Return the shares of swapped copies that cost more: for each draw the mean over seeds."""
    by_seed = load_results("your_own_text", "comparison")["runs"][way].values()
    by_draw = zip(*(run["told"] for run in by_seed), strict=True)
    return [sum(shares) / len(shares) for shares in by_draw]
