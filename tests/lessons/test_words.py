"""The training of the words' encoder, on a few sentences."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from cloze.checkpoint import WORDS, load_model
from cloze.prediction.shipped import shipped_model
from cloze.teaching.measurements import load_results
from cloze.tokenizer import Tokenizer
from measured.training import words
from measured.words import text, train

SENTENCES = "The café isn't open — “Tea,” she said; it was 1912.\nHe drank his tea.\n"


def test_a_run_is_saved_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text(SENTENCES * 400, encoding="utf-8")
    monkeypatch.setattr(text, "PIECES", 300)
    monkeypatch.setattr(text, "MEASURED", 320)
    monkeypatch.setattr(sys, "argv", ["text", str(tmp_path)])
    text.main()
    made = text.Text(tmp_path)
    assert len(made.held_out["a"]) < len(made.train) / 20

    size = len(made.vocabulary)
    small = replace(train.CONFIG, vocab_size=size, d_model=16, n_heads=2, n_layers=1, d_ff=16)
    monkeypatch.setattr(train, "CONFIG", small)
    monkeypatch.setattr(sys, "argv", ["train", str(tmp_path), "--hours", "0"])
    steps = []
    for _ in range(2):
        train.main()
        model = load_model(tmp_path / "words.safetensors")
        assert model.vocabulary == made.vocabulary
        steps.append(train.begun(made, train.options_of([str(tmp_path), "--hours", "0"])).step)
    assert 0 < steps[0] < steps[1]

    (tmp_path / "training").mkdir()
    monkeypatch.setattr(words, "LESSONS", tmp_path)
    monkeypatch.setattr(words, "WORDS", tmp_path / "small.safetensors")
    monkeypatch.setattr(sys, "argv", ["words", str(tmp_path)])
    words.main()
    new = json.loads((tmp_path / "training" / "words.json").read_text("utf-8"))
    committed = load_results("training", "words")
    assert new.keys() == committed.keys()
    found = new["by source"]["held out"]["a"]
    assert found.keys() == committed["by source"]["held out"]["corpus"].keys()
    assert found["both neighbours"] < found["unigram"]
    assert found["words"]["nats"] == pytest.approx(found["words in 8 bits"]["nats"], abs=0.02)
    assert "merges" in json.loads((tmp_path / "pieces.json").read_text())


def test_the_model_that_ships_is_the_one_that_was_measured(tmp_path: Path) -> None:
    model = shipped_model("words")
    _, paragraphs = text.sources(tmp_path)["corpus"]
    ids = torch.tensor([*text.encoded(Tokenizer.of(model.vocabulary), paragraphs)])
    measured = load_results("training", "words")["by source"]["held out"]["corpus"]
    assert words.scores(model, ids) == pytest.approx(measured["words in 8 bits"], abs=1e-3)
    assert WORDS.stat().st_size < 9e6
