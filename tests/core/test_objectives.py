"""Objectives: the masked one, and the seam through which others come."""

import re
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cloze.checkpoint import CheckpointError, provenance
from cloze.corpus import DATA, Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import IGNORE, MaskedBatch, corrupt, held_out_batch, seeded, select
from cloze.objectives import CAUSAL, MASKED, masked
from cloze.prediction.causal import log_probs
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


def test_masked_is_paid_at_the_selected_positions_alone(corpus: Corpus) -> None:
    windows = corpus.held_out_windows(32)
    batch = MASKED.ask(windows, 0.3, seeded(1), VOCABULARY)
    model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, d_ff=24))
    costs = -model(batch.inputs).log_softmax(-1).gather(2, windows[..., None]).squeeze(2)
    assert 0 < batch.selected.double().mean() < 0.5
    paid = costs[batch.selected].mean().item()
    assert MASKED.loss(model, batch).item() == pytest.approx(paid, abs=1e-5)


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
    with pytest.raises(CheckpointError, match="no objective 'both ways', only masked, causal, "):
        TrainingRun.load(tmp_path / "run", corpus)


# What they are called

VOWELS_ONLY = """
import torch
from cloze.masking import corrupt, select
from cloze.objectives import masked, register
from cloze.vocabulary import VOCABULARY

def mask_vowels(input_ids, mask_prob, *, vocabulary, generator, **shares):
    vowels = torch.isin(input_ids, VOCABULARY.encode("aeiou"))
    selected = select(vowels, mask_prob, generator=generator)
    return corrupt(input_ids, selected, vocabulary=vocabulary, generator=generator, **shares)

VOWELS = register(masked("vowels only", mask_vowels))
"""
TRAIN = "train m.safetensors --steps 3 --corpus mine.txt --objective"
EVALUATE = "evaluate m.safetensors --corpus mine.txt"


def python(code: str, folder: Path) -> str:
    """Run Python code in a process of its own, in a folder with a text, and return all it says."""
    (folder / "mine.txt").write_text((DATA / "sample.txt").read_text() * 2)
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return result.stdout


def command(*words: str) -> str:
    return "".join(f"\nmain({line.split()!r})" for line in words)


def test_a_file_in_a_lesson_is_all_that_an_objective_needs(tmp_path: Path) -> None:
    lesson = tmp_path / "lessons" / "vowels"
    lesson.mkdir(parents=True)
    (lesson / "objective.py").write_text(VOWELS_ONLY)
    code = "import cloze.lessons\nfrom cloze.__main__ import main\n"
    code += f"cloze.lessons.__path__.append({str(lesson.parent)!r})"
    said = python(
        code + command(f"{TRAIN} vowels", EVALUATE).replace("'vowels'", "'vowels only'"), tmp_path
    )
    trained, measured = re.findall(r"vowels only +(\d\.\d{3}) nats", said)[-2:]
    assert trained == measured, said
    nats = provenance(tmp_path / "m.safetensors")["vowels_only_nats"]
    assert nats == pytest.approx(float(measured), abs=1e-3)


def test_an_objective_of_a_notebook_is_remembered_where_it_is_unknown(tmp_path: Path) -> None:
    here = f"""{VOWELS_ONLY * 2}  # a cell that is run again
from cloze.checkpoint import save_model
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.training import Recipe, TrainingRun
run = TrainingRun(MaskedLM(), Corpus.from_file("mine.txt"), Recipe(steps=3), VOWELS)
save_model("m.safetensors", run.model, {{}})
from cloze.__main__ import main
"""
    assert re.fullmatch(
        r"(.*\n)*vowels only +\d\.\d{3} nats\n", python(here + command(EVALUATE), tmp_path)
    )
    elsewhere = """
from cloze.__main__ import main
from cloze.checkpoint import load_model
print(type(load_model("m.safetensors")).__name__)"""
    lines = python(elsewhere + command(EVALUATE, EVALUATE + " --objective masked"), tmp_path)
    assert lines.startswith("MaskedLM\n")
    assert "cloze: There is no objective 'vowels only', only masked, causal, " in lines
    assert "register yours with cloze.objectives.register." in lines
    assert "\nmodel " in lines


IMPORTED = """
import sys
from cloze.checkpoint import CHECKPOINTS, load_model
for name in ("masked", "causal", "diffusion", "world", "world_infilling"):
    load_model(CHECKPOINTS / f"{name}.safetensors")
    print(name, *sorted(m.rpartition(".")[2] for m in sys.modules if ".objective_" in m))
"""


def test_a_checkpoint_imports_the_lesson_that_its_model_needs_and_no_other(tmp_path: Path) -> None:
    said = python(IMPORTED, tmp_path).splitlines()
    alone = ["masked", "causal", "diffusion", "world"]
    assert said == [*alone, "world_infilling objective_infilling"]
