"""What ``measured.the_real_ones.hidden_shares`` measured, as notebook 13 shows it."""

from __future__ import annotations

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results


def hidden_shares() -> dict[str, dict[str, Repeated]]:
    """Return the nats per patch above the floor, by share hidden in training and question."""
    return {
        trained: {
            asked: Repeated.of(run[asked] for run in by_seed.values()) for asked in by_seed["0"]
        }
        for trained, by_seed in load_results("the_real_ones", "hidden_shares")["runs"].items()
    }
