"""Masked diffusion: what is hidden, what it costs, and the bound on −log P(x) that this gives."""

import math
from itertools import permutations
from statistics import fmean

import pytest
import torch

from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM, Model
from cloze.lessons.writing_with_gaps.diffusion import all_costs, curve, line_bound
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION, hide, line_bounds
from cloze.masking import seeded
from cloze.objectives import MASKED
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary
from cloze.world import World
from measured.writing_with_gaps.samplers import random_order_cost

WORDS = Vocabulary(("cat", "dog", "eats"), (MASK, BEGIN, END, PAD))
SMALL = EncoderConfig(d_model=16, n_heads=2, d_ff=24)


def exact_bound(model: Model, world: World) -> float:
    """Return the bound in nats per word over all sentences of a world, given their lengths."""
    total = words = 0.0
    for line, p in zip(world.input_ids, world.probabilities.tolist(), strict=True):
        costs = all_costs(model, line)
        total += p * line_bound(costs)
        words += p * costs.shape[1]
    return total / words


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
    assert DIFFUSION.measured != MASKED.measured  # a bound is never compared with held-out loss


# The bound


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
