"""What ``measured/vectors`` trains with: pairs, their loss, and late interaction."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from cloze.corpus import Corpus, Piece
from cloze.masking import seeded
from cloze.tasks.vectors import cosine
from cloze.vocabulary import VOCABULARY
from measured.vectors.contrastive import (
    TEMPERATURE,
    TWICE_MASKED,
    Pairs,
    info_nce,
    late_interaction,
)


def test_late_interaction_takes_the_best_match_of_every_position() -> None:
    queries, documents = torch.randn(2, 3, 4, 5, generator=seeded(0))
    best = [float(cosine(each[None], documents[1]).max()) for each in queries[2]]
    scores = late_interaction(queries, documents)
    assert float(scores[2, 1]) == pytest.approx(sum(best) / 4, abs=1e-6)


def test_every_view_looks_for_its_partner_among_all() -> None:
    a, b = torch.randn(2, 4, 3, generator=seeded(0))
    scores = cosine(a, b) / TEMPERATURE
    one, other = (F.log_softmax(each, dim=1).diagonal().mean() for each in (scores, scores.T))
    assert torch.allclose(info_nce(a, b), -(one + other) / 2)
    assert float(info_nce(a[:1].repeat(4, 1), b[:1].repeat(4, 1))) == pytest.approx(math.log(4))


def test_pairs_share_a_piece_and_no_two_pairs_do() -> None:
    pieces = [Piece(letter, f"{letter} " * 200) for letter in "abcdefgh"]
    rows = Pairs(Corpus(tuple(pieces[:6]), tuple(pieces[6:]))).sample(10, 20, seeded(0))
    drawn = [set(VOCABULARY.decode(row)) - {" "} for row in rows]
    assert drawn[:5] == drawn[5:]
    assert len(set.union(*drawn[:5])) == 5
    twice = TWICE_MASKED.ask(rows, 0.3, seeded(0), VOCABULARY)
    assert twice.labels.tolist() == [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]
    one, other = twice.inputs.chunk(2)
    assert not torch.equal(one, other)
    assert min((view == rows[:5]).double().mean() for view in (one, other)) > 0.5
