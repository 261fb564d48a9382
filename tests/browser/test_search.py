"""A search, by hand."""

from __future__ import annotations

from cloze.lessons.vectors.search import EncoderVectors, Index, Search
from cloze.prediction import shipped_model
from cloze.use.vectors import Passage
from tests.browser.conftest import Take
from tests.markup import check, said_by

TEXTS = ("the boat left the harbour", "a ship on the sea", "bread from the oven", "salt and bread")


def search(line: str) -> Search:
    passages = [Passage(f"piece {n}", text) for n, text in enumerate(TEXTS)]
    return Search(Index(passages, {"raw": EncoderVectors(shipped_model().encoder)}), line)


def test_what_is_typed_is_never_markup(hand: Take) -> None:
    widget = search("boat")
    driven = hand(widget)
    driven.act("search", line="<img src=x onerror=alert(1)> harbour & <b>")
    page = check(driven)
    assert driven.problem == ""
    assert widget.found.line == "img src x onerror alert harbour b"
    assert not page.select("img, b")


def test_other_ways_are_chosen_and_told(hand: Take) -> None:
    widget = search("harbor")
    driven = hand(widget)
    assert "By tf-idf (words): no passage matches." in said_by(driven)
    driven.act("terms", value="3 to 5 characters")
    assert "By tf-idf (3 to 5 characters): the boat left the harbour, 0." in said_by(driven)
    assert widget.chosen == {"vectors": "raw", "terms": "3 to 5 characters"}
    driven.act("search", line="?!")
    assert "There is nothing to look for" in driven.problem


def test_what_is_shared_is_marked_and_a_passage_is_cut_out_of_its_piece(hand: Take) -> None:
    page = check(hand(search("the boat")))
    assert {mark.get_text() for mark in page.select("mark")} == {"the", "boat"}
    first = page.select("table.hits")[1].select("tbody td")[1]
    assert first.get_text().startswith("… the boat left the harbour …piece 0")
