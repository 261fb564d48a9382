"""The command line with causal models, and the causal models that ship with the series."""

from pathlib import Path

import pytest
from torch import nn

from cloze.__main__ import main
from cloze.checkpoint import CHECKPOINTS, load_model, provenance
from cloze.corpus import DATA, Corpus
from cloze.heads import CausalLM
from cloze.objectives import CAUSAL
from cloze.prediction.shipped import shipped_model
from cloze.world import World

CAPTURE = pytest.CaptureFixture[str]
TRAIN = ["train", "m.safetensors", "--steps", "2", "--corpus", "mine.txt", "--objective", "causal"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a small text file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text((DATA / "sample.txt").read_text() * 2)
    return tmp_path


def test_a_causal_model_is_trained_measured_and_asked(here: Path, capsys: CAPTURE) -> None:
    assert main(TRAIN) == 0
    said = capsys.readouterr().out
    made_by = provenance(here / "m.safetensors")
    assert made_by["command"] == f"python -m cloze {' '.join(TRAIN)}"
    assert f"next-symbol {made_by['next_symbol_nats']:.3f} nats after 2 steps" in said
    assert "held_out_nats" not in made_by  # another question has another name
    assert isinstance(load_model(here / "m.safetensors"), CausalLM)
    assert main(["evaluate", "m.safetensors", "--corpus", "mine.txt"]) == 0
    assert capsys.readouterr().out.split() == [
        "next-symbol",
        f"{made_by['next_symbol_nats']:.3f}",
        "nats",
    ]
    assert main(["fill", "the c_t", "--checkpoint", "m.safetensors", "-k", "1"]) == 0
    assert "position 5: " in capsys.readouterr().out
    assert main(["fill", "____", "--checkpoint", "m.safetensors"]) == 1
    assert "614,656 ways" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["causal", "world_causal"])
def test_a_shipped_causal_model_is_as_good_as_it_says(name: str) -> None:
    path = CHECKPOINTS / f"{name}.safetensors"
    made_by = provenance(path)
    source: Corpus | World = Corpus.load() if name == "causal" else World.load()
    model: nn.Module = shipped_model(name)
    assert path.stat().st_size <= 1_300_000
    assert made_by["command"].startswith(f"python -m cloze train data/checkpoints/{path.name} ")
    assert made_by["corpus_sha256"] == source.sha256
    assert isinstance(model, CausalLM)
    asked = CAUSAL.held_out(source.held_out_windows(model.config.max_len), source.vocabulary)
    assert CAUSAL.measure(model, asked) == pytest.approx(made_by["next_symbol_nats"], abs=1e-3)
