"""Masked diffusion: what is hidden, what it costs, and the bound on −log P(x) that this gives."""

import math
from itertools import combinations, permutations
from statistics import fmean

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.checkpoint import CHECKPOINTS, provenance
from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM, Model
from cloze.lessons.writing_with_gaps.diffusion import (
    all_costs,
    curve,
    line_bound,
    random_order_cost,
)
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION, hide, line_bounds
from cloze.masking import seeded
from cloze.objectives import MASKED
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary
from cloze.world import GAPS_ONLY, Truth, World

WORDS = Vocabulary(("cat", "dog", "eats"), (MASK, BEGIN, END, PAD))
SMALL = EncoderConfig(d_model=16, n_heads=2, d_ff=24)


def exact_bound(model: Model, world: World) -> float:
    """Return the bound in nats per word over all sentences of a world, given their lengths.

    That of the exact distribution is (H(X) − H(N)) / E[N], with H(N) the entropy of the length:
    nothing is paid for the length. No model's is below that.
    """
    total = words = 0.0
    for line, p in zip(world.input_ids, world.probabilities.tolist(), strict=True):
        costs = all_costs(model, line)
        total += p * line_bound(costs)
        words += p * costs.shape[1]
    return total / words


def entropy_given_length(world: World) -> float:
    """Return (H(X) − H(N)) / E[N] of a world in nats per word: the least that any bound can be."""
    n = (world.input_ids < world.vocabulary.n_ordinary).sum(1)
    of_length = torch.zeros(int(n.max()) + 1, dtype=torch.float64)
    of_length.index_add_(0, n, world.probabilities)
    entropy_of_length = float(torch.special.entr(of_length).sum())
    return (world.entropy - entropy_of_length) / float((world.probabilities * n).sum())


def test_exactly_as_many_are_hidden_as_the_share_says_and_only_ordinary_ones() -> None:
    lines = torch.randint(28, (64, 64))
    shares = torch.arange(64) / 64
    batch = hide(lines, shares, generator=seeded(1))
    assert batch.selected.sum(1).tolist() == [*range(1, 65)]
    assert (batch.inputs[batch.selected] == VOCABULARY.mask_id).all()
    assert torch.equal(batch.labels[batch.selected], lines[batch.selected])
    assert torch.equal(batch.inputs[~batch.selected], lines[~batch.selected])
    line = torch.tensor([[WORDS.ids[s] for s in (BEGIN, "cat", "eats", "dog", END, PAD)]])
    for share, k in ((0.0, 1), (0.5, 2), (0.99, 3), (1.0, 3)):
        selected = hide(line, torch.tensor([share]), vocabulary=WORDS).selected[0]
        assert selected.sum() == k
        assert not selected[[0, 4, 5]].any()


def test_every_set_of_positions_and_every_number_is_hidden_equally_often() -> None:
    """Chi-squared with 30 degrees of freedom lies above 67.6 once in ten thousand times."""
    n, times = 5, 31_000
    lines = torch.zeros(times, n, dtype=torch.int64)
    chance = seeded(0)
    selected = hide(lines, torch.rand(times, generator=chance), generator=chance).selected
    counts = torch.bincount((selected * 2 ** torch.arange(n)).sum(1), minlength=2**n)
    each = times / n  # of each number k: the same
    total = torch.zeros(())
    for k in range(1, n + 1):
        sets = [sum(2**i for i in chosen) for chosen in combinations(range(n), k)]
        for code in sets:
            total += (counts[code] - each / len(sets)) ** 2 / (each / len(sets))
    assert counts[0] == 0
    assert total < 67.6


def test_a_line_counts_n_over_k_times_what_its_gaps_cost() -> None:
    torch.manual_seed(0)
    model = MaskedLM(SMALL)
    lines = torch.randint(28, (6, 20))
    batch = hide(lines, torch.linspace(0, 1, 6))
    costs, n = line_bounds(model, batch)
    assert n.tolist() == [20] * 6
    for row in range(6):
        gaps = batch.selected[row]
        said = model(batch.inputs[row : row + 1])[0].log_softmax(-1)
        paid = -said[gaps].gather(1, lines[row, gaps, None]).sum()
        assert costs[row].item() == pytest.approx(20 / gaps.sum().item() * paid.item(), rel=1e-5)
    assert DIFFUSION.loss(model, batch).item() == pytest.approx(costs.sum().item() / 120)


