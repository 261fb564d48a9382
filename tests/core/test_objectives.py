"""Objectives: the masked one, and the seam through which others come."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch

from cloze.causal import log_probs
from cloze.checkpoint import CheckpointError
from cloze.corpus import DATA, Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import CausalLM, MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, held_out_batch, mask_tokens
from cloze.objectives import CAUSAL, MASKED
from cloze.training import Recipe, TrainingRun, fit
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary, normalise

RECIPE = Recipe(steps=30, batch_size=4, length=32, evaluations=2)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    text = normalise((DATA / "sample.txt").read_text("ascii")).text
    return Corpus((Piece("a", text),), (Piece("b", text[:128]),))


def causal_run(corpus: Corpus) -> TrainingRun:
    torch.manual_seed(0)
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=24, direction="left")
    return TrainingRun(CausalLM(config), corpus, RECIPE, objective=CAUSAL)


def test_masked_asks_by_bert_s_rule_and_is_paid_at_the_selected_positions(corpus: Corpus) -> None:
    windows = corpus.held_out_windows(32)
    batch = MASKED.ask(windows, 0.3, torch.Generator().manual_seed(1), VOCABULARY)
    same = mask_tokens(windows, 0.3, generator=torch.Generator().manual_seed(1))
    assert all(map(torch.equal, batch, same))
    model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, d_ff=24))
    paid = mlm_loss(model(batch.inputs), batch.labels).item()
    assert MASKED.loss(model, batch).item() == pytest.approx(paid, abs=1e-5)


def test_masked_is_measured_on_the_fixed_masks_whatever_it_trained_on(corpus: Corpus) -> None:
    run = TrainingRun(MaskedLM(), corpus, Recipe(mask_prob=0.5))
    fixed = held_out_batch(corpus.held_out_windows(64))
    assert all(map(torch.equal, run.held_out, fixed))
    assert run.measure() == held_out_loss(run.model, fixed)


def test_causal_asks_about_every_symbol_that_something_can_be_said_of() -> None:
    windows = torch.randint(28, (3, 7))
    batch = CAUSAL.ask(windows, 0.3, torch.Generator(), VOCABULARY)
    assert torch.equal(batch.inputs, windows)
    assert torch.equal(batch.labels, windows)
    words = Vocabulary(("cat", "dog"), (MASK, BEGIN, END, PAD))
    line = torch.tensor([[words.ids[s] for s in (BEGIN, "cat", "dog", END, PAD)]])
    assert CAUSAL.held_out(line, words).labels.tolist() == [[IGNORE, 0, 1, 4, IGNORE]]


def test_causal_pays_for_each_symbol_from_its_left(corpus: Corpus) -> None:
    windows = corpus.held_out_windows(32)
    model = CausalLM(EncoderConfig(d_model=16, n_heads=2, d_ff=24, direction="left"))
    costs = -log_probs(model, windows).gather(2, windows[..., None])
    loss = CAUSAL.loss(model, CAUSAL.held_out(windows, VOCABULARY)).item()
    assert loss == pytest.approx(costs.mean().item(), abs=1e-5)
    assert CAUSAL.measure(model, CAUSAL.held_out(windows, VOCABULARY)) == pytest.approx(loss)


def test_each_objective_trains_its_own_kind_of_model(corpus: Corpus) -> None:
    with pytest.raises(ValueError, match="The objective causal trains a CausalLM, not a MaskedLM"):
        TrainingRun(MaskedLM(), corpus, objective=CAUSAL)
    with pytest.raises(ValueError, match="The objective masked trains a MaskedLM, not a CausalLM"):
        TrainingRun(CausalLM(), corpus)


def test_another_objective_needs_no_other_training(corpus: Corpus, tmp_path: Path) -> None:
    whole, broken = causal_run(corpus), causal_run(corpus)
    before = whole.measure()
    records = list(fit(whole, progress=False))
    assert records[-1].held_out is not None
    assert records[-1].held_out < before - 0.5
    list(islice(fit(broken, progress=False), 10))
    broken.save(tmp_path / "run")
    resumed = TrainingRun.load(tmp_path / "run", corpus)
    assert resumed.objective is CAUSAL
    rest = list(fit(resumed, progress=False))
    assert [r.loss for r in rest] == [r.loss for r in records[10:]]


def test_a_run_with_an_objective_that_is_not_known_is_refused(
    corpus: Corpus, tmp_path: Path
) -> None:
    run = causal_run(corpus)
    run.objective = replace(CAUSAL, name="both ways")
    run.save(tmp_path / "run")
    with pytest.raises(CheckpointError, match="no objective 'both ways'; there are masked"):
        TrainingRun.load(tmp_path / "run", corpus)
