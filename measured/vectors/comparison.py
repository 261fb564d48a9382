"""Who finds another window of the same piece: trained vectors, and late interaction.

``python -m measured.vectors.comparison`` trains contrastively with three seeds, and compares all
hidden states by late interaction (ten minutes on an idle core).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.corpus import Corpus
from cloze.encoder import Encoder
from cloze.heads import MaskedLM
from cloze.lessons.vectors.comparison import Queries, by_vectors, held_out
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import embed, layer_states, nearest
from cloze.training import Recipe
from cloze.vocabulary import VOCABULARY
from measured.shared import SEEDS, ResultsFile, trained
from measured.vectors.contrastive import TWICE_MASKED, TWO_WINDOWS, Pairs, late_interaction

RECIPE = Recipe(
    steps=600,
    batch_size=64,
    learning_rate=1e-3,
    matrix_learning_rate=5e-3,
    query_key_learning_rate=5e-3,
    evaluations=0,
)
"""Small steps: what was learned before is to be bent, not to be forgotten."""
OBJECTIVES = {"two windows": TWO_WINDOWS, "twice masked": TWICE_MASKED}
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
        ``(n, length, (2 · REACH + 1) · |V|)``; zeros beyond the ends of a line.
    """
    letters = F.one_hot(input_ids, len(VOCABULARY)).float()
    padded = F.pad(letters, (0, 0, REACH, REACH))
    length = input_ids.shape[1]
    return torch.cat([padded[:, i : i + length] for i in range(2 * REACH + 1)], dim=-1)


def states_of(name: str, input_ids: Tensor) -> Tensor:
    """Return the vectors that are compared position by position, ``(n, length, d)``."""
    if name == LETTERS:
        return neighbourhoods(input_ids)
    encoder = shipped_model().encoder
    if name == UNTRAINED:
        torch.manual_seed(0)
        encoder = Encoder(encoder.config).eval()
    return layer_states(encoder, input_ids)[-1]


def hits(similarity: Tensor, queries: Queries) -> str:
    """Write a 1 for each window whose nearest other one is of the same piece, else 0."""
    closest = nearest(similarity, but_itself=True)[:, 0]
    return "".join(str(int(hit)) for hit in queries.pieces[closest] == queries.pieces)


def pretrained() -> MaskedLM:
    """Return a copy of the shipped model that can be trained further."""
    return deepcopy(shipped_model()).requires_grad_(True).train()


def main() -> None:
    corpus = Corpus.load()
    queries = held_out(corpus)

    def precision(seed: int, name: str) -> list[float]:
        recipe = replace(RECIPE, seed=seed)
        run = trained(Pairs(corpus), recipe, OBJECTIVES[name], pretrained)
        measured = by_vectors(embed(run.model.encoder, queries.input_ids), queries)
        return [round(value, 4) for value in measured if value is not None]

    def late_hits(name: str) -> str:
        states = states_of(name, queries.input_ids)
        return hits(late_interaction(states, states), queries)

    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256, recipe=asdict(RECIPE))
    measurements.measure("runs", precision, SEEDS, OBJECTIVES)
    measurements.measure("late", late_hits, LATE)


if __name__ == "__main__":
    main()
