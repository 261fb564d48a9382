"""Where the curves cross: a tenth of the corpus, read again and again, by three kinds of training.

``python -m cloze.lessons.writing_with_gaps.repeating`` trains a causal, a masked and a diffusion
model on every tenth training piece, with three seeds each, and writes to repeating.json what the
held-out pieces cost after 1, 2, 5, … epochs: the next characters of the causal model, the bound of
the two that read both sides. The step sizes stay as they are after the warm-up, so each point of a
curve is a training that could have ended there as well as gone on (about ten minutes a run on an
idle core, nine runs). The file is written after each run, and no run in it is done again.

Source of the question: Prabhudesai et al. 2025, Diffusion Beats Autoregressive in Data-Constrained
Settings; Ni et al. 2025, Diffusion Language Models are Super Data Learners.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import torch

from cloze.corpus import Corpus
from cloze.evaluation import Repeated
from cloze.lessons.writing_with_gaps.bounds import ASKED, SEEDS, cost
from cloze.teaching import measurements
from cloze.training import EVEN, Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
EPOCHS = (1, 2, 5, 10, 20, 40, 80, 160, 320)
"""After which the held-out text is read."""


@dataclass(frozen=True)
class Steady(Recipe):
    """A recipe whose step sizes stay at their peak after the warm-up."""

    def schedule(self, step: int) -> float:
        """Return the factor on the step sizes at a step, counted from 0."""
        return min(1.0, (step + 1) / self.warmup_steps)

    @property
    def warmup_steps(self) -> int:
        """The steps of one epoch: after it the step sizes stay."""
        return round(self.steps / EPOCHS[-1])


def tenth(corpus: Corpus) -> Corpus:
    """Return every tenth training piece, with all held-out pieces."""
    return replace(corpus, train=corpus.train[::10])


def recipe(corpus: Corpus) -> Steady:
    """Return how all of them are trained: the rates of the kept results, until the last epoch."""
    batch = EVEN.batch_size * EVEN.length
    return Steady(
        steps=round(EPOCHS[-1] * len(corpus.train_ids) / batch),
        matrix_learning_rate=EVEN.matrix_learning_rate,
        query_key_learning_rate=EVEN.query_key_learning_rate,
        weight_decay=0.1,
        evaluations=0,
    )


def results() -> dict[str, dict[int, Repeated]]:
    """Return held-out nats per character, by training and epochs, over the seeds."""
    runs = measurements.read(RESULTS)["runs"].values()
    return {
        name: {
            epoch: Repeated.of(of_seed[name][i] for of_seed in runs)
            for i, epoch in enumerate(EPOCHS)
        }
        for name in ASKED
    }


def curve(name: str, corpus: Corpus, steady: Steady) -> list[float]:
    """Train one model, and return what held-out text costs it after each of ``EPOCHS``."""
    windows = corpus.held_out_windows(steady.length)
    read_after = {max(1, round(epoch * steady.steps / EPOCHS[-1])) for epoch in EPOCHS}
    torch.manual_seed(steady.seed)
    objective = ASKED[name]
    run = TrainingRun(objective.model(), corpus, steady, objective)
    costs = []
    for record in fit(run, progress=False):
        if record.step in read_after:
            run.model.eval()
            costs.append(round(cost(run.model, windows), 4))
            print(name, steady.seed, record.step, costs[-1], flush=True)
            run.model.train()
    return costs


def main(
    path: Path = RESULTS, corpus: Corpus | None = None, seeds: tuple[int, ...] = SEEDS
) -> None:
    """Train every model, and keep its curve in ``path`` when it has ended."""
    corpus = tenth(corpus or Corpus.load())
    steady = recipe(corpus)
    made = measurements.made_by(
        __spec__.name, corpus_sha256=corpus.sha256, steps=steady.steps, epochs=EPOCHS
    )
    measurements.measure(
        path,
        made,
        "runs",
        product(seeds, ASKED),
        lambda seed, name: curve(name, corpus, replace(steady, seed=seed)),
    )


if __name__ == "__main__":
    main()
