"""The lessons' own widgets without Jupyter: by mouse, by keyboard, and what Python then holds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from cloze.lessons.corrupt_and_repair.spoiling import LineSpoiler
from cloze.lessons.vectors.search import EncoderVectors, Index, Search
from cloze.lessons.what_to_hide.hiding import Hiding
from cloze.lessons.writing_with_gaps.unmasking import Unmasking
from cloze.prediction import shipped_model
from cloze.use.vectors import Passage
from tests.browser.conftest import Put

TEXTS = ("the boat left the harbour", "a ship on the sea", "bread from the oven", "salt and bread")


def control(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


def test_a_line_is_hidden_as_one_chooses(put: Put, page: Page) -> None:
    hiding = Hiding("rain fell on the old umbrella")
    widget = put(hiding)
    status = widget.get_by_role("status")
    expect(status).to_contain_text("Draw 1: 4 of 29 characters")
    widget.get_by_label("Rate").select_option("80%")
    widget.get_by_label("Shape").select_option("words")
    widget.get_by_label("Masked/random/kept").select_option("100/0/0")
    expect(widget.locator(".cell.fate-R")).to_have_count(0)
    assert widget.locator(".cell.fate-M").count() == len(hiding.asked.costs) > 12
    assert (hiding.rate, hiding.shape, hiding.shares) == (0.8, "words", "100/0/0")
    widget.get_by_label("Your line").fill("add a cat")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("of 9 characters")
    for _ in range(2):  # past "Use it"
        page.keyboard.press("Tab")
    expect(widget.get_by_label("Rate")).to_be_focused()
    page.keyboard.press("Home")  # the lowest rate
    expect(widget.get_by_label("Rate")).not_to_have_value("0.8")
    draw = widget.get_by_role("button", name="Draw again")
    draw.press("Space")
    expect(status).to_contain_text("Draw 2:")
    expect(draw).to_be_focused()


def test_a_line_is_spoilt_as_one_chooses(put: Put, page: Page) -> None:
    spoiler = LineSpoiler("the cat sat on the mat. it was late.")
    widget = put(spoiler)
    status = widget.get_by_role("status")
    expect(status).to_contain_text("Draw 1, sentinels")
    widget.get_by_role("radio", name="document rotation").click()
    expect(status).to_contain_text("Draw 2, document rotation: 10 symbols became 10")
    page.keyboard.press("ArrowUp")
    expect(status).to_contain_text("Draw 3, sentence permutation")
    typed = widget.get_by_role("textbox", name="Your line")
    typed.fill("a dog barks in the rain")
    typed.press("Enter")
    expect(status).to_contain_text("There is only one sentence")
    expect(widget.get_by_role("img", name="The original: a dog barks in the rain")).to_be_visible()
    widget.get_by_role("radio", name="token masking").click()
    control(widget, "50%").click()
    expect(control(widget, "50%")).to_have_attribute("aria-pressed", "true")
    assert (spoiler.corruption, spoiler.share, len(spoiler.spoilt.read)) == (
        "token masking",
        0.5,
        6,
    )


@pytest.fixture
def search() -> Search:
    passages = [Passage(f"piece {n}", text) for n, text in enumerate(TEXTS)]
    return Search(Index(passages, {"raw": EncoderVectors(shipped_model().encoder)}), "harbour")


def test_a_line_is_typed_and_found(put: Put, search: Search) -> None:
    widget = put(search)
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
    assert search.found.line == "oven b dd"
    widget.get_by_role("button", name="more like number 1 by tf-idf (words)").click()
    expect(widget.get_by_role("status")).to_contain_text("Looked for bread from the oven.")
    widget.get_by_role("combobox", name="Terms").select_option("3 to 5 characters")
    expect(widget.get_by_role("status")).to_contain_text("By tf-idf (3 to 5 characters)")
    assert search.chosen["terms"] == "3 to 5 characters"
    field.fill("?!")
    field.press("Enter")
    expect(widget.get_by_role("alert")).to_contain_text("There is nothing to look for")


def test_a_line_is_written_step_by_step(put: Put, page: Page) -> None:
    player = Unmasking("the ___ sat on the ___ and ______", policy="left to right")
    page.emulate_media(reduced_motion="reduce")
    widget = put(player)
    status = widget.get_by_role("status")
    control(widget, "Step").click()
    expect(status).to_contain_text("Step 1: ")
    expect(control(widget, "Step")).to_be_focused()
    moving = widget.locator(".new").evaluate("each => getComputedStyle(each).transitionDuration")
    assert moving == "0s", "motion is unwanted"
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Step 2: ")
    page.keyboard.press("Tab")
    expect(control(widget, "Back")).to_be_focused()
    page.keyboard.press("Space")
    expect(status).to_contain_text("Step 1: ")
    assert player.at == 1
    control(widget, "mask-predict").click()
    expect(control(widget, "mask-predict")).to_have_attribute("aria-pressed", "true")
    expect(status).to_have_text("12 gaps, mask-predict, seed 0.")
    control(widget, "0").click()
    control(widget, "Step").click()
    expect(widget.locator(".remasked").first).to_be_visible()
    typed = widget.get_by_role("textbox", name="A line with gaps")
    typed.fill("no gap")
    typed.press("Enter")
    expect(widget.get_by_role("alert")).to_contain_text("The line has no gap; put a _")
    page.emulate_media(reduced_motion="no-preference")
