"""Vectors: pooling, geometry, counted words, linear readers, contrastive training."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from cloze.checkpoint import CheckpointError
from cloze.corpus import Corpus, Piece
from cloze.encoder import Encoder, EncoderConfig
from cloze.heads import MaskedLM
from cloze.masking import seeded
from cloze.objectives import Objective
from cloze.training import Recipe, TrainingRun, fit
from cloze.use.vectors import (
    TWICE_MASKED,
    TWO_WINDOWS,
    LinearProbe,
    Pairs,
    TfIdf,
    cosine,
    embed,
    info_nce,
    late_interaction,
    layer_states,
    nearest,
    padded,
    pair_loss,
    passages,
    precision_at,
    precision_by_chance,
    principal_plane,
    whitening,
)
from cloze.vocabulary import VOCABULARY, TextError

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


def test_late_interaction_takes_the_best_match_of_every_position() -> None:
    one, other = (
        torch.randn(3, 4, 5, generator=seeded(0)),
        torch.randn(2, 6, 5, generator=seeded(1)),
    )
    scores = late_interaction(one, other)
    for i, j in ((0, 0), (2, 1)):
        best = [float(cosine(position[None], other[j]).max()) for position in one[i]]
        assert float(scores[i, j]) == pytest.approx(sum(best) / 4, abs=1e-6)
    assert torch.allclose(late_interaction(one, one).diagonal(), torch.ones(3), atol=1e-6)


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
    assert table.shared("the boat at sea", texts[0]) == ["boat", "sea", "the"]


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


# Contrastive training


def test_info_nce_by_hand() -> None:
    a, b = torch.randn(4, 3, generator=seeded(0)), torch.randn(4, 3, generator=seeded(1))
    scores = (cosine(a, b) / 0.2).tolist()
    rows = [math.log(sum(map(math.exp, r))) - r[i] for i, r in enumerate(scores)]
    columns = [
        math.log(sum(math.exp(r[i]) for r in scores)) - scores[i][i] for i in range(len(scores))
    ]
    assert float(info_nce(a, b, 0.2)) == pytest.approx((sum(rows) + sum(columns)) / 8, rel=1e-5)
    assert float(info_nce(a[:1].repeat(4, 1), b[:1].repeat(4, 1))) == pytest.approx(math.log(4))


def corpus() -> Corpus:
    letters = "abcdefgh"
    pieces = [Piece(c, (c + " ") * 200) for c in letters]
    return Corpus(tuple(pieces[:6]), tuple(pieces[6:]))


def test_pairs_share_a_piece_and_no_two_pairs_do() -> None:
    rows = Pairs(corpus()).sample(10, 20, seeded(0))
    drawn = [set(VOCABULARY.decode(row)) - {" "} for row in rows]
    assert drawn[:5] == drawn[5:]
    assert len(set.union(*drawn[:5])) == 5
    with pytest.raises(TextError, match="7 pairs need as many pieces, and there are 6"):
        Pairs(corpus()).sample(14, 20)


def test_the_label_of_a_view_is_its_partner() -> None:
    views = torch.randint(28, (6, 10), generator=seeded(0))
    batch = TWO_WINDOWS.ask(views, 0.3, seeded(0), VOCABULARY)
    assert torch.equal(batch.inputs, views)
    assert batch.labels.tolist() == [3, 4, 5, 0, 1, 2]
    twice = TWICE_MASKED.ask(views, 0.3, seeded(0), VOCABULARY)
    one, other = twice.inputs.chunk(2)
    assert not torch.equal(one, other)
    assert (one == views[:3]).double().mean() > 0.5
    assert (other == views[:3]).double().mean() > 0.5
    for n in (2, 3):
        with pytest.raises(ValueError, match="take an even batch_size"):
            TWO_WINDOWS.ask(views[:n], 0.3, seeded(0), VOCABULARY)


def run_of(objective: Objective, steps: int = 30) -> TrainingRun:
    torch.manual_seed(0)
    recipe = Recipe(steps=steps, batch_size=8, length=16, learning_rate=3e-3, evaluations=1)
    return TrainingRun(MaskedLM(SMALL), Pairs(corpus()), recipe, objective)


def test_training_draws_partners_together() -> None:
    run = run_of(TWICE_MASKED)
    losses = [record.loss for record in fit(run, progress=False)]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert run.history[-1].held_out is not None


def test_a_saved_run_goes_on_only_with_its_objective(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    run_of(TWO_WINDOWS, 6).save(path)
    assert TrainingRun.load(path, Pairs(corpus()), TWO_WINDOWS).objective is TWO_WINDOWS
    with pytest.raises(CheckpointError, match="There is no objective 'two windows'"):
        TrainingRun.load(path, Pairs(corpus()))
    with pytest.raises(CheckpointError, match="begun with the objective 'two windows'; load"):
        TrainingRun.load(path, Pairs(corpus()), TWICE_MASKED)


def test_the_loss_is_of_means_over_positions() -> None:
    model = MaskedLM(SMALL)
    views = torch.randint(28, (4, 10), generator=seeded(0))
    batch = TWO_WINDOWS.ask(views, 0.3, seeded(0), VOCABULARY)
    v = F.normalize(embed(model.encoder, views), dim=1)
    assert pair_loss(model, batch).item() == pytest.approx(info_nce(v[:2], v[2:]).item(), abs=1e-4)
