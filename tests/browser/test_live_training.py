"""The live curve in JupyterLab: what only a browser can show."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.jupyter import Notebook
from web.browser import click_and_time

# A model so small, and a schedule so long, that its steps pass quickly and never end.
SETUP = """
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.corpus import Corpus, Piece
from cloze.training import Recipe, TrainingRun
from cloze.widgets import TrainingCurve

piece = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)
config = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=32)
recipe = Recipe(steps=100_000, batch_size=2, length=32, evaluations=2)
run = TrainingRun(MaskedLM(config), Corpus((piece,), (piece,)), recipe)
curve = TrainingCurve(run, {"uniform": 3.37})
"""
UNDERWAY = re.compile(r"step [1-9]")


def button(root: Locator, name: str) -> Locator:
    return root.get_by_role("button", name=name, exact=True)


def test_stop_is_answered_while_a_cell_trains_and_resume_goes_on(lab: Notebook) -> None:
    lab.new(SETUP, "display(curve)\ncurve.train()")
    lab.run(0)
    lab.start(1)
    widget = lab.widget()
    expect(widget).to_contain_text(UNDERWAY)
    assert click_and_time(button(widget, "Stop"), widget, "Resume") < 0.5
    assert "Nothing is lost" in lab.ended(1)
    before = int(lab.fresh("print(run.step)"))
    assert before > 0

    button(widget, "Resume").click()
    expect(button(widget, "Stop")).to_be_visible()
    assert int(lab.fresh("while run.step == " + str(before) + ": pass\nprint(run.step)")) > before
    button(widget, "Stop").click()
    expect(button(widget, "Resume")).to_be_visible()
    unbroken = "[record.step for record in run.history] == list(range(1, run.step + 1))"
    assert lab.fresh(f"print({unbroken})") == "True"
