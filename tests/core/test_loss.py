"""The loss, against torch and the formula by hand; the baselines, against counts by hand."""

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from cloze.baselines import BASELINES, NeighbourBaseline, baseline_losses, uniform_loss
from cloze.corpus import Corpus, windows
from cloze.loss import mlm_loss, perplexity, to_bits
from cloze.masking import IGNORE, MaskedBatch, held_out_batch, mask_tokens
from cloze.vocabulary import VOCABULARY

EDGE = len(VOCABULARY)


# The formula


def some_logits_and_labels(shape: list[int], n_symbols: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(*shape, n_symbols, generator=generator)
    labels = torch.randint(n_symbols, shape, generator=generator)
    labels[torch.rand(shape, generator=generator) < 0.5] = IGNORE
    labels.view(-1)[0] = 0  # one is always selected
    return logits, labels


@settings(deadline=None, derandomize=True)
@given(
    shape=st.lists(st.integers(1, 6), max_size=3),
    n_symbols=st.integers(1, 30),
    seed=st.integers(0, 2**32),
)
def test_the_loss_is_torch_s_and_the_sum_by_hand(
    shape: list[int], n_symbols: int, seed: int
) -> None:
    logits, labels = some_logits_and_labels(shape, n_symbols, seed)
    rows, answers = logits.double().reshape(-1, n_symbols), labels.reshape(-1).tolist()
    by_hand = 0.0
    for row, answer in zip(rows.tolist(), answers, strict=True):
        if answer != IGNORE:
            by_hand -= math.log(math.exp(row[answer]) / sum(map(math.exp, row)))
    size = sum(answer != IGNORE for answer in answers)
    assert mlm_loss(logits, labels, "sum").item() == pytest.approx(by_hand, rel=1e-6, abs=1e-6)
    assert mlm_loss(logits, labels).item() == pytest.approx(by_hand / size, rel=1e-6, abs=1e-6)
    torchs = F.cross_entropy(rows.float(), labels.reshape(-1), ignore_index=-100)
    assert mlm_loss(logits, labels).item() == pytest.approx(torchs.item(), abs=1e-6)


def test_only_selected_positions_enter_the_loss_and_get_a_gradient() -> None:
    logits, labels = some_logits_and_labels([4, 8], 29, seed=0)
    hidden = labels == IGNORE
    logits.requires_grad_()
    loss = mlm_loss(logits, labels)
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert not logits.grad[hidden].any()
    assert logits.grad[~hidden].any(-1).all()
    elsewhere = torch.where(hidden[..., None], logits + 5 * torch.randn_like(logits), logits)
    assert mlm_loss(elsewhere, labels).item() == loss.item()


def test_nothing_selected_is_an_error_and_never_nan() -> None:
    with pytest.raises(ValueError, match=r"^No position is selected: every label is -100"):
        mlm_loss(torch.zeros(2, 3, 29), torch.full((2, 3), IGNORE))


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 4), (2, 3, 29)])
def test_labels_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"Logits of shape \(2, 3, 29\) need labels of .*\(2, 3\)"):
        mlm_loss(torch.zeros(2, 3, 29), torch.zeros(shape, dtype=torch.long))


def test_units() -> None:
    assert uniform_loss() == pytest.approx(3.3673, abs=1e-4)
    assert uniform_loss(2) == math.log(2)
    assert to_bits(math.log(8)) == pytest.approx(3)
    assert perplexity(uniform_loss()) == pytest.approx(29)


# The baselines


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
    assert losses["uniform"] == uniform_loss()
    assert losses["unigram"] == pytest.approx(2.80, abs=0.02)


@pytest.mark.parametrize("offsets", [*BASELINES.values(), (-2, 3)])
def test_probabilities_sum_to_one(offsets: tuple[int, ...], rows: Tensor) -> None:
    baseline = NeighbourBaseline(offsets).fit(rows[:100], epochs=1)
    assert baseline.table is not None
    assert baseline.table.shape == (30 ** len(offsets), 29)
    assert baseline.table.sum(1).numpy() == pytest.approx(1)
    assert (baseline.table > 0).all()
    log_probs = baseline.log_probs(rows[:5])
    assert log_probs.shape == (5, 64, 29)
    assert log_probs.exp().sum(-1).numpy() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("offsets", "seen"), [((), set()), ((-1,), {4}), ((-1, 1), {4, 6}), ((2,), {7})]
)
def test_a_baseline_sees_its_neighbours_and_nothing_else(
    offsets: tuple[int, ...], seen: set[int], rows: Tensor
) -> None:
    baseline = NeighbourBaseline(offsets).fit(rows[:300], epochs=1)
    inputs = VOCABULARY.encode("qthe quick a")[None]
    before = baseline.log_probs(inputs)[0, 5]
    moved = set()
    for position in range(inputs.shape[1]):
        changed = inputs.clone()
        changed[0, position] = VOCABULARY.ids["e"] if changed[0, position] != 6 else 2
        if not torch.equal(baseline.log_probs(changed)[0, 5], before):
            moved.add(position)
    assert moved == seen


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


def test_the_unigram_is_a_count_with_two_imaginary_observations(rows: Tensor) -> None:
    table = NeighbourBaseline(()).fit(rows, epochs=20).table
    assert table is not None
    counted = torch.bincount(rows.flatten(), minlength=29) / rows.numel()
    assert table[0].numpy() == pytest.approx(counted.numpy(), abs=2e-3)
    # [MASK] is never an answer: only the smoothing, 2/29 of an observation, gives it anything.
    assert 0 < table[0, VOCABULARY.mask_id] < 1e-5


def test_the_bigram_by_hand_on_a_tiny_text(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, labels = VOCABULARY.encode("ab[MASK]b")[None], VOCABULARY.encode("abab")[None]
    labels[0, 0] = IGNORE  # so b after a, a after b and b after [MASK] are counted, once each
    monkeypatch.setattr("cloze.baselines.mask_tokens", lambda *_, **__: MaskedBatch(inputs, labels))
    table = NeighbourBaseline((-1,), strength=2).fit(inputs, epochs=1).table
    assert table is not None
    a, b, mask = VOCABULARY.encode("ab[MASK]").tolist()
    p_a, p_b = (1 + 2 / 29) / 5, (2 + 2 / 29) / 5  # the unigram: one a, two b, three in all
    assert table[a, b].item() == pytest.approx((1 + 2 * p_b) / 3)
    assert table[b, b].item() == pytest.approx((0 + 2 * p_b) / 3)
    assert table[b, a].item() == pytest.approx((1 + 2 * p_a) / 3)
    assert table[mask, b].item() == pytest.approx((1 + 2 * p_b) / 3)
    assert table[EDGE, b].item() == pytest.approx(p_b)  # never seen at an edge: the unigram


def test_a_baseline_that_has_counted_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="Call fit"):
        NeighbourBaseline((-1,)).log_probs(torch.zeros(1, 4, dtype=torch.long))
