"""What the commands in ``measured/put_to_use`` measured, as notebook 11 shows it."""

from __future__ import annotations

from cloze.evaluation import Repeated
from cloze.teaching.measurements import load_results

START = ("pretrained", "frozen", "from scratch")
"""The encoder: pretrained and trained further, pretrained and left alone, or new."""


def scores(task: str, score: str = "right") -> dict[str, dict[int, Repeated]]:
    """Return scores by what the encoder knew before and by number of labels."""
    measured: dict[str, dict[int, Repeated]] = {}
    for start, by_labels in load_results("put_to_use", "comparison")["runs"][task].items():
        for n in sorted(map(int, by_labels)):
            [by_seed] = by_labels[str(n)].values()
            if values := [run[score] for run in by_seed.values() if score in run]:
                measured.setdefault(start, {})[n] = Repeated.of(values)
    return measured


def at_step_sizes(score: str) -> dict[str, Repeated]:
    """Return the scores of ten draws by step size, from 64 labelled sentences."""
    by_rate = load_results("put_to_use", "comparison")["step sizes"]["sentiment"]["pretrained"][
        "64"
    ]
    return {
        rate: Repeated.of(run[score] for run in by_seed.values())
        for rate, by_seed in by_rate.items()
    }


def without_masks() -> dict[str, dict[int, list[float]]]:
    """Return each pretraining seed's share right, by masking rule and number of labels."""
    return {
        rule: {int(n): [shares[n] for shares in by_seed.values()] for n in by_seed["0"]}
        for rule, by_seed in load_results("put_to_use", "without_masks")["runs"].items()
    }


def frozen(task: str) -> dict[str, dict[int, Repeated]]:
    """Return what linear classifiers of frozen vectors score, by reader and number of labels."""
    return {
        reader: {int(n): Repeated.of(by_seed.values()) for n, by_seed in by_labels.items()}
        for reader, by_labels in load_results("put_to_use", "words")[task].items()
    }


def frozen_gain(task: str, n: int, one: str = "words", other: str = "letters") -> Repeated:
    """Return by how much one reader is better than another with n labels, draw by draw."""
    scores = load_results("put_to_use", "words")[task]
    pairs = zip(*(scores[reader][str(n)].values() for reader in (one, other)), strict=True)
    return Repeated.of(a - b for a, b in pairs)
