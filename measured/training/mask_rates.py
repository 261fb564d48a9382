"""How much to hide in training: three mask rates, each for three lengths of training.

``python -m measured.training.mask_rates`` trains the series' encoder with each rate for a ninth, a
third and all of the steps of the usual recipe (five minutes on an idle core).
"""

from __future__ import annotations

from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.training import Recipe
from measured.shared import ResultsFile, trained


def main() -> None:
    corpus = Corpus.load()

    def held_out(rate: float, steps: int) -> float:
        run = trained(corpus, Recipe(steps=steps, mask_prob=rate))
        return held_out_loss(run.model, run.held_out)

    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256)
    measurements.measure("runs", held_out, (0.15, 0.3, 0.5), (139, 417, 1250))


if __name__ == "__main__":
    main()
