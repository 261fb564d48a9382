"""Objectives: the masked one, and the seam through which others come."""

import math
from pathlib import Path

import pytest
import torch

from cloze.checkpoint import load_model, save_model
from cloze.corpus import DATA, Corpus, Piece
from cloze.evaluation import held_out_loss
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import IGNORE, held_out_batch
from cloze.objectives import CAUSAL, MASKED, masked, objective_named
from cloze.prediction.causal import log_probs
from cloze.training import Recipe, TrainingRun
from cloze.vocabulary import BEGIN, END, MASK, PAD, VOCABULARY, Vocabulary, normalise

RECIPE = Recipe(batch_size=4, length=32)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    text = normalise((DATA / "sample.txt").read_text("ascii")).text
    return Corpus((Piece("a", text),), (Piece("b", text[:128]),))


def test_masked_is_measured_on_the_fixed_masks_whatever_it_trained_on(corpus: Corpus) -> None:
    run = TrainingRun(MaskedLM(), corpus, Recipe(mask_prob=0.5))
    fixed = held_out_batch(corpus.held_out_windows(64))
    assert all(map(torch.equal, run.held_out, fixed))
    assert run.measure() == held_out_loss(run.model, fixed)


def test_another_way_to_mask_is_measured_on_its_own_questions(corpus: Corpus) -> None:
    hidden = masked("hidden", mask_share=1.0, random_share=0.0)
    batch = TrainingRun(MaskedLM(), corpus, RECIPE, hidden).held_out
    assert batch.inputs[batch.selected].unique().tolist() == [VOCABULARY.mask_id]
    assert batch.selected.float().mean().item() == pytest.approx(0.15, abs=0.1)
    assert (hidden.measured, MASKED.measured) == ("hidden", "held-out")


def test_a_causal_run_remembers_its_objective(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="The objective causal trains a CausalLM, not a MaskedLM"):
        TrainingRun(MaskedLM(), corpus, objective=CAUSAL)
    model = CausalLM()
    run = TrainingRun(model, corpus, RECIPE, objective=CAUSAL)
    costs = -log_probs(model, run.held_out.inputs).gather(2, run.held_out.inputs[..., None])
    assert run.measure() == pytest.approx(costs.mean().item(), abs=1e-5)
    assert run.train_step() == pytest.approx(math.log(28), abs=1)
    run.save(tmp_path / "run")
    assert TrainingRun.load(tmp_path / "run", corpus).objective is CAUSAL


def test_an_objective_of_a_notebook_is_remembered_where_it_is_unknown(tmp_path: Path) -> None:
    model = MaskedLM()
    model.objective = "vowels only"
    save_model(tmp_path / "model", model, {})
    assert load_model(tmp_path / "model").objective == "vowels only"
    with pytest.raises(ValueError, match="no objective 'vowels only', only masked, causal, "):
        objective_named("vowels only")


def test_causal_asks_about_every_symbol_that_something_can_be_said_of() -> None:
    windows = torch.randint(28, (3, 7))
    batch = CAUSAL.ask(windows, 0.3, torch.Generator(), VOCABULARY)
    assert torch.equal(batch.inputs, windows)
    assert torch.equal(batch.labels, windows)
    words = Vocabulary(("cat", "dog"), (MASK, BEGIN, END, PAD))
    line = torch.tensor([[words.ids[s] for s in (BEGIN, "cat", "dog", END, PAD)]])
    assert CAUSAL.held_out(line, words).labels.tolist() == [[IGNORE, 0, 1, 4, IGNORE]]
