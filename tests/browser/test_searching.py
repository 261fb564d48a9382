"""The search of notebook 12 in JupyterLab: by keyboard and mouse, and what Python then holds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from benchmarks.jupyter import Notebook
from tests.browser.watch import low_contrasts

SEARCH = """
from cloze.lessons.vectors.search import Index, Search, encoder_vectors
from cloze.prediction import shipped_model
from cloze.vectors import Passage

texts = ["the boat left the harbour", "a ship on the sea", "bread from the oven", "salt and bread"]
passages = [Passage(f"piece {n}", text) for n, text in enumerate(texts)]
search = Search(Index(passages, {"raw": encoder_vectors(shipped_model().encoder)}), "harbour")
search
"""


@pytest.fixture
def widget(lab: Notebook) -> Locator:
    lab.new(SEARCH)
    lab.run(0)
    return lab.widget()


def test_a_line_is_typed_and_found(lab: Notebook, widget: Locator) -> None:
    field = widget.get_by_role("textbox", name="Look for")
    field.fill("")
    field.press_sequentially("oven <b>dd")
    field.press("Enter")
    expect(widget.get_by_role("status")).to_contain_text("Looked for oven b dd.")
    expect(field).to_be_focused()
    by_words = widget.locator("table.hits").nth(1).locator("tbody tr")
    expect(by_words).to_have_count(1)
    expect(by_words.first).to_contain_text("bread from the oven")
    expect(by_words.locator("mark")).to_have_text(["oven"])
    assert lab.fresh("print(search.found.line)") == "oven b dd"
    assert lab.cells.count() == 2


def test_more_like_this_and_other_terms(lab: Notebook, widget: Locator) -> None:
    widget.get_by_role("button", name="more like number 1 by tf-idf (words)").click()
    expect(widget.get_by_role("status")).to_contain_text("Looked for the boat left the harbour.")
    widget.get_by_role("combobox", name="Terms").select_option("3 to 5 characters")
    expect(widget.get_by_role("status")).to_contain_text("By tf-idf (3 to 5 characters)")
    assert lab.fresh("print(search.chosen['terms'])") == "3 to 5 characters"
    field = widget.get_by_role("textbox", name="Look for")
    field.fill("?!")
    field.press("Enter")
    expect(widget.get_by_role("alert")).to_contain_text("There is nothing to look for")
    for theme in ("dark", "light"):
        lab.theme(theme)
        assert low_contrasts(widget) == [], theme
