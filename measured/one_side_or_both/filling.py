"""Which method fills gaps best, and how long it takes: left side, masked model, Bayes' rule.

``python -m measured.one_side_or_both.filling`` asks the two models that ship with the series about
the same gaps in held-out windows, and follows two more through a minute's training (about 20
minutes on an idle core).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import seeded
from cloze.objectives import CAUSAL, MASKED
from cloze.prediction.answers import predict
from cloze.prediction.causal import log_posterior
from cloze.prediction.shipped import shipped_model
from cloze.training import EVEN, fit
from cloze.vocabulary import VOCABULARY
from measured.shared import ResultsFile, begun

LINES = {1: 1195, 2: 100, 3: 30}
"""The number of windows, by the number of neighbouring gaps in each."""
LENGTHS = {1: 64, 2: 64, 3: 32}
"""Their lengths. Three gaps take long, so these windows are halved."""
CURVE_LINES = 200
"""The number of windows with one gap that follow a training."""

Question = tuple[Tensor, list[int]]
"""The true line ``(length,)``, and neighbouring positions of it that are hidden."""
Way = Callable[[Tensor, list[int]], tuple[float, bool]]
"""From a question to the cost of the true filling in nats, all gaps together, and whether the
likeliest filling is the true one."""


def questions(windows: Tensor, gaps: int, lines: int) -> list[Question]:
    """Spread ``lines`` evenly over held-out windows ``(n, length)`` and draw a place in each."""
    length = LENGTHS[gaps]
    chosen = windows[torch.linspace(0, len(windows) - 1, lines).long(), :length]
    starts = torch.randint(length - gaps + 1, (lines,), generator=seeded(gaps))
    return [
        (line, list(range(start, start + gaps)))
        for line, start in zip(chosen, starts.tolist(), strict=True)
    ]


def by_bayes(model: CausalLM) -> Way:
    """Score the line with each filling."""

    def answer(line: Tensor, gaps: list[int]) -> tuple[float, bool]:
        posterior = log_posterior(model, line, gaps)
        paid = posterior[tuple(line[gaps])]
        return -paid.item(), bool(paid == posterior.max())

    return answer


def at_once(model: MaskedLM) -> Way:
    """Fill all gaps in one pass, each without knowing what is in the others."""

    def answer(line: Tensor, gaps: list[int]) -> tuple[float, bool]:
        measured = predict(model, line, gaps)
        best = measured.probabilities.argmax(dim=1)
        return measured.costs.sum().item(), torch.equal(best, line[gaps])

    return answer


def ask(way: Way, asked: list[Question]) -> dict[str, float]:
    """Fill the gaps of every line in one way.

    Returns:
        "nats", the mean cost of the true filling of a line, all its gaps together, and "error", its
        standard error; "right", the share of lines filled correctly; "milliseconds", processor time
        per line.
    """
    started = time.process_time()
    answers = [way(line, gaps) for line, gaps in asked]
    seconds = time.process_time() - started
    costs = torch.tensor([cost for cost, _ in answers], dtype=torch.float64)
    return {
        "nats": round(costs.mean().item(), 4),
        "error": round(costs.std().item() / len(costs) ** 0.5, 4),
        "right": round(sum(right for _, right in answers) / len(answers), 4),
        "milliseconds": round(1000 * seconds / len(answers), 2),
    }


def ways(masked: MaskedLM, causal: CausalLM) -> dict[str, Way]:
    bayes = by_bayes(causal)
    return {
        "left side": lambda line, gaps: bayes(line[: gaps[-1] + 1], gaps),
        "masked": at_once(masked),
        "causal, Bayes": bayes,
    }


def main() -> None:
    corpus = Corpus.load()
    windows = corpus.held_out_windows()

    def curve(name: str) -> list[tuple[int, float]]:
        """Return the number of characters read, and the cost of a single gap in nats."""
        single_gaps = questions(windows, 1, CURVE_LINES)
        run, points = begun(corpus, EVEN, {"masked": MASKED, "causal": CAUSAL}[name]), []
        for record in fit(run):
            if record.held_out is not None:
                model = run.model.eval()
                way = by_bayes(model) if isinstance(model, CausalLM) else at_once(model)
                points.append((record.characters, ask(way, single_gaps)["nats"]))
                model.train()
        return points

    def paid(gaps: int) -> dict[str, Any]:
        asked = questions(windows, gaps, LINES[gaps])
        measured = ways(shipped_model(), shipped_model("causal"))
        return {name: ask(way, asked) for name, way in measured.items()}

    measurements = ResultsFile(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        steps=EVEN.steps,
        seed=EVEN.seed,
        symbols=VOCABULARY.n_ordinary,
        lines=LINES,
    )
    measurements.measure("curves", curve, ["masked", "causal"])
    measurements.measure("filling", paid, LINES)


if __name__ == "__main__":
    main()
