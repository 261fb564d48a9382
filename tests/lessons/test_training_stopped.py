"""Notebook 04 when its training was stopped: every later cell works, and says what it lacks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.lessons.training import plateau
from cloze.training import Recipe
from notebooks import colab

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "04_training.ipynb"
OF_THE_RUN = re.compile(r"\b(run\.(model|history|seconds)|held|history|fillings)\b(?!-)")
SENTENCE = "Training is at step {}, and this cell needs step "


class SmallCorpus(Corpus):
    """A corpus that is counted at once."""

    @classmethod
    def load(cls, *_: Any) -> Corpus:
        piece = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)
        return Corpus((piece,), (piece,))


def test_cells_after_a_stopped_training_work_and_say_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [
        cell.source
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells
        if cell.cell_type == "code" and colab.TAG not in cell.metadata.get("tags", [])
    ]
    training = sources.index("curve.train()")
    small = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)
    names: dict[str, Any] = {"display": lambda *_: None}
    exec(sources[0], names)
    # The notebook's own cells, with a model and a text that take no time.
    names["EncoderConfig"] = lambda **_: small
    names["MaskedLM"] = lambda *_: MaskedLM(small)
    names["Recipe"] = lambda **changed: Recipe(**{"batch_size": 2, **changed})
    names["Corpus"] = SmallCorpus
    monkeypatch.setattr(plateau, "placed", lambda: MaskedLM(small))
    monkeypatch.setattr(plateau, "Recipe", lambda: Recipe(batch_size=2))
    for source in sources[1:training]:
        exec(source, names)
    names["Recipe"] = lambda **changed: Recipe(**changed | {"batch_size": 2})
    after = sources[training + 1 :]
    assert sum(bool(OF_THE_RUN.search(source)) for source in after) >= 5

    curve, run, note = names["curve"], names["run"], names["note"]
    for stop in (0, 100):

        def stop_there(record: Any, stop: int = stop) -> None:
            note(record)
            if record.step == stop:
                curve.stop()

        curve.on_record = stop_there
        if stop:
            curve.train()
        assert run.step == stop
        for source in after:
            capsys.readouterr()
            exec(source, names)
            lacking = SENTENCE.format(stop) in capsys.readouterr().out
            if stop == 0 and OF_THE_RUN.search(source):
                assert lacking, source
