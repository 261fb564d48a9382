"""Which method fills gaps best, and how long it takes: left side, masked model, Bayes' rule.

``python -m cloze.lessons.one_side_or_both.filling`` asks the two models that ship with the series
about the same gaps in held-out windows, follows two more through a minute's training, and writes
their costs to filling.json (about 20 minutes on an idle core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import seeded
from cloze.objectives import CAUSAL, MASKED, Objective
from cloze.prediction.answers import predict
from cloze.prediction.causal import log_posterior
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit
from cloze.vocabulary import VOCABULARY

RESULTS = Path(__file__).with_suffix(".json")
LINES = {1: 1195, 2: 100, 3: 30}
"""How many windows are asked about, by the number of neighbouring gaps in each."""
LENGTHS = {1: 64, 2: 64, 3: 32}
"""How long the lines are. Three gaps take long, so they are asked about in half a window."""
CURVE_LINES = 200
"""How many windows with one gap are asked about while a model trains."""

Question = tuple[Tensor, list[int]]
"""The true line ``(length,)``, and neighbouring positions of it that are hidden."""
Way = Callable[[Tensor, list[int]], tuple[float, bool]]
"""From a question to the cost of the true filling in nats, all gaps together, and whether the
likeliest filling is the true one."""


def questions(windows: Tensor, gaps: int, lines: int) -> list[Question]:
    """Spread so many lines over held-out windows ``(n, length)`` and draw a place in each."""
    length = LENGTHS[gaps]
    chosen = windows[torch.linspace(0, len(windows) - 1, lines).long(), :length]
    starts = torch.randint(length - gaps + 1, (lines,), generator=seeded(gaps))
    return [
        (line, list(range(start, start + gaps)))
        for line, start in zip(chosen, starts.tolist(), strict=True)
    ]


def from_the_left(model: CausalLM) -> Way:
    """Answer only from what is to the left of the gaps."""
    bayes = by_bayes(model)
    return lambda line, gaps: bayes(line[: gaps[-1] + 1], gaps)


def by_bayes(model: CausalLM) -> Way:
    """Score the line with each filling."""

    def answer(line: Tensor, gaps: list[int]) -> tuple[float, bool]:
        posterior = log_posterior(model, line, gaps)
        paid = posterior[tuple(line[gaps])]
        return -paid.item(), bool(paid == posterior.max())

    return answer


def at_once(model: MaskedLM) -> Way:
    """Answer all gaps in one look, each without knowing what is in the others."""

    def answer(line: Tensor, gaps: list[int]) -> tuple[float, bool]:
        measured = predict(model, line, gaps)
        best = measured.probabilities.argmax(dim=1)
        return measured.costs.sum().item(), torch.equal(best, line[gaps])

    return answer


@dataclass(frozen=True)
class Paid:
    """The costs of one way of answering, over many lines."""

    nats: float
    """The mean cost of the true filling of a line, all its gaps together."""
    error: float
    """The standard error of that mean."""
    right: float
    """The share of lines filled correctly."""
    milliseconds: float
    """Processor time per line."""


def ask(way: Way, asked: list[Question]) -> Paid:
    """Ask about every line in one way."""
    started = time.process_time()
    answers = [way(line, gaps) for line, gaps in asked]
    seconds = time.process_time() - started
    costs = torch.tensor([cost for cost, _ in answers], dtype=torch.float64)
    return Paid(
        nats=round(costs.mean().item(), 4),
        error=round(costs.std().item() / len(costs) ** 0.5, 4),
        right=round(sum(right for _, right in answers) / len(answers), 4),
        milliseconds=round(1000 * seconds / len(answers), 2),
    )


def ways(masked: MaskedLM, causal: CausalLM) -> dict[str, Way]:
    """Return every way to answer, by name."""
    return {
        "left side": from_the_left(causal),
        "masked": at_once(masked),
        "causal, Bayes": by_bayes(causal),
    }


Curve = list[tuple[int, float]]
"""Characters read, and what a single gap then costs in nats."""


def learning(objective: Objective, recipe: Recipe, corpus: Corpus, asked: list[Question]) -> Curve:
    """Train the default model and ask about single gaps whenever its loss is measured."""
    torch.manual_seed(recipe.seed)
    run = TrainingRun(objective.model(), corpus, recipe, objective)
    curve = []
    for record in fit(run):
        if record.held_out is not None:
            model = run.model.eval()
            way = by_bayes(model) if isinstance(model, CausalLM) else at_once(model)
            curve.append((record.characters, ask(way, asked).nats))
            model.train()
    return curve


def results() -> dict[str, Any]:
    """Return what was measured: "curves" by objective, "filling" by gaps and way."""
    return measurements.read(RESULTS)


def main(path: Path = RESULTS, recipe: Recipe = EVEN, lines: Mapping[int, int] = LINES) -> None:
    """Train, ask, and write the costs, with everything needed to repeat the measurement."""
    corpus = Corpus.load()
    windows = corpus.held_out_windows()
    asked = {gaps: questions(windows, gaps, n) for gaps, n in lines.items()}
    some = questions(windows, 1, min(CURVE_LINES, lines[1]))

    def paid(gaps: int) -> dict[str, Any]:
        measured = ways(shipped_model(), shipped_model("causal"))
        return {name: vars(ask(way, asked[gaps])) for name, way in measured.items()}

    def curve(name: str) -> Curve:
        return learning({"masked": MASKED, "causal": CAUSAL}[name], recipe, corpus, some)

    made = measurements.made_by(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        steps=recipe.steps,
        seed=recipe.seed,
        symbols=VOCABULARY.n_ordinary,
        lines={str(gaps): n for gaps, n in lines.items()},
    )
    measurements.measure(path, made, "curves", [("masked",), ("causal",)], curve)
    measurements.measure(path, made, "filling", zip(asked, strict=True), paid)


if __name__ == "__main__":
    main()
