"""The view alone, without Jupyter: mouse, keys, focus, and texts that must stay texts."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.explorer import MaskExplorer
from cloze.heads import MaskedLM
from cloze.training import TrainingRun
from cloze.widgets import Quiz, TrainingCurve
from tests.browser.conftest import Put
from tests.browser.hand import state_of
from tests.browser.watch import low_contrasts, settled


@pytest.fixture
def explorer() -> MaskExplorer:
    torch.manual_seed(0)
    config = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16)
    return MaskExplorer(MaskedLM(config).eval(), "she took her umbrella because it was raining")


def letter(widget: Locator, at: int) -> Locator:
    return widget.locator(f'.letter[data-with-at="{at}"]')


def expect_masked(widget: Locator, *positions: int) -> None:
    pressed = widget.locator('.letter[aria-pressed="true"]')
    expect(pressed).to_have_count(len(positions))
    found = [int(each.get_attribute("data-with-at") or -1) for each in pressed.all()]
    assert found == list(positions)


def test_dragging_masks_a_span_and_shows_it_on_the_way(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    letter(widget, 8).hover()
    page.mouse.down()
    letter(widget, 5).hover()
    expect(widget.locator(".dragged")).to_have_count(4)
    page.mouse.up()
    expect_masked(widget, 5, 6, 7, 8)
    expect(widget.locator(".dragged")).to_have_count(0)
    assert explorer.masked == {5, 6, 7, 8}
    letter(widget, 20).hover()
    page.mouse.down()
    letter(widget, 21).hover()
    letter(widget, 20).hover()
    page.mouse.up()  # it has come back, and is a click
    expect_masked(widget, 5, 6, 7, 8, 20)
    expect_masked(page.locator("#second"), 5, 6, 7, 8, 20)
    expect(letter(widget, 20)).to_be_focused()


def test_the_words_in_a_curve_are_read_at_400_pixels(put: Put, page: Page) -> None:
    levels = {"uniform": 3.37, "unigram": 2.8, "own position": 2.62, "both neighbours": 1.73}
    widget = put(TrainingCurve(TrainingRun(MaskedLM(), Corpus.load()), levels))
    page.set_viewport_size({"width": 400, "height": 900})
    found = (each.bounding_box() for each in widget.locator(".curve span").all())
    boxes = [box for box in found if box]
    for one, other in combinations(boxes, 2):
        beside = abs(one["x"] - other["x"]) >= (one if one["x"] < other["x"] else other)["width"]
        assert beside or abs(one["y"] - other["y"]) >= one["height"] - 2


def test_arrows_move_within_and_between_rows_and_mask_with_shift(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    letter(widget, 0).focus()
    page.keyboard.press("ArrowDown")
    below = page.locator(":focus")
    first = letter(widget, 0).bounding_box()
    there = below.bounding_box()
    assert first is not None
    assert there is not None
    assert there["x"] == pytest.approx(first["x"], abs=5)
    assert there["y"] > first["y"]
    page.keyboard.press("ArrowUp")
    expect(letter(widget, 0)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(letter(widget, 0)).to_be_focused()
    page.keyboard.press("End")
    expect(letter(widget, 43)).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowLeft")
    expect_masked(widget, 40, 41, 42, 43)
    expect(letter(widget, 40)).to_be_focused()


def test_what_is_being_typed_survives_an_update(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    field = widget.get_by_label("Your line")
    field.press_sequentially("half a li")
    explorer.masked = {1}
    page.evaluate("state => fromPython(state)", state_of(explorer))
    expect_masked(widget, 1)
    expect(field).to_be_focused()
    expect(field).to_have_value("half a li")


def test_what_is_folded_stays_as_its_reader_left_it(put: Put, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    formula = widget.locator(".formula")
    letter(widget, 4).click()
    expect(widget.get_by_text("The whole line, 1 gap")).to_be_visible()
    expect(formula).to_be_hidden()
    letter(widget, 5).click()
    folded = widget.get_by_text("The whole line, 2 gaps")
    expect(folded).to_be_visible()
    expect(formula).to_be_hidden()
    folded.click()
    expect(formula).to_be_visible()
    letter(widget, 7).click()
    expect(widget.get_by_text("The whole line, 3 gaps")).to_be_visible()
    expect(formula).to_be_visible()


def test_focus_goes_on_where_the_focused_button_disappears(
    put: Put, explorer: MaskExplorer
) -> None:
    explorer.masked = {2}
    explorer.filled = {2: "x"}
    widget = put(explorer)
    widget.get_by_role("button", name="Empty it").press("Enter")
    expect(letter(widget, 2)).to_be_focused()


def test_a_room_guesses_by_mouse_and_no_key_moves(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    explorer.masked = {2}
    widget = put(explorer)
    widget.get_by_role("button", name="Guess first").click()
    last = widget.locator(".keys button").last
    stood = last.bounding_box()
    for name in ("guess e", "guess e", "guess a", "guess space"):
        widget.get_by_role("button", name=name, exact=True).click()
        assert last.bounding_box() == pytest.approx(stood, abs=1)
    expect(letter(widget, 2)).to_have_attribute(
        "aria-label", "position 2, masked, hands: e 2, a 1, space 1"
    )
    for name, n in {"e": "12", "space": "0", "a": "25"}.items():
        field = widget.get_by_label(f"hands for {name}", exact=True)
        field.fill(n)
        field.press("Tab")
    expect(widget.get_by_label("hands for space", exact=True)).to_have_count(0)
    expect(letter(widget, 2)).to_have_attribute(
        "aria-label", "position 2, masked, hands: e 12, a 25"
    )
    assert explorer.hands == {2: {"e": 12, "a": 25}}
    expect(widget.locator(".chart")).to_have_count(0)
    widget.get_by_role("button", name="Reveal").click()
    assert low_contrasts(page, "#first") == [], "the mouse is still on the button"
    head = widget.locator(".chart thead th.room")
    paid = -math.log((12 + 1 / 28) / 38)
    expect(head).to_contain_text(f"the room costs {paid:.2f} nats")
    (entered,) = explorer.paid
    assert entered["costs"]["room"] == pytest.approx(paid)


def test_a_finger_drags_over_letters_and_taps(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *at: Locator) -> None:
        boxes = [each.bounding_box() for each in at]
        points = [
            {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
            for box in boxes
            if box
        ]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def tap(name: str) -> None:
        control = widget.get_by_role("button", name=name, exact=True)
        control.scroll_into_view_if_needed()
        settled(page)  # a finger touches a place, and what is there must not move on
        touch("touchStart", control)
        touch("touchEnd")

    glyphs = [letter(widget, at).locator("span") for at in range(6)]
    touch("touchStart", glyphs[2])
    for glyph in glyphs[3:]:
        touch("touchMove", glyph)
    expect(widget.locator(".dragged")).to_have_count(4)
    touch("touchEnd")
    expect_masked(widget, 2, 3, 4, 5)
    page.wait_for_timeout(500)  # Chromium takes a tap right after a drag for the end of a fling
    widget.get_by_role("button", name="Guess first").click()
    for name in ("guess e", "guess e", "guess o", "guess o"):
        tap(name)
    expect(letter(widget, 5)).to_have_attribute("aria-label", "position 5, masked, hands: e 2, o 2")
    tap("Reveal")
    expect(widget.locator(".chart thead th.room")).to_be_visible()


def test_a_room_guesses_by_keyboard_and_a_held_key_is_one_hand(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    explorer.masked = {2}
    explorer.guess_first = True
    widget = put(explorer)
    letter(widget, 2).focus()
    for key in "eEa":
        page.keyboard.press(key)
    page.keyboard.down("e")
    for _ in range(5):
        page.keyboard.down("e")  # what a held key sends: repeats
    page.keyboard.up("e")
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, hands: e 3, a 1")
    field = widget.get_by_label("Your line")
    field.press_sequentially("ab")  # of a field they are letters, and no hands
    expect(field).to_have_value("ab")
    assert explorer.hands == {2: {"e": 3, "a": 1}}
    assert explorer.revealed is False


# What the first of the two places does in its time.
WATCHING = """() => {
  const place = document.querySelector("#first");
  window.seen = new Set();
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...along) {
    if (place.contains(this)) seen.add("glides");
    return animate.apply(this, along);
  };
  place.addEventListener("animationstart", ({ animationName }) => seen.add(animationName));
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_what_moves_does_so_only_where_motion_is_wanted(put: Put, page: Page, motion: Any) -> None:
    explorer = MaskExplorer(line="the old man walked slowly")
    page.emulate_media(reduced_motion=motion)
    widget = put(explorer)
    page.evaluate(WATCHING)
    row = widget.locator('.chart [data-key="s"]')
    for at in (14, 4):
        letter(widget, at).click()
        expect(letter(widget, at)).to_have_attribute("aria-current", "true")
        expect(widget.locator(".chart caption")).to_have_text(f"What is at position {at}?")
        row.evaluate("row => { window.before ??= row }")
    assert row.evaluate("row => row === window.before")
    seen = set(page.evaluate("[...seen]"))
    moves = {"glides", "cloze-lift", "cloze-gap"}
    bar = widget.locator(".chart .bar").first
    seconds = bar.evaluate("each => parseFloat(getComputedStyle(each).transitionDuration)")
    if motion == "reduce":
        assert (seen, seconds) == (set(), 0)
    else:
        assert seen >= moves
        assert seconds > 0


def test_radio_buttons_of_two_views_do_not_mix(put: Put, page: Page) -> None:
    widget = put(Quiz("the_loss"))
    widget.get_by_role("radio").first.check()
    other = page.locator("#second").get_by_role("radio")
    expect(other.first).to_be_checked()
    widget.get_by_role("radio").first.press("ArrowDown")
    expect(widget.get_by_role("radio").nth(1)).to_be_focused()
    expect(other.nth(1)).to_be_checked()
    expect(other.first).not_to_be_checked()
    widget.get_by_role("button", name="Start over").click()
    expect(widget.locator(":checked")).to_have_count(0)
