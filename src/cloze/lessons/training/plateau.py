"""What keeps training off the plateau: positions, where heads look at birth, or the optimizer.

``python -m cloze.lessons.training.plateau`` trains the series' encoder for 300 steps in six ways,
three seeds each, and writes the held-out losses on the way to plateau.json (six minutes on an idle
core).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from cloze.baselines import NeighbourBaseline
from cloze.corpus import Corpus, windows
from cloze.encoder import Attention, EncoderConfig
from cloze.evaluation import Repeated, held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import MaskedBatch, held_out_batch, seeded
from cloze.objectives import MASKED
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit

RESULTS = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
MOMENTS = (20, 35, 50, 78, 110, 150, 200, 300)
"""The numbers of steps after which held-out loss is measured."""

Training = Callable[[MaskedLM, Corpus, int], Iterator[int]]
"""Trains a model with a seed and yields the number of steps done after each."""


def by_recipe(query_key_rate: float, model: MaskedLM, corpus: Corpus, seed: int) -> Iterator[int]:
    """Train by the recipe of the series, queries and keys at a rate of their own."""
    recipe = Recipe(
        steps=MOMENTS[-1], evaluations=0, seed=seed, query_key_learning_rate=query_key_rate
    )
    for record in fit(TrainingRun(model, corpus, recipe), progress=False):
        yield record.step


def by_adam(model: MaskedLM, corpus: Corpus, seed: int) -> Iterator[int]:
    """Train as the textbook does: Adam at 1e-3, 15% selected, the same windows as the recipe."""
    chance, recipe = seeded(seed), Recipe()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, MOMENTS[-1] + 1):
        windows = corpus.sample(recipe.batch_size, recipe.length, chance)
        loss = MASKED.loss(model, MASKED.ask(windows, 0.15, chance, model.vocabulary))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield step


class Placed(nn.Embedding):
    """An embedding of symbols that adds a learned vector for every place of a line."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config.vocab_size, config.d_model)
        self.places = nn.Embedding(config.max_len, config.d_model)

    def forward(self, input_ids: Tensor) -> Tensor:
        """Return vectors ``(batch, length, d_model)`` of ids ``(batch, length)``."""
        return super().forward(input_ids) + self.places.weight[: input_ids.shape[-1]]


def looking_at_neighbours() -> MaskedLM:
    """Make the model of the series: its heads start out looking at their neighbours."""
    return MaskedLM()


def ordinary() -> MaskedLM:
    """Make one whose heads have to find their neighbours."""
    return MaskedLM(EncoderConfig(neighbour_focus=0.0))


def placed() -> MaskedLM:
    """Make one with ordinary heads and learned positions in place of rotary ones."""
    model = ordinary()
    model.encoder.embedding = Placed(model.config)
    for part in model.encoder.modules():
        if isinstance(part, Attention):
            part.angles.zero_()  # which turns nothing
    return model


OURS = partial(by_recipe, Recipe().query_key_learning_rate)
LARGER = partial(by_recipe, Recipe().matrix_learning_rate)
ARMS: dict[str, tuple[Callable[[], MaskedLM], Training]] = {
    "neighbour heads, our recipe": (looking_at_neighbours, OURS),
    "ordinary heads, our recipe": (ordinary, OURS),
    "ordinary heads, larger steps": (ordinary, LARGER),
    "neighbour heads, textbook's Adam": (looking_at_neighbours, by_adam),
    "ordinary heads, textbook's Adam": (ordinary, by_adam),
    "learned positions, our recipe": (placed, OURS),
    "learned positions, textbook's Adam": (placed, by_adam),
}
"""By name, what makes a model and what trains it."""


def own_position(corpus: Corpus, held_out: MaskedBatch) -> float:
    """Return what a reader of its own position alone pays, in nats: where a stuck model sits."""
    reader = NeighbourBaseline((0,)).fit(windows(corpus.train_ids, held_out.inputs.shape[1]))
    return mlm_loss(reader.log_probs(held_out.inputs), held_out.labels).item()


def measure(corpus: Corpus, name: str, seed: int) -> dict[int, float]:
    """Train one model and return its held-out loss in nats by the number of steps."""
    made, training = ARMS[name]
    held_out = held_out_batch(corpus.held_out_windows())
    torch.manual_seed(seed)
    model = made()
    return {
        step: held_out_loss(model, held_out)
        for step in training(model, corpus, seed)
        if step in MOMENTS
    }


def results() -> dict[str, dict[int, Repeated]]:
    """Return the held-out losses in nats by arm and number of steps, over all seeds."""
    arms = measurements.read(RESULTS)["arms"]
    return {
        name: {
            step: Repeated.of(curve[str(step)] for curve in by_seed.values()) for step in MOMENTS
        }
        for name, by_seed in arms.items()
    }


def main(path: Path = RESULTS) -> None:
    """Train all and write what they pay, with what it takes to repeat it."""
    made = measurements.made_by(__spec__.name, moments=MOMENTS)
    runs = [(name, seed) for seed in SEEDS for name in ARMS]
    measurements.measure(path, made, "arms", runs, partial(measure, Corpus.load()))


if __name__ == "__main__":
    main()
