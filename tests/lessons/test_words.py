"""The training of the words' encoder, on a few sentences."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cloze.checkpoint import load_model
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
    assert "merges" in json.loads((tmp_path / "pieces.json").read_text())
