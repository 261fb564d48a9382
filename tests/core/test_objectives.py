"""Objectives: the masked one, and the seam through which others come."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cloze.checkpoint import load_model, save_model
from cloze.corpus import DATA, Corpus, Piece
from cloze.evaluation import held_out_loss
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import IGNORE, MaskedBatch, corrupt, held_out_batch, select
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


VOWELS = VOCABULARY.encode("aeiou")


def mask_vowels(
    input_ids: Tensor,
    mask_prob: float,
    *,
    vocabulary: Vocabulary,
    generator: torch.Generator,
    **shares: float,
) -> MaskedBatch:
    selected = select(torch.isin(input_ids, VOWELS), mask_prob, generator=generator)
    return corrupt(input_ids, selected, vocabulary=vocabulary, generator=generator, **shares)


def test_another_way_to_mask_is_measured_on_its_own_questions_unless_told(corpus: Corpus) -> None:
    vowels = masked("vowels only", mask_vowels, mask_share=1.0, random_share=0.0)
    run = TrainingRun(MaskedLM(), corpus, RECIPE, vowels)
    asked = run.held_out.labels[run.held_out.selected]
    assert torch.isin(asked, VOWELS).all()
    assert run.held_out.inputs[run.held_out.selected].unique().tolist() == [VOCABULARY.mask_id]
    assert (vowels.measured, MASKED.measured) == ("vowels only", "held-out")
    common = replace(vowels, held_out=MASKED.held_out, measured=MASKED.measured)
    run = TrainingRun(MaskedLM(), corpus, RECIPE, common)
    assert all(map(torch.equal, run.held_out, held_out_batch(corpus.held_out_windows(32))))


def test_a_causal_run_remembers_its_objective(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="The objective causal trains a CausalLM, not a MaskedLM"):
        TrainingRun(MaskedLM(), corpus, objective=CAUSAL)
    run = TrainingRun(CausalLM(), corpus, RECIPE, objective=CAUSAL)
    costs = -log_probs(run.model, run.held_out.inputs).gather(2, run.held_out.inputs[..., None])
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
