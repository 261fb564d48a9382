"""Which method fills gaps best, and how long it takes: left side, masked model, Bayes' rule.

``python -m cloze.lessons.one_side_or_both.filling`` trains a minute's recipe with both objectives,
asks these two models and the two that ship with the series about the same gaps in held-out windows,
and writes their costs to filling.json (about half an hour on an idle core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cloze.causal import log_posterior, shipped_causal
from cloze.corpus import Corpus
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import seeded
from cloze.objectives import CAUSAL, MASKED, Objective
from cloze.prediction import mask_positions, predict, shipped_model
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
        found = predict(model, line, gaps)
        best = found.probabilities.argmax(dim=1)
        return found.costs.sum().item(), torch.equal(best, line[gaps])

    return answer


def in_turn(model: MaskedLM) -> Way:
    """Answer the gaps from left to right, looking again with each one closed."""

    def answer(line: Tensor, gaps: list[int]) -> tuple[float, bool]:
        cost, filled = 0.0, line
        for k, gap in enumerate(gaps):
            cost += predict(model, line, gaps[k:]).costs[0].item()
            best = predict(model, mask_positions(filled, gaps[k:]), []).probabilities[0].argmax()
            filled = filled.clone()
            filled[gap] = best
        return cost, torch.equal(filled, line)

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
    more: float
    """How much more than Bayes' rule it pays for the same line, on average."""
    more_error: float
    """The standard error of that mean difference."""


def ask(way: Way, asked: list[Question]) -> tuple[Tensor, float, float]:
    """Ask about every line; return each cost, the share filled correctly, milliseconds per line."""
    started = time.process_time()
    answers = [way(line, gaps) for line, gaps in asked]
    seconds = time.process_time() - started
    costs = torch.tensor([cost for cost, _ in answers], dtype=torch.float64)
    right = sum(right for _, right in answers) / len(answers)
    return costs, right, 1000 * seconds / len(answers)


def mean_and_error(costs: Tensor) -> tuple[float, float]:
    """Return a mean over lines and its standard error."""
    return round(costs.mean().item(), 4), round(costs.std().item() / len(costs) ** 0.5, 4)


def compare(ways: Mapping[str, Way], asked: list[Question]) -> dict[str, Paid]:
    """Ask about the same lines in every way, Bayes' rule among them."""
    answers = {name: ask(way, asked) for name, way in ways.items()}
    bayes = answers["causal, Bayes"][0]
    return {
        name: Paid(
            *mean_and_error(costs),
            round(right, 4),
            round(milliseconds, 2),
            *mean_and_error(costs - bayes),
        )
        for name, (costs, right, milliseconds) in answers.items()
    }


def ways(masked: MaskedLM, causal: CausalLM, gaps: int) -> dict[str, Way]:
    """Return every way to answer, by name."""
    found = {"left side": from_the_left(causal), "masked": at_once(masked)}
    if gaps > 1:
        found["masked, in turn"] = in_turn(masked)
    return {**found, "causal, Bayes": by_bayes(causal)}


Curve = list[tuple[int, int, float]]
"""Characters read, questions answered, and what a single gap then costs in nats."""


def train(
    objective: Objective, recipe: Recipe, corpus: Corpus, asked: list[Question]
) -> tuple[MaskedLM, Curve]:
    """Train the default model and ask about single gaps whenever its loss is measured."""
    torch.manual_seed(recipe.seed)
    run = TrainingRun(objective.model(), corpus, recipe, objective)
    curve, questions_asked = [], 0
    share = recipe.mask_prob if objective is MASKED else 1.0
    for record in fit(run):
        questions_asked = round(share * record.characters)
        if record.held_out is not None:
            model = run.model.eval()
            way = by_bayes(model) if isinstance(model, CausalLM) else at_once(model)
            nats, _ = mean_and_error(ask(way, asked)[0])
            curve.append((record.characters, questions_asked, nats))
            model.train()
    return run.model.eval().requires_grad_(False), curve


def results() -> dict[str, Any]:
    """Return what was measured: "curves" by objective, "filling" by budget, gaps and way."""
    return measurements.read(RESULTS)


def main(path: Path = RESULTS, recipe: Recipe = EVEN, lines: Mapping[int, int] = LINES) -> None:
    """Train, ask, and write the costs, with everything needed to repeat the measurement."""
    corpus = Corpus.load()
    windows = corpus.held_out_windows()
    asked = {gaps: questions(windows, gaps, n) for gaps, n in lines.items()}
    some = questions(windows, 1, min(CURVE_LINES, lines[1]))

    @cache
    def trained(name: str) -> tuple[MaskedLM, Curve]:
        return train({"masked": MASKED, "causal": CAUSAL}[name], recipe, corpus, some)

    def paid(budget: str, gaps: int) -> dict[str, Any]:
        reads_both: MaskedLM = shipped_model()
        reads_left: MaskedLM = shipped_causal()
        if budget == "one minute":
            reads_both, reads_left = (trained(name)[0] for name in ("masked", "causal"))
        assert isinstance(reads_left, CausalLM)
        answers = compare(ways(reads_both, reads_left, gaps), asked[gaps])
        return {name: vars(each) for name, each in answers.items()}

    made = measurements.made_by(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        steps=recipe.steps,
        seed=recipe.seed,
        symbols=VOCABULARY.n_ordinary,
        lines={str(gaps): n for gaps, n in lines.items()},
    )
    curves = [("masked",), ("causal",)]
    measurements.measure(path, made, "curves", curves, lambda name: trained(name)[1])
    fillings = product(("one minute", "as shipped"), asked)
    measurements.measure(path, made, "filling", fillings, paid)


if __name__ == "__main__":
    main()
