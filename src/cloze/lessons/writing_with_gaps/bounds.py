"""What a text costs three models of English that were trained equally long on different questions.

``python -m cloze.lessons.writing_with_gaps.bounds`` trains a masked, a diffusion and a causal model
with a minute's recipe and three seeds each, and writes to bounds.json what held-out text costs
them: the bound of those that read both sides, the next characters of the one that reads the left.
Beside them stand the curves of the shipped models that read both sides (fourteen minutes on an idle
core in all). The file is written after each run, and a run that is in it is not done again.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from cloze.corpus import Corpus
from cloze.heads import CausalLM, MaskedLM
from cloze.lessons.writing_with_gaps.diffusion import curve
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION, DRAWS
from cloze.objectives import CAUSAL, MASKED, Objective, masked_loss
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
ASKED = {objective.name: objective for objective in (MASKED, DIFFUSION, CAUSAL)}
UNWEIGHTED = replace(DIFFUSION, name="unweighted", loss=masked_loss)
"""The control: diffusion's masks, but every hidden symbol counts the same, however many it has."""
TRAINED = {**ASKED, "unweighted": UNWEIGHTED}
RECIPE = replace(EVEN, evaluations=0)
SHIPPED = ("masked", "diffusion")
"""The shipped models that read both sides."""


def trained(objective: Objective, corpus: Corpus, recipe: Recipe) -> MaskedLM:
    """Train a model of English."""
    torch.manual_seed(recipe.seed)
    run = TrainingRun(objective.model(), corpus, recipe, objective)
    for _ in fit(run, progress=False):
        pass
    return run.model.eval()


def cost(model: MaskedLM, windows: Tensor) -> float:
    """Return what held-out windows cost in nats per character: for a model of both sides a bound.

    Every model is asked the same.
    """
    asked = CAUSAL if isinstance(model, CausalLM) else DIFFUSION
    return asked.measure(model, asked.held_out(windows, model.vocabulary))


def results() -> dict[str, dict[str, float]]:
    """Return what held-out text costs in nats per character, by seed and by the training's name."""
    measured: dict[str, dict[str, float]] = measurements.read(RESULTS)["runs"]
    return measured


def curves() -> dict[str, list[float]]:
    """Return what a hidden character costs the shipped models when 1, 2, … n are hidden."""
    measured: dict[str, list[float]] = measurements.read(RESULTS)["curves"]
    return measured


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

    def paid(seed: int, name: str) -> float:
        model = trained(TRAINED[name], corpus, replace(recipe, seed=seed))
        return round(cost(model, windows), 4)

    def shipped(name: str) -> list[float]:
        return [round(nats, 4) for nats in curve(shipped_model(name), windows)]

    measurements.measure(path, made, "runs", product(seeds, TRAINED), paid)
    measurements.measure(path, made, "curves", zip(SHIPPED), shipped)


if __name__ == "__main__":
    main()
