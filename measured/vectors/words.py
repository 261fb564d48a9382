"""What the words' encoder's vectors find and group, beside the letters' encoder and counted words.

``python -m measured.vectors.words`` searches for the other windows of each held-out piece, and
groups all 160 pieces by k-means (two minutes on an idle core). A piece's number in its topic stands
for its form, which is right for most pieces.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.checkpoint import CHECKPOINTS, provenance
from cloze.corpus import Corpus, windows
from cloze.lessons.vectors.comparison import LENGTH, Queries, held_out, training_windows
from cloze.lessons.vectors.search import EncoderVectors, words_vectors
from cloze.masking import seeded
from cloze.prediction.shipped import shipped_model
from cloze.tasks.heads import mean_pool
from cloze.tasks.vectors import TfIdf, Whitening, cosine, padded, whitening
from measured.shared import ResultsFile
from measured.vectors.comparison import hits

WORDS = CHECKPOINTS / "words.safetensors"
STARTS = range(10)
COUNTED = ("counted words, tf-idf", "counted words, as they are")
"""Words are counted in a whole text; an encoder reads it window by window."""
GROUPED = (*COUNTED, "letters' encoder, whitened", "words' encoder, whitened")


def k_means(vectors: Tensor, k: int, seed: int) -> Tensor:
    """Return the group of each of vectors ``(n, d)``; k of them, drawn at random, begin a group."""
    centres = vectors[torch.randperm(len(vectors), generator=seeded(seed))[:k]]
    for _ in range(20):
        group = cosine(vectors, centres).argmax(1)
        groups = [vectors[group == i] for i in range(k)]
        centres = torch.stack(  # an empty group keeps its centre
            [own.mean(0) if len(own) else old for own, old in zip(groups, centres, strict=True)]
        )
    return group


def adjusted_rand(one: Tensor, other: Tensor) -> float:
    """Return how well two groupings ``(n,)`` agree: 1 if they are the same, 0 by chance.

    Source: Hubert and Arabie 1985, Comparing partitions.
    """
    table = F.one_hot(one).T.double() @ F.one_hot(other).double()  # things in both groups
    counted = (table, table.sum(1), table.sum(0), table.sum())
    both, ours, theirs, all_pairs = (float((n * (n - 1) / 2).sum()) for n in counted)
    by_chance = ours * theirs / all_pairs
    return (both - by_chance) / ((ours + theirs) / 2 - by_chance)


def counts(texts: list[str]) -> Tensor:
    """Return how often each word occurs in each text, ``(texts, words)``, rare or not."""
    ids = TfIdf(texts).ids
    lines = [torch.tensor([ids[word] for word in text.split()]) for text in texts]
    return torch.stack([line.bincount(minlength=len(ids)) for line in lines]).float()


@torch.no_grad()
def main() -> None:
    corpus, made = Corpus.load(), words_vectors()
    queries, to_learn = held_out(corpus), training_windows(corpus)
    learned = Queries(to_learn, to_learn[:, 0]).texts

    def embeddings(texts: list[str]) -> Tensor:
        """Return the mean embedding of a text's pieces: no layer has read them."""
        ids, padding = padded([made.read(text) for text in texts])
        return mean_pool(made.encoder.embedding(ids), padding)

    means, whiten = made(learned), whitening(embeddings(learned))
    letters = EncoderVectors(shipped_model().encoder)
    centred = Whitening(means.mean(0), torch.eye(means.shape[1]))
    ways: dict[str, Any] = {
        "words' encoder, raw": made,
        "words' encoder, centred": made._replace(change=centred),
        "words' encoder, whitened": made._replace(change=whitening(means)),
        "words' encoder, embeddings only": lambda texts: whiten(embeddings(texts)),
        "letters' encoder, whitened": letters._replace(change=whitening(letters(learned))),
        COUNTED[0]: lambda texts: TfIdf(texts).vectors.to_dense(),
        COUNTED[1]: counts,
    }
    pieces = sorted((*corpus.train, *corpus.held_out), key=lambda piece: piece.name)
    topics, forms = (
        torch.tensor([ordered.index(name) for name in names])
        for names in zip(*(piece.name.split("/") for piece in pieces), strict=True)
        for ordered in [sorted({*names})]
    )

    def found(name: str) -> str:
        vectors = ways[name](queries.texts)
        return hits(cosine(vectors, vectors), queries)

    @cache
    def of_pieces(name: str) -> Tensor:
        if name in COUNTED:
            return ways[name]([piece.text for piece in pieces])
        cut = (windows(piece.input_ids, LENGTH) for piece in pieces)
        return torch.stack([ways[name](Queries(ids, ids[:, 0]).texts).mean(0) for ids in cut])

    def agreement(name: str, what: str, seed: int) -> float:
        true = {"topic": topics, "form": forms}[what]
        group = k_means(of_pieces(name), int(true.max()) + 1, seed)
        return round(adjusted_rand(group, true), 4)

    measurements = ResultsFile(__spec__.name, corpus_sha256=corpus.sha256, words=provenance(WORDS))
    measurements.measure("hits", found, ways)
    measurements.measure("clusters", agreement, GROUPED, ("topic", "form"), STARTS)


if __name__ == "__main__":
    main()
