"""A search, by hand."""

from __future__ import annotations

from playwright.sync_api import expect

from cloze.lessons.vectors.search import EncoderVectors, Index
from cloze.lessons.vectors.widget import Search
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import Passage
from tests.browser.conftest import Put, Take
from tests.markup import check

TEXTS = ("the boat left the harbour", "a ship on the sea", "bread from the oven", "salt and bread")


def search_for(line: str) -> Search:
    passages = [Passage(f"piece {n}", text) for n, text in enumerate(TEXTS)]
    return Search(Index(passages, {"raw": EncoderVectors(shipped_model().encoder)}), line)


def test_a_line_is_typed_and_found_and_never_markup(put: Put) -> None:
    search = search_for("harbor")
    widget = put(search)
    status = widget.get_by_role("status")
    expect(status).to_contain_text("By tf-idf (words): no passage matches.")
    field = widget.get_by_role("textbox", name="Look for")
    field.fill("oven <b>dd")
    field.press("Enter")
    expect(status).to_contain_text("Looked for oven b dd.")
    expect(field).to_be_focused()
    by_words = widget.locator("table.hits").nth(1).locator("tbody tr")
    expect(by_words).to_have_count(1)
    expect(by_words.locator("mark")).to_have_text(["oven"])
    assert search.found.line == "oven b dd"
    widget.get_by_role("button", name="more like number 1 by tf-idf (words)").click()
    expect(status).to_contain_text("Looked for bread from the oven.")
    widget.get_by_role("combobox", name="Terms").select_option("3 to 5 characters")
    expect(status).to_contain_text("By tf-idf (3 to 5 characters)")
    assert search.chosen == {"vectors": "raw", "terms": "3 to 5 characters"}
    field.fill("?!")
    field.press("Enter")
    expect(widget.get_by_role("alert")).to_contain_text("There is nothing to look for")


def test_what_is_shared_is_marked_and_a_passage_is_cut_out_of_its_piece(hand: Take) -> None:
    page = check(hand(search_for("the boat")))
    assert {mark.get_text() for mark in page.select("mark")} == {"boat"}
    first = page.select("table.hits")[1].select("tbody td")[1]
    assert first.get_text().startswith("… the boat left the harbour …piece 0")
