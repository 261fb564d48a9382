"""A line hidden as one chooses, in JupyterLab: by mouse, by keyboard, and what Python holds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from benchmarks.jupyter import Notebook
from tests.browser.watch import low_contrasts

HIDING = """
from cloze.lessons.what_to_hide.hiding import Hiding

hiding = Hiding("rain fell on the old umbrella")
hiding
"""
TWIN = "print(len(hiding.asked.costs))"


@pytest.fixture
def widget(lab: Notebook) -> Locator:
    lab.new(HIDING, TWIN)
    lab.run(0)
    return lab.widget()


def test_choices_are_drawn_and_python_knows(lab: Notebook, widget: Locator) -> None:
    expect(widget.get_by_role("status")).to_contain_text("Draw 1: 4 of 29 characters")
    widget.get_by_label("Rate").select_option("80 %")
    widget.get_by_label("Shape").select_option("words")
    widget.get_by_label("Masked/random/kept").select_option("100/0/0")
    expect(widget.locator(".hidden.fate-R")).to_have_count(0)
    shown = widget.locator(".hidden.fate-M").count()
    assert shown == int(lab.fresh(TWIN)) > 12
    assert lab.fresh("print(hiding.rate, hiding.shape, hiding.shares)") == "0.8 words 100/0/0"


def test_the_same_by_keyboard_and_no_key_reaches_the_notebook(
    lab: Notebook, widget: Locator
) -> None:
    keys = lab.page.keyboard
    line = widget.get_by_label("Your line")
    line.fill("add a cat")
    keys.press("Enter")
    expect(widget.get_by_role("status")).to_contain_text("of 9 characters")
    keys.press("Tab")  # Use it
    keys.press("Tab")
    expect(widget.get_by_label("Rate")).to_be_focused()
    keys.press("End")  # the highest rate
    expect(widget.get_by_label("Rate")).to_have_value("80 %")
    draw = widget.get_by_role("button", name="Draw again")
    for key in "dda":  # of a cell: delete, insert above
        draw.press(key)
    draw.press("Space")
    expect(widget.get_by_role("status")).to_contain_text("Draw 2:")
    expect(draw).to_be_focused()
    assert lab.fresh("print(hiding.rate, hiding.draws)") == "0.8 1"
    assert lab.cells.count() == 3


def test_every_text_stands_out_in_both_themes(lab: Notebook, widget: Locator) -> None:
    widget.get_by_label("Rate").select_option("80 %")
    for theme in ("dark", "light"):
        lab.theme(theme)
        assert low_contrasts(widget) == []