def test_what_is_held_out_is_always_hidden_the_same_way() -> None:
    windows = torch.randint(28, (40, 32))
    first, second = (DIFFUSION.held_out(windows, VOCABULARY) for _ in range(2))
    assert all(map(torch.equal, first, second))
    assert first.labels.where(first.selected, first.inputs).equal(windows.repeat_interleave(4, 0))
    assert first.selected.sum(1).float().mean() == pytest.approx(16.5, abs=0.5)
    assert DIFFUSION.measured != MASKED.measured  # a bound is never compared with held-out loss


# The bound


SENTENCES = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join),
    min_size=1,
    max_size=6,
    unique=True,
)


class Opinionated:
    """A reader with some opinion about every gap of every line, whatever is true."""

    def __init__(self, world: World, seed: int) -> None:
        self.vocabulary, self.seed = world.vocabulary, seed

    def logits_at(self, input_ids: torch.Tensor, selected: torch.Tensor) -> torch.Tensor:
        found = []
        for line, here in zip(input_ids, selected, strict=True):
            chance = seeded(hash((self.seed, *line.tolist())) % 2**31)
            found.append(3 * torch.randn(len(line), len(self.vocabulary), generator=chance)[here])
        return torch.cat(found)


@given(SENTENCES, st.integers(0, 99), st.data())
@settings(max_examples=40, deadline=None)
def test_no_model_is_below_the_entropy_given_the_length_and_the_exact_one_is_at_it(
    sentences: list[str], seed: int, data: st.DataObject
) -> None:
    weights = [data.draw(st.integers(1, 20)) for _ in sentences]
    world = World({s: w / sum(weights) for s, w in zip(sentences, weights, strict=True)})
    least = entropy_given_length(world)
    assert exact_bound(Truth(world, corruption=GAPS_ONLY), world) == pytest.approx(least, abs=1e-9)
    assert exact_bound(Opinionated(world, seed), world) >= least - 1e-9


def test_the_bound_is_the_mean_over_all_orders_and_no_order_is_paid_less_than_their_mixture() -> (
    None
):
    world = World({"a b c": 0.5, "b a a": 0.3, "c c b": 0.2})
    model = Opinionated(world, 7)
    for line in world.input_ids:
        costs = all_costs(model, line)
        paths = []
        for order in permutations(range(3)):
            hidden, paid = 0b111, 0.0
            for i in order:
                paid += float(costs[hidden, i])
                hidden ^= 1 << i
            paths.append(paid)
        assert line_bound(costs) == pytest.approx(sum(paths) / 6)
        mixture = -math.log(sum(math.exp(-paid) for paid in paths) / 6)
        assert random_order_cost(costs) == pytest.approx(mixture)
        assert mixture <= line_bound(costs)


def test_the_estimate_is_near_the_exact_bound() -> None:
    world = World({"a b c": 0.5, "b a": 0.3, "c c b a": 0.2})
    model = Opinionated(world, 3)
    questions = DIFFUSION.held_out(world.sample(4000, generator=seeded(1)), world.vocabulary)
    assert DIFFUSION.measure(model, questions) == pytest.approx(exact_bound(model, world), abs=0.05)


def test_a_curve_s_mean_height_is_the_bound() -> None:
    torch.manual_seed(0)
    model, windows = MaskedLM(SMALL).eval(), torch.randint(28, (400, 6))
    bound = DIFFUSION.measure(model, DIFFUSION.held_out(windows, VOCABULARY))
    assert fmean(curve(model, windows)) == pytest.approx(bound, abs=0.02)


@pytest.mark.slow
def test_the_shipped_model_is_as_good_as_it_says() -> None:
    made_by = provenance(CHECKPOINTS / "diffusion.safetensors")
    corpus, model = Corpus.load(), shipped_model("diffusion")
    assert made_by["corpus_sha256"] == corpus.sha256
    assert made_by["steps"] == 16_000
    questions = DIFFUSION.held_out(corpus.held_out_windows(), VOCABULARY)
    nats = DIFFUSION.measure(model, questions)
    assert nats == pytest.approx(made_by["bound_nats"], abs=2e-3)
