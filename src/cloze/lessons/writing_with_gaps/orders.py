"""Two neighbouring gaps filled in two orders, and where Gibbs sampling of the two ends.

``python -m cloze.lessons.writing_with_gaps.orders`` hides the two characters in the middle of every
held-out window, lets the shipped models fill them in both orders, and writes to orders.json how far
the two joint distributions lie apart and what they cost (a minute and a half on an idle core).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import Model
from cloze.lessons.writing_with_gaps.bounds import SHIPPED
from cloze.prediction import joint
from cloze.teaching import measurements

RESULTS = Path(__file__).with_suffix(".json")


class Apart(NamedTuple):
    """How far two orders lie apart at gaps a and b, and what the true pair costs.

    Distances are total variations: the most by which the probabilities of any statement about the
    two symbols differ, between 0 and 1. Costs are in nats.
    """

    written: float
    """P(a) P(b | a) against P(b) P(a | b)."""
    gibbs: float
    """What Gibbs sampling converges to, looked at after b was drawn and after a was drawn."""
    a_first: float
    """The cost of the pair when a is written first."""
    b_first: float
    """The cost of the pair when b is written first."""
    both: float
    """The cost of the pair by the mean of the two joint distributions."""


class Summary(NamedTuple):
    """One of these numbers over many pairs."""

    mean: float
    error: float
    """The standard error of the mean over pairs."""
    most: float


def gibbs(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Return the joint distributions that Gibbs sampling of two symbols a and b converges to.

    Drawing a and b by turns is a Markov chain. It has one distribution after each draw of b and one
    after each draw of a. They are the same if the conditionals belong to a joint distribution.

    Args:
        first: P(a | b), ``(n_b, n_a)``, a row for each b; all positive.
        second: P(b | a), ``(n_a, n_b)``, a row for each a; all positive.

    Returns:
        Both ``(n_a, n_b)``: after b was drawn, and after a was drawn.

    Source: Heckerman et al. 2000, Dependency Networks (the ordered pseudo-Gibbs sampler).
    """
    first, second = first.double(), second.double()
    turn = second @ first  # from one a over some b to the next a
    n = len(turn)
    # P(a) is what a turn does not change, and it sums to 1.
    system = torch.cat([turn.T - torch.eye(n), torch.ones(1, n)])
    wanted = torch.tensor([0.0] * n + [1.0], dtype=torch.float64)
    a = torch.linalg.lstsq(system, wanted[:, None]).solution[:, 0]
    return a[:, None] * second, (a @ second) * first.T


def total_variation(p: Tensor, q: Tensor) -> float:
    """Return half the sum of what two distributions of the same shape differ by."""
    return float((p - q).abs().sum()) / 2


def apart(model: Model, line: Tensor, first: int, second: int) -> Apart:
    """Fill two gaps of a line ``(length,)`` in both orders.

    Args:
        model: any model.
        line: the ids as they are in truth.
        first: the position of a.
        second: the position of b.
    """
    a_first = joint(model, line, first, second).double()
    b_first = joint(model, line, second, first).double().T  # row a, column b, like the other
    given_a = a_first / a_first.sum(1, keepdim=True)
    given_b = b_first / b_first.sum(0, keepdim=True)
    true = tuple(line[[first, second]].tolist())
    joints = a_first, b_first, (a_first + b_first) / 2
    return Apart(
        total_variation(a_first, b_first),
        total_variation(*gibbs(given_b.T, given_a)),
        *(-float(joint[true].log()) for joint in joints),
    )


def summaries(found: list[Apart]) -> dict[str, Summary]:
    """Return of each number its mean, the standard error of that mean, and the highest."""
    table = torch.tensor(found, dtype=torch.float64)
    error = table.std(0) / len(table) ** 0.5
    rows = torch.stack([table.mean(0), error, table.amax(0)], dim=1).tolist()
    return {
        name: Summary(*(round(value, 4) for value in row))
        for name, row in zip(Apart._fields, rows, strict=True)
    }


def results() -> dict[str, dict[str, Summary]]:
    """Return what was measured, by model."""
    return {
        model: {name: Summary(**summary) for name, summary in found.items()}
        for model, found in measurements.read(RESULTS)["models"].items()
    }


def main(path: Path = RESULTS, corpus: Corpus | None = None) -> None:
    """Ask both shipped models about the middle of every held-out window."""
    corpus = corpus or Corpus.load()
    windows = corpus.held_out_windows()
    b = windows.shape[1] // 2
    made = measurements.made_by(
        __spec__.name, corpus_sha256=corpus.sha256, pairs=len(windows), positions=[b - 1, b]
    )

    def found(name: str) -> dict[str, Any]:
        model = SHIPPED[name]()
        pairs = [apart(model, window, b - 1, b) for window in windows]
        return {name: summary._asdict() for name, summary in summaries(pairs).items()}

    measurements.measure(path, made, "models", zip(SHIPPED), found)


if __name__ == "__main__":
    main()
