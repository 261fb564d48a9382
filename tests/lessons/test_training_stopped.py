"""Notebook 04 when its training was stopped: every later cell says how to go on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.lessons.training import figures
from cloze.training import Recipe, TrainingRun
from cloze.widgets import TrainingCurve

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "04_training.ipynb"


def test_cells_after_a_stopped_training_say_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = [
        c.source for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"
    ]
    after = sources[sources.index("curve.train()") + 1 :]
    dependent = [source for source in after if re.search(r"\b(held|costs)\[(\d|max)", source)]
    assert len(dependent) >= 5
    piece = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)
    corpus = Corpus((piece,), (piece,))
    small = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)
    run = TrainingRun(MaskedLM(small), corpus, Recipe(batch_size=2))
    curve = TrainingCurve(run)
    curve.on_record = lambda _: curve.stop()
    for step in (0, 1):
        names: dict[str, Any] = {
            "run": run,
            "curve": curve,
            "recipe": run.recipe,
            "figures": figures,
        }
        names |= {"prices": {"left bigram": 2.3, "both neighbours": 1.7, "uniform": 3.4}}
        names |= {"costs": {}, "moments": (1, 1100), "own_price": 2.6, "stuck": {120: 2.6}}
        # What this cell trains first is another model.
        names |= {"fit": lambda *_, **__: [], "TrainingRun": lambda *_: None, "corpus": None}
        names |= {"torch": torch, "MaskedLM": MaskedLM, "EncoderConfig": lambda **_: small}
        names |= {"Recipe": Recipe, "held_out": None, "held_out_loss": lambda *_: 3.0}
        capsys.readouterr()
        for source in dependent:
            exec(source, names)
        said = capsys.readouterr().out
        sentence = f"Training was stopped at step {step}, and this cell needs step"
        assert said.count(sentence) == len(dependent)
        curve.train()
