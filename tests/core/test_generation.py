"""Generation: orders, steps, remasking, resampling, and what a line costs on its path."""

import math
from itertools import permutations

import pytest
import torch
from torch import Tensor

from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM, MaskedLM, log_probs_at
from cloze.masking import seeded
from cloze.prediction.generation import POLICIES, draw, gibbs, mask_predict, unmask, write
from cloze.vocabulary import VOCABULARY, TextError
from cloze.world import Corruption, Truth, World
from measured.writing_with_gaps.samplers import path_costs

MASK = VOCABULARY.mask_id


torch.manual_seed(0)
MODEL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, d_ff=24)).requires_grad_(False)


def lines_with_gaps() -> Tensor:
    lines = torch.randint(28, (5, 12), generator=seeded(0))
    gaps = torch.rand(lines.shape, generator=seeded(1)) < 0.5
    gaps[0] = False
    gaps[0, 3] = True
    return lines.masked_fill(gaps, MASK)


@pytest.mark.parametrize("policy", POLICIES)
def test_all_gaps_are_filled_nothing_else_is_changed_and_chance_repeats(policy: str) -> None:
    lines = lines_with_gaps()
    written = write(MODEL, lines, policy, generator=seeded(5))
    assert torch.equal(lines, lines_with_gaps())
    assert (written < 28).all()
    assert torch.equal(written[lines != MASK], lines[lines != MASK])
    assert torch.equal(written, write(MODEL, lines, policy, generator=seeded(5)))
    assert not torch.equal(written, write(MODEL, lines, policy, generator=seeded(6)))


@pytest.mark.parametrize("policy", POLICIES)
def test_each_step_says_what_it_wrote_and_what_the_model_gave_it(policy: str) -> None:
    lines = lines_with_gaps()
    open_gaps, before = lines == MASK, lines
    steps = POLICIES[policy](MODEL, lines, temperature=0.0, generator=seeded(0))
    for step in steps:
        assert len(step.probabilities) == int(step.filled.sum())
        # What the model saw: the gaps as they were, and for Gibbs what it draws anew.
        seen = before if policy != "Gibbs" else before.masked_fill(step.filled, MASK)
        probs = log_probs_at(MODEL, seen, step.filled).exp()
        assert torch.allclose(step.probabilities, probs, atol=1e-5)
        best = torch.zeros_like(lines)
        best[step.filled] = probs.argmax(1)
        now = step.filled & ~step.remasked
        assert torch.equal(step.lines[now], best[now])
        assert ((step.lines == MASK) == (open_gaps & ~step.filled | step.remasked)).all()
        open_gaps, before = step.lines == MASK, step.lines
    assert not open_gaps.any()


def test_left_to_right_and_easiest_first_take_the_gap_they_are_named_for() -> None:
    lines = lines_with_gaps()
    for step in unmask(MODEL, lines, "left to right", temperature=0.0):
        for row in set(step.filled.nonzero()[:, 0].tolist()):
            assert step.filled[row].sum() == 1
            assert not (step.lines[row] == MASK)[: int(step.filled[row].nonzero())].any()
    before = lines
    for step in unmask(MODEL, lines, "easiest first", temperature=0.0):
        sure = torch.zeros(lines.shape)
        sure[before == MASK] = log_probs_at(MODEL, before, before == MASK).exp().amax(1)
        for row in set(step.filled.nonzero()[:, 0].tolist()):
            assert sure[row].argmax() == step.filled[row].nonzero().item()
        before = step.lines


def test_random_orders_are_all_equally_likely() -> None:
    """600 draws of 6 orders: chi-squared with 5 degrees is below 25.7 but once in 10 000 times."""
    lines = torch.full((600, 3), MASK)
    order = torch.zeros(600, 3)
    for number, step in enumerate(unmask(MODEL, lines, "random order", generator=seeded(0))):
        order[step.filled] = float(number)
    counts = [(order == torch.tensor(p)).all(1).sum().item() for p in permutations((0.0, 1.0, 2.0))]
    assert sum(counts) == 600
    assert sum((n - 100) ** 2 / 100 for n in counts) < 25.7


