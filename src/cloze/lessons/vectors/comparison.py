"""Who finds another window of the same piece: counted words, hidden states, trained vectors.

``python -m cloze.lessons.vectors.comparison`` trains contrastively from several seeds, compares all
hidden states by late interaction, and writes what was found to comparison.json. It goes on where it
stopped (ten minutes on an idle core).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import Corpus, windows
from cloze.encoder import Encoder
from cloze.evaluation import Repeated
from cloze.objectives import Objective
from cloze.prediction.shipped import shipped_model
from cloze.teaching import measurements
from cloze.training import Recipe, TrainingRun, fit
from cloze.use.vectors import (
    TWICE_MASKED,
    TWO_WINDOWS,
    Pairs,
    TfIdf,
    cosine,
    embed,
    late_interaction,
    layer_states,
    mean_cosine,
    nearest,
    precision_at,
)
from cloze.vocabulary import VOCABULARY

RESULTS = Path(__file__).with_suffix(".json")
LENGTH = 64
SEEDS = 3
RECIPE = Recipe(
    batch_size=64,
    learning_rate=1e-3,
    matrix_learning_rate=5e-3,
    query_key_learning_rate=5e-3,
    evaluations=0,
)
"""Small steps: what was learned before is to be bent, not to be forgotten."""


class Asked(NamedTuple):
    """Held-out windows, and the piece that each is of."""

    input_ids: Tensor
    """Shape ``(n, length)``."""
    pieces: Tensor
    """Shape ``(n,)``."""

    @property
    def texts(self) -> list[str]:
        """The windows as texts."""
        return [VOCABULARY.decode(row) for row in self.input_ids]


class Found(NamedTuple):
    """How well the nearest windows are of the same piece."""

    at_1: float
    at_10: float
    cosine: float | None = None
    """The mean cosine between two windows."""

    def __repr__(self) -> str:
        said = f"precision at 1: {self.at_1:.2f}, at 10: {self.at_10:.2f}"
        return said if self.cosine is None else f"{said}, mean cosine: {self.cosine:.2f}"


def held_out(corpus: Corpus) -> Asked:
    """Cut the held-out pieces into windows."""
    cut = [windows(piece.input_ids, LENGTH) for piece in corpus.held_out]
    pieces = torch.arange(len(cut)).repeat_interleave(torch.tensor([len(part) for part in cut]))
    return Asked(torch.cat(cut), pieces)


def training_windows(corpus: Corpus) -> Tensor:
    """Return every sixth window of the training pieces, on which vectors are measured."""
    return torch.cat([windows(piece.input_ids, LENGTH)[::6] for piece in corpus.train])


def by_vectors(vectors: Tensor, queries: Asked) -> Found:
    """Measure how well vectors ``(n, d)`` find windows of the same piece."""
    near = cosine(vectors, vectors)
    at_1, at_10 = (precision_at(near, queries.pieces, k) for k in (1, 10))
    return Found(at_1, at_10, mean_cosine(vectors))


def by_terms(queries: Asked, terms: Callable[[str], list[str]]) -> Found:
    """Measure how well counted terms do."""
    near = TfIdf(queries.texts, terms).similarity()
    return Found(*(precision_at(near, queries.pieces, k) for k in (1, 10)))


OBJECTIVES: dict[str, Objective] = {"two windows": TWO_WINDOWS, "twice masked": TWICE_MASKED}
"""What is trained."""
STEPS = 600
"""How long each is trained; the notebook's live runs stop after 20 steps."""


def contrastive_run(corpus: Corpus, name: str, seed: int, steps: int) -> TrainingRun:
    """Begin to train a copy of the shipped encoder contrastively."""
    model = deepcopy(shipped_model()).requires_grad_(True).train()
    recipe = Recipe(**{**vars(RECIPE), "steps": steps, "seed": seed})
    return TrainingRun(model, Pairs(corpus), recipe, OBJECTIVES[name])


def measured_late(corpus: Corpus, name: str) -> str:
    """Search by late interaction, and write a 1 for each window whose piece was found, else 0."""
    queries, encoder = held_out(corpus), shipped_model().encoder
    if name == LETTERS:
        states = neighbourhoods(queries.input_ids)
    else:
        if name == UNTRAINED:
            torch.manual_seed(0)
            encoder = Encoder(encoder.config).eval()
        states = layer_states(encoder, queries.input_ids)[-1]
    closest = nearest(late_interaction(states, states), but_itself=True)[:, 0]
    return "".join(str(int(right)) for right in queries.pieces[closest] == queries.pieces)


UNTRAINED = "late interaction, untrained encoder"
LETTERS = "late interaction, raw letters"
LATE = ("late interaction", UNTRAINED, LETTERS)
REACH = 3
"""How many letters to each side the vector of a position holds when no encoder is used."""


def neighbourhoods(input_ids: Tensor) -> Tensor:
    """Describe each position by the letters around it, without any encoder.

    Args:
        input_ids: shape ``(n, length)``.

    Returns:
        One-hot vectors of the letters at −``REACH`` … ``REACH``, side by side: shape
        ``(n, length, (2 · REACH + 1) · |V|)``; nothing beyond the ends of a line.
    """
    letters = F.one_hot(input_ids, len(VOCABULARY)).float()
    padded = F.pad(letters, (0, 0, REACH, REACH))
    length = input_ids.shape[1]
    return torch.cat([padded[:, i : i + length] for i in range(2 * REACH + 1)], dim=-1)


def results() -> dict[str, Any]:
    """Return what was measured: "runs" by seed and name, and "late" by name."""
    return measurements.read(RESULTS)


def trained_results() -> dict[str, Repeated]:
    """Return precision at 1 of every kind of training, over seeds."""
    runs = results()["runs"].values()
    return {name: Repeated.of(measured[name][0] for measured in runs) for name in OBJECTIVES}


def late_results() -> dict[str, float]:
    """Return precision at 1 of late interaction, by name."""
    return {name: hits.count("1") / len(hits) for name, hits in results()["late"].items()}


def trained(corpus: Corpus, steps: int, seed: int, name: str) -> list[float]:
    """Train contrastively once, and return precision at 1 and at 10 and the mean cosine."""
    run = contrastive_run(corpus, name, seed, steps)
    for _ in fit(run):
        pass
    queries = held_out(corpus)
    measured = by_vectors(embed(run.model.eval().encoder, queries.input_ids), queries)
    return [round(value, 4) for value in measured if value is not None]


def main(path: Path = RESULTS, seeds: int = SEEDS, steps: int = STEPS) -> None:
    """Measure what the file does not hold yet, and write it after each run."""
    corpus = Corpus.load()
    made = measurements.made_by(
        __spec__.name,
        corpus_sha256=corpus.sha256,
        recipe={**vars(RECIPE), "steps": steps},
    )
    runs = product(range(seeds), OBJECTIVES)
    measurements.measure(path, made, "runs", runs, partial(trained, corpus, steps))
    measurements.measure(path, made, "late", zip(LATE), partial(measured_late, corpus))


if __name__ == "__main__":
    main()
