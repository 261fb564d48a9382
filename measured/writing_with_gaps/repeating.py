"""Where the curves cross: a tenth of the corpus, read again and again, by three kinds of training.

``python -m measured.writing_with_gaps.repeating`` trains a causal, a masked and a diffusion model
on every tenth training piece, and measures what the held-out pieces cost after 1, 2, 5, … epochs:
the next characters of the causal model, the bound of the two that read both sides. The step sizes
stay as they are after the warm-up, so each point of a curve is a training that could have ended
there (about ten minutes a run on an idle core, nine runs).

Source of the question: Prabhudesai et al. 2025, Diffusion Beats Autoregressive in Data-Constrained
Settings; Ni et al. 2025, Diffusion Language Models are Super Data Learners.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from cloze.corpus import Corpus
from cloze.training import EVEN, Recipe, fit
from measured.shared import SEEDS, ResultsFile, begun
from measured.writing_with_gaps.bounds import ASKED, cost

EPOCHS = (1, 2, 5, 10, 20, 40, 80, 160, 320)
"""After which held-out text is measured."""


@dataclass(frozen=True)
class Steady(Recipe):
    """A recipe whose step sizes stay at their peak after the warm-up of one epoch."""

    def schedule(self, step: int) -> float:
        return min(1.0, (step + 1) / round(self.steps / EPOCHS[-1]))


def main() -> None:
    corpus = Corpus.load()
    corpus = replace(corpus, train=corpus.train[::10])
    steps = round(EPOCHS[-1] * len(corpus.train_ids) / (EVEN.batch_size * EVEN.length))
    usual = replace(EVEN, steps=steps, weight_decay=0.1, evaluations=0)
    windows = corpus.held_out_windows()
    measured_after = {max(1, round(epoch * steps / EPOCHS[-1])) for epoch in EPOCHS}

    def curve(seed: int, name: str) -> list[float]:
        recipe = Steady(**asdict(replace(usual, seed=seed)))
        run, costs = begun(corpus, recipe, ASKED[name]), []
        for record in fit(run):
            if record.step in measured_after:
                costs.append(round(cost(run.model.eval(), windows), 4))
                run.model.train()
        return costs

    measurements = ResultsFile(
        __spec__.name, corpus_sha256=corpus.sha256, steps=steps, epochs=EPOCHS
    )
    measurements.measure("runs", curve, SEEDS, ASKED)


if __name__ == "__main__":
    main()
