"""Vectors: pooling, geometry, counted words, linear readers, contrastive training."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from cloze.corpus import Piece
from cloze.encoder import Encoder, EncoderConfig
from cloze.masking import seeded
from cloze.tasks.vectors import (
    LinearProbe,
    TfIdf,
    cosine,
    embed,
    layer_states,
    nearest,
    padded,
    passages,
    precision_at,
    precision_by_chance,
    principal_plane,
    whitening,
)

SMALL = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=32)


def encoder() -> Encoder:
    torch.manual_seed(0)
    return Encoder(SMALL).eval()


def some_vectors(n: int = 40, d: int = 6) -> Tensor:
    return torch.randn(n, d, generator=seeded(1)) @ torch.randn(d, d, generator=seeded(2)) + 3


# From hidden states to vectors


def test_layers_begin_with_the_embedding_and_end_with_the_encoder() -> None:
    reader, ids = encoder(), torch.randint(28, (3, 9), generator=seeded(0))
    states = layer_states(reader, ids)
    assert [tuple(layer.shape) for layer in states] == [(3, 9, 16)] * 3
    assert torch.equal(states[0], reader.embedding(ids))
    assert torch.equal(states[-1], reader(ids))
    inner = reader.layers[0](reader.embedding(ids), None)
    assert torch.allclose(states[1], inner, atol=1e-6)


def test_padding_changes_no_vector() -> None:
    reader = encoder()
    lines = [torch.randint(28, (n,), generator=seeded(n)) for n in (4, 9, 6)]
    ids, mask = padded(lines)
    assert mask.sum(1).tolist() == [5, 0, 3]
    alone = torch.cat([reader(line[None]).mean(1) for line in lines])
    assert torch.allclose(embed(reader, ids, mask), alone, atol=1e-5)
    noisy = ids.masked_fill(mask, 7)
    assert torch.allclose(embed(reader, noisy, mask), alone, atol=1e-5)


def test_many_lines_are_read_in_parts() -> None:
    reader, ids = encoder(), torch.randint(28, (70, 8), generator=seeded(0))
    assert torch.allclose(embed(reader, ids), reader(ids).mean(1), atol=1e-6)


def test_lines_and_vectors_without_content_are_refused() -> None:
    with pytest.raises(ValueError, match="all padding; leave empty lines out"):
        embed(encoder(), torch.zeros(2, 4, dtype=torch.int64), torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match="all the same cannot be whitened"):
        whitening(torch.ones(4, 3))


# Geometry


def test_cosines_of_known_angles() -> None:
    a = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    b = torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]])
    assert cosine(a, b)[0].tolist() == pytest.approx([1, 0, -1, math.sqrt(0.5)])
    assert cosine(a, b)[1].tolist() == [0, 0, 0, 0]


def test_whitening_makes_every_direction_alike() -> None:
    v = some_vectors(200)
    white = whitening(v)(v).double()
    assert torch.allclose(white.mean(0), torch.zeros(6).double(), atol=1e-5)
    assert torch.allclose(torch.cov(white.T), torch.eye(6).double(), atol=1e-4)


def test_a_plane_shows_what_varies_most() -> None:
    flat = torch.zeros(30, 5)
    flat[:, 1] = torch.randn(30, generator=seeded(0)) * 5
    flat[:, 3] = torch.randn(30, generator=seeded(1))
    points = principal_plane(flat)
    assert abs(torch.corrcoef(torch.stack([points[:, 0], flat[:, 1]]))[0, 1]) > 0.98
    most = points.gather(0, points.abs().argmax(0, keepdim=True))
    assert (most > 0).all()


# Near and far


def test_precision_of_a_table_counted_by_hand() -> None:
    near = torch.tensor(
        [
            [9.0, 3.0, 2.0, 1.0],
            [3.0, 9.0, 1.0, 2.0],
            [5.0, 1.0, 9.0, 2.0],
            [1.0, 2.0, 3.0, 9.0],
        ]
    )
    groups = torch.tensor([0, 0, 1, 1])
    assert nearest(near, 1, but_itself=True)[:, 0].tolist() == [1, 0, 0, 2]
    assert precision_at(near, groups, 1) == 3 / 4
    assert precision_at(near, groups, 2) == (1 + 1 + 1 + 1) / 8
    assert precision_at(near, groups, 3) == 1 / 3
    assert near[0, 0] == 9, "the table was changed"


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12))
def test_chance_is_the_mean_over_all_tables(groups: list[int]) -> None:
    g = torch.tensor(groups)
    pairs = [a == b for i, a in enumerate(groups) for j, b in enumerate(groups) if i != j]
    assert precision_by_chance(g) == pytest.approx(sum(pairs) / len(pairs))
    # all others taken together are what chance takes
    n = len(groups)
    assert precision_at(torch.rand(n, n), g, n - 1) == pytest.approx(precision_by_chance(g))


# Counted words


def test_tf_idf_counted_by_hand() -> None:
    texts = ["the sea the boat", "the sea", "the bread"]
    table = TfIdf(texts)
    weight = {"sea": math.log(3 / 2), "boat": math.log(3), "bread": math.log(3), "the": 0.0}
    assert {t: float(table.idf[i]) for t, i in table.ids.items()} == pytest.approx(weight)
    length = math.hypot(weight["sea"], weight["boat"])
    near = table.similarity()
    assert float(near[0, 1]) == pytest.approx(weight["sea"] / length)
    assert near.diagonal().tolist() == pytest.approx([1, 1, 1])
    assert float(near[0, 2]) == 0  # "the" weighs nothing
    queries = table.similarity(["boat boat ship", "the ship", ""])
    assert float(queries[0, 0]) == pytest.approx(weight["boat"] / length)
    assert queries[1:].abs().sum() == 0
    assert table.shared("the boat at sea", texts[0]) == ["boat"]


@given(st.text("ab \n", min_size=1, max_size=80))
def test_passages_hold_all_words_in_order(text: str) -> None:
    cut = passages([Piece("one", text)], 7)
    assert all(len(p.text) <= 7 and p.piece == "one" for p in cut)
    assert "".join(p.text for p in cut).replace(" ", "") == "".join(text.split())


# Linear readers


def test_a_linear_reader_reads_what_is_linear_and_not_more() -> None:
    v = torch.randn(400, 4, generator=seeded(0))
    linear = (v[:, 0] + v[:, 2] > 0).long()
    product = (v[:, 0] * v[:, 2] > 0).long()
    for classes, low, high in ((linear, 0.93, 1.0), (product, 0.3, 0.7)):
        named = LinearProbe(v[:200], classes[:200])(v[200:])
        assert low <= float((named == classes[200:]).double().mean()) <= high