@pytest.mark.parametrize("steps", [1, 7, 12])
def test_so_many_looks_share_the_gaps_evenly(steps: int) -> None:
    lines = torch.full((2, 12), MASK)
    filled = [step.filled.sum(1) for step in unmask(MODEL, lines, "random order", steps)]
    assert len(filled) == steps
    assert all((n == 12 // steps).all() or (n == -(-12 // steps)).all() for n in filled)


def test_mask_predict_takes_back_the_least_sure_and_ever_fewer() -> None:
    lines = torch.full((3, 20), MASK)
    steps = [*mask_predict(MODEL, lines, 5)]
    assert [int(s.remasked[0].sum()) for s in steps] == [16, 12, 8, 4, 0]
    sure = torch.zeros(lines.shape)
    for step in steps:
        sure[step.filled] = step.probabilities.amax(1)
        for row in range(3):
            if step.remasked[row].any():
                kept = ~step.remasked[row]
                assert sure[row][step.remasked[row]].max() <= sure[row][kept].min()


def test_gibbs_comes_to_every_gap_in_every_round() -> None:
    lines = lines_with_gaps()
    first, *rest = gibbs(MODEL, lines, 2, generator=seeded(0))
    assert torch.equal(first.filled, lines == MASK)
    visits = torch.stack([step.filled for step in rest]).sum(0)
    assert torch.equal(visits, 2 * (lines == MASK))
    assert next(gibbs(MODEL, lines, 0, generator=seeded(0))).lines.equal(first.lines)


def test_a_temperature_bends_the_odds() -> None:
    p = torch.tensor([0.1, 0.6, 0.3]).repeat(20_000, 1)
    assert (draw(p, 0.0) == 1).all()
    for temperature in (0.5, 1.0, 2.0):
        bent = p[0].double() ** (1 / temperature)
        bent /= bent.sum()
        share = torch.bincount(draw(p, temperature, seeded(0)), minlength=3) / len(p)
        assert (share - bent).abs().max() < 5 * 0.5 / len(p) ** 0.5


# Exactly, in a small world


WORLD = World({"a a": 0.4, "b b": 0.4, "a b": 0.1, "b a": 0.1})
EXACT = Truth(WORLD, corruption=Corruption(0.5, 1 - 1e-9, 1e-9))


@pytest.mark.parametrize("order", ["left to right", "easiest first", "random order"])
def test_one_at_a_time_the_exact_reader_pays_exactly_the_sentence(order: str) -> None:
    costs = path_costs(EXACT, WORLD.input_ids, order)  # type: ignore[arg-type]
    assert costs.tolist() == pytest.approx((-WORLD.probabilities.log()).tolist(), abs=1e-6)


def test_all_at_once_even_the_exact_reader_loses_what_holds_words_together() -> None:
    costs = path_costs(EXACT, WORLD.input_ids, steps=1)
    assert costs.tolist() == pytest.approx([math.log(4)] * 4)


@pytest.mark.parametrize("policy", ["left to right", "easiest first", "random order", "Gibbs"])
def test_the_exact_reader_writes_what_is_said_as_often_as_it_is_said(policy: str) -> None:
    """Three standard errors of 4 000 draws, and for Gibbs what three rounds have not yet mixed."""
    n = 4000
    written = write(EXACT, WORLD.encode("_ _").repeat(n, 1), policy, generator=seeded(0))
    for line, p in zip(WORLD.input_ids, WORLD.probabilities.tolist(), strict=True):
        share = (written == line).all(1).float().mean().item()
        assert share == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / n) + 0.01)


def test_what_cannot_be_written_is_refused() -> None:
    gaps = torch.full((1, 4), MASK)
    assert (write(CausalLM(), gaps, "left to right") < 28).all()
    for policy in ("easiest first", "mask-predict", "Gibbs"):
        with pytest.raises(ValueError, match="A causal model"):
            write(CausalLM(), gaps, policy)
    with pytest.raises(TextError, match="The line has no gap"):
        write(MODEL, torch.zeros(1, 4, dtype=torch.int64))
