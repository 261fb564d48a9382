"""What keeps training off the plateau: positions, the heads' first focus, or the optimizer.

``python -m measured.training.plateau`` trains the series' encoder for 300 steps in seven ways, and
measures held-out loss on the way (six minutes on an idle core).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice

import torch

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.lessons.training.plateau import by_adam, placed
from cloze.masking import held_out_batch
from cloze.training import Recipe, TrainingRun, fit
from measured.shared import SEEDS, ResultsFile

STEPS = 300
MOMENTS = (20, 35, 50, 78, 110, 150, 200, STEPS)
"""The numbers of steps after which held-out loss is measured."""


def by_recipe(model: MaskedLM, corpus: Corpus, seed: int) -> Iterator[int]:
    """Train by the recipe of the series."""
    recipe = Recipe(steps=STEPS, evaluations=0, seed=seed)
    for record in fit(TrainingRun(model, corpus, recipe)):
        yield record.step


def ordinary() -> MaskedLM:
    """Make a model whose heads have to find their neighbours."""
    return MaskedLM(EncoderConfig(neighbour_focus=0.0))


def waves() -> MaskedLM:
    """Make a model whose learned positions begin as sine waves, so that neighbours are alike."""
    model = placed()
    places = model.get_parameter("encoder.embedding.places.weight").data  # (max_len, d_model)
    rates = 10_000 ** -torch.linspace(0, 1, places.shape[1] // 2)
    angles = torch.arange(len(places))[:, None] * rates
    places[:] = math.sqrt(2) * torch.cat([angles.sin(), angles.cos()], dim=1)  # numbers near 1
    return model


ARMS: dict[str, tuple[Callable[[], MaskedLM], Callable[[MaskedLM, Corpus, int], Iterator[int]]]] = {
    "neighbour heads, our recipe": (MaskedLM, by_recipe),
    "ordinary heads, our recipe": (ordinary, by_recipe),
    "neighbour heads, textbook's Adam": (MaskedLM, by_adam),
    "ordinary heads, textbook's Adam": (ordinary, by_adam),
    "learned positions, our recipe": (placed, by_recipe),
    "learned positions, textbook's Adam": (placed, by_adam),
    "begun as sine waves, textbook's Adam": (waves, by_adam),
}
"""By name, what makes a model and what trains it."""


def main() -> None:
    corpus = Corpus.load()
    held_out = held_out_batch(corpus.held_out_windows())

    def curve(name: str, seed: int) -> dict[int, float]:
        make, train = ARMS[name]
        torch.manual_seed(seed)
        model = make()
        steps = islice(train(model, corpus, seed), STEPS)
        return {step: held_out_loss(model, held_out) for step in steps if step in MOMENTS}

    ResultsFile(__spec__.name, moments=MOMENTS).measure("arms", curve, ARMS, SEEDS)


if __name__ == "__main__":
    main()
