"""How much to hide in training: three mask rates, each for three lengths of training.

``python -m cloze.lessons.training.mask_rates`` trains the series' encoder with each rate for a
ninth, a third and all of the steps of the usual recipe, and writes the held-out losses to
mask_rates.json (five minutes on an idle core).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
RATES = (0.15, 0.3, 0.5)
STEPS = (139, 417, 1250)


def measure(corpus: Corpus, rate: float, steps: int) -> float:
    """Train once, and return the held-out loss in nats."""
    recipe = Recipe(steps=steps, mask_prob=rate, evaluations=0)
    torch.manual_seed(recipe.seed)
    run = TrainingRun(MaskedLM(), corpus, recipe)
    for _ in fit(run, progress=False):
        pass
    return held_out_loss(run.model, run.held_out)


def results() -> dict[float, dict[int, float]]:
    """Return the held-out losses in nats, by mask rate and number of steps."""
    runs = measurements.read(RESULTS)["runs"]
    return {
        float(rate): {int(steps): nats for steps, nats in losses.items()}
        for rate, losses in runs.items()
    }


def main(path: Path = RESULTS) -> None:
    """Train with every rate, for the fewest steps first."""
    corpus = Corpus.load()
    measurements.measure(
        path,
        measurements.made_by(__spec__.name, corpus_sha256=corpus.sha256),
        "runs",
        [(rate, steps) for steps in STEPS for rate in RATES],
        partial(measure, corpus),
    )


if __name__ == "__main__":
    main()
