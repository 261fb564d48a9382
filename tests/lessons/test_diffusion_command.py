"""The command line with the diffusion objective, and the model that ships with the series."""

from pathlib import Path

import pytest

from cloze.__main__ import main
from cloze.checkpoint import CHECKPOINTS, load_model, provenance
from cloze.corpus import DATA, Corpus
from cloze.heads import MaskedLM
from cloze.lessons.writing_with_gaps.objective_diffusion import DIFFUSION
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

CAPTURE = pytest.CaptureFixture[str]
WORDS = ["--steps", "2", "--corpus", "mine.txt", "--objective", "diffusion"]
TRAIN = ["train", "m.safetensors", *WORDS]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a small text file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text((DATA / "sample.txt").read_text() * 2)
    return tmp_path


def test_it_is_trained_and_measured_by_its_bound(here: Path, capsys: CAPTURE) -> None:
    assert main(TRAIN) == 0
    said = capsys.readouterr().out
    made_by = provenance(here / "m.safetensors")
    assert f"bound {made_by['bound_nats']:.3f} nats after 2 steps" in said
    assert "held_out_nats" not in made_by  # another question has another name
    assert type(load_model(here / "m.safetensors")) is MaskedLM
    ask = ["evaluate", "m.safetensors", "--corpus", "mine.txt", "--objective", "diffusion"]
    assert main(ask) == 0
    assert capsys.readouterr().out.split() == ["bound", f"{made_by['bound_nats']:.3f}", "nats"]


def test_a_causal_model_is_not_asked_for_a_bound(capsys: CAPTURE) -> None:
    causal = str(CHECKPOINTS / "causal.safetensors")
    assert main(["evaluate", causal, "--objective", "diffusion"]) == 1
    said = capsys.readouterr().err
    assert "The objective diffusion needs a MaskedLM" in said
    assert said.count("\n") == 1


@pytest.mark.slow
def test_the_shipped_model_is_as_good_as_it_says() -> None:
    made_by = provenance(CHECKPOINTS / "diffusion.safetensors")
    corpus, model = Corpus.load(), shipped_model("diffusion")
    assert made_by["corpus_sha256"] == corpus.sha256
    assert made_by["steps"] == 16_000
    questions = DIFFUSION.held_out(corpus.held_out_windows(), VOCABULARY)
    nats = DIFFUSION.measure(model, questions)
    assert nats == pytest.approx(made_by["bound_nats"], abs=2e-3)
