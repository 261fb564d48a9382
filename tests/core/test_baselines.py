"""The baselines, against counts by hand."""

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from cloze.baselines import BASELINES, NeighbourBaseline, baseline_losses
from cloze.corpus import Corpus, windows
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, held_out_batch, mask_tokens
from cloze.vocabulary import VOCABULARY

EDGE = len(VOCABULARY)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = Corpus.load()  # a part is enough to tell the baselines apart
    return Corpus(whole.train[::8], whole.held_out[::2])


@pytest.fixture(scope="module")
def rows(corpus: Corpus) -> Tensor:
    return windows(corpus.train_ids, 64)


def test_each_baseline_is_better_than_the_one_that_sees_less(corpus: Corpus) -> None:
    losses = baseline_losses(corpus, held_out_batch(corpus.held_out_windows()))
    assert list(losses) == ["uniform", *BASELINES]
    assert all(more > less + 0.3 for more, less in pairwise(losses.values()))
    assert losses["uniform"] == math.log(29)
    assert losses["unigram"] == pytest.approx(2.80, abs=0.02)


def test_all_baselines_are_counted_in_one_go(corpus: Corpus, rows: Tensor) -> None:
    held_out = held_out_batch(corpus.held_out_windows())
    alone = NeighbourBaseline(BASELINES["left bigram"]).fit(rows)
    loss = mlm_loss(alone.log_probs(held_out.inputs), held_out.labels).item()
    assert baseline_losses(corpus, held_out)["left bigram"] == loss


@pytest.mark.parametrize(
    ("offsets", "seen"), [((), set()), ((-1,), {4}), ((-1, 1), {4, 6}), ((2,), {7})]
)
def test_a_baseline_sees_its_neighbours_and_nothing_else(
    offsets: tuple[int, ...], seen: set[int], rows: Tensor
) -> None:
    baseline = NeighbourBaseline(offsets).fit(rows[:300], epochs=1)
    inputs = VOCABULARY.encode("q the quick ")
    changed = inputs.repeat(12, 1)
    changed.diagonal()[:] = VOCABULARY.ids["a"]
    before, after = baseline.log_probs(inputs[None])[0, 5], baseline.log_probs(changed)[:, 5]
    assert {*(after != before).any(1).nonzero().flatten().tolist()} == seen


def test_each_epoch_counts_another_part_of_a_large_text(
    monkeypatch: pytest.MonkeyPatch, rows: Tensor
) -> None:
    counted: list[Tensor] = []

    def remember(part: Tensor, **chosen: Any) -> MaskedBatch:
        counted.append(part)
        return mask_tokens(part, **chosen)

    monkeypatch.setattr("cloze.baselines.mask_tokens", remember)
    whole = NeighbourBaseline(()).fit(rows[:90], epochs=2).table
    assert [len(part) for part in counted] == [90, 90]
    counted.clear()
    monkeypatch.setattr("cloze.baselines.MOST_IN_EPOCH", 30 * 64)
    parts = NeighbourBaseline(()).fit(rows[:90], epochs=3).table
    assert torch.equal(torch.cat(counted), rows[:90])
    assert whole is not None
    assert parts is not None
    torch.testing.assert_close(whole, parts, atol=0.03, rtol=0)


def test_the_bigram_by_hand_on_a_tiny_text(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, labels = VOCABULARY.encode("ab[MASK]b")[None], VOCABULARY.encode("abab")[None]
    labels[0, 0] = IGNORE  # so b after a, a after b and b after [MASK] are counted, once each
    monkeypatch.setattr("cloze.baselines.mask_tokens", lambda *_, **__: MaskedBatch(inputs, labels))
    baseline = NeighbourBaseline((-1,), strength=2).fit(inputs, epochs=1)
    table, counts = baseline.table, baseline.counts
    assert table is not None
    assert counts is not None
    a, b, mask = VOCABULARY.encode("ab[MASK]").tolist()
    p_a, p_b = (1 + 2 / 29) / 5, (2 + 2 / 29) / 5  # the unigram: one a, two b, three in all
    assert table[a, b].item() == pytest.approx((1 + 2 * p_b) / 3)
    assert table[b, b].item() == pytest.approx((0 + 2 * p_b) / 3)
    assert table[b, a].item() == pytest.approx((1 + 2 * p_a) / 3)
    assert table[mask, b].item() == pytest.approx((1 + 2 * p_b) / 3)
    assert table[EDGE, b].item() == pytest.approx(p_b)  # never seen at an edge: the unigram
    assert counts.nonzero().tolist() == sorted([[a, b], [b, a], [mask, b]])
    assert counts.sum() == 3
