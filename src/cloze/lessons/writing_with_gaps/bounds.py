"""What a text costs three models of English that were trained equally long on different questions.

``python -m cloze.lessons.writing_with_gaps.bounds`` trains a masked, a diffusion and a causal model
with a minute's recipe and three seeds each, and writes to bounds.json what held-out text costs
them: the bound of those that read both sides, the next characters of the one that reads the left.
Beside them stand the curves of the shipped models that read both sides (fourteen minutes on an idle
core in all). The file is written after each run, and a run that is in it is not done again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cloze.causal import log_probs
from cloze.corpus import Corpus
from cloze.generation import LINES_AT_ONCE
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.writing_with_gaps.diffusion import (
    DIFFUSION,
    DRAWS,
    curve,
    held_out_lines,
    line_bounds,
    shipped_diffusion,
)
from cloze.masking import MaskedBatch
from cloze.objectives import CAUSAL, MASKED, Objective
from cloze.prediction import shipped_model
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
ASKED = {objective.name: objective for objective in (MASKED, DIFFUSION, CAUSAL)}
RECIPE = replace(EVEN, evaluations=0)
SHIPPED: dict[str, Callable[[], MaskedLM]] = {
    "masked": shipped_model,
    "diffusion": shipped_diffusion,
}
"""The shipped models that read both sides."""


class Paid(NamedTuple):
    """What held-out text costs one model."""

    nats: float
    """Per character: a bound, or for a causal model the cost itself."""
    error: float
    """The standard error of that mean over windows; every model is asked about the same."""
    quarters: list[float]
    """The mean cost of a hidden character when up to a quarter, a half, three quarters, all of the
    characters are hidden: the bound is their mean. A causal model has none."""
    seconds: float
    """The time of one core that training took."""


@torch.no_grad()
def window_costs(model: MaskedLM, windows: Tensor) -> Tensor:
    """Return what windows ``(n, length)`` cost per character, once for each draw of gaps.

    Returns:
        Shape ``(n, DRAWS)``, each draw from another quarter of the numbers of gaps; ``(n, 1)`` for
        a causal model, for which nothing is drawn.
    """
    if isinstance(model, CausalLM):
        parts = [
            -log_probs(model, part).gather(2, part[..., None]).mean(dim=(1, 2))
            for part in torch.split(windows, LINES_AT_ONCE)
        ]
        return torch.cat(parts).double()[:, None]
    hidden = held_out_lines(windows, model.vocabulary)
    split = zip(*(torch.split(each, LINES_AT_ONCE) for each in hidden), strict=True)
    costs = [torch.div(*line_bounds(model, MaskedBatch(*part))) for part in split]
    return torch.cat(costs).double().view(-1, DRAWS)


def trained(objective: Objective, corpus: Corpus, recipe: Recipe) -> tuple[MaskedLM, float]:
    """Train a model of English, and return it with the seconds that one core took."""
    torch.manual_seed(recipe.seed)
    run = TrainingRun(objective.model(), corpus, recipe, objective)
    started = time.process_time()
    for _ in fit(run, progress=False):
        pass
    return run.model.eval(), time.process_time() - started


def judged(model: MaskedLM, windows: Tensor, seconds: float) -> Paid:
    """Ask a model what held-out windows ``(n, length)`` cost."""
    costs = window_costs(model, windows)
    each = costs.mean(dim=1)
    return Paid(
        round(each.mean().item(), 4),
        round(each.std().item() / len(each) ** 0.5, 4),
        [round(nats, 4) for nats in costs.mean(dim=0).tolist()] if costs.shape[1] > 1 else [],
        round(seconds, 1),
    )


def results() -> dict[str, dict[str, Paid]]:
    """Return what was measured, by seed and by what was asked in training."""
    return {
        seed: {name: Paid(**paid) for name, paid in runs.items()}
        for seed, runs in measurements.read(RESULTS)["runs"].items()
    }


def curves() -> dict[str, list[float]]:
    """Return what a hidden character costs the shipped models when 1, 2, … n are hidden."""
    found: dict[str, list[float]] = measurements.read(RESULTS)["curves"]
    return found


def main(
    path: Path = RESULTS,
    corpus: Corpus | None = None,
    recipe: Recipe = RECIPE,
    seeds: tuple[int, ...] = SEEDS,
) -> None:
    """Train and judge every model, and keep the results in ``path`` after each."""
    corpus = corpus or Corpus.load()
    windows = corpus.held_out_windows(recipe.length)
    made = measurements.made_by(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        steps=recipe.steps,
        windows=len(windows),
        draws=DRAWS,
    )

    def paid(seed: int, name: str) -> dict[str, Any]:
        model, seconds = trained(ASKED[name], corpus, replace(recipe, seed=seed))
        return judged(model, windows, seconds)._asdict()

    def shipped(name: str) -> list[float]:
        return [round(mean.nats, 4) for mean in curve(SHIPPED[name](), windows)]

    measurements.measure(path, made, "runs", product(seeds, ASKED), paid)
    measurements.measure(path, made, "curves", zip(SHIPPED), shipped)


if __name__ == "__main__":
    main()
