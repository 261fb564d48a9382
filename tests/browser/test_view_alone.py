"""The view alone, without Jupyter: mouse, keys, focus, and texts that must stay texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from cloze.corpus import Corpus
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.lessons.corrupt_and_repair.spoiling import LineSpoiler
from cloze.lessons.the_explorer.guessing_game import GuessingGame
from cloze.lessons.the_loss.probability_bet import ProbabilityBet
from cloze.lessons.the_mask.mask_draws import MaskDraws
from cloze.lessons.what_to_hide.hiding import Hiding
from cloze.lessons.writing_with_gaps.unmasking import Unmasking
from cloze.training import TrainingRun
from cloze.widgets import MaskExplorer, Quiz, TrainingCurve
from cloze.widgets.sight import Sight
from cloze.widgets.widget import Widget
from tests.browser.conftest import Put
from tests.browser.hand import state_of


def tell(page: Page, widget: Widget) -> None:
    """Let the browser know what has changed in Python."""
    page.evaluate("state => fromPython(state)", state_of(widget))


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


def test_a_drag_that_comes_back_is_a_click(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    letter(widget, 8).hover()
    page.mouse.down()
    letter(widget, 9).hover()
    letter(widget, 8).hover()
    page.mouse.up()
    expect_masked(widget, 8)


def test_a_finger_drags_from_the_glyph_on(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    finger = page.context.new_cdp_session(page)

    def at(position: int) -> list[dict[str, float]]:
        box = letter(widget, position).locator("span").bounding_box()
        assert box is not None
        return [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]

    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at(2)})
    for position in (3, 4, 5):
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": at(position)})
    expect(widget.locator(".dragged")).to_have_count(4)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect_masked(widget, 2, 3, 4, 5)


def played() -> GuessingGame:
    game = GuessingGame(seed=7, gaps=10)
    game.bets = {side: [None, 0] for side in ("left", "both")}
    paid = game.answer_judge(**game.puzzles[0], bets=game.bets)
    game.rounds = [{"bets": game.bets, **paid}] * 10
    return game


def revealed() -> ProbabilityBet:
    bet = ProbabilityBet({"l": 170, "t": 117}, "_ook", "bchlnrt")
    bet.chips = {"l": 1}
    bet.revealed = True
    return bet


def drawn() -> MaskDraws:
    draws = MaskDraws("rain fell on the old umbrella")
    draws.draws, draws.counts = 1000, {"M": 3416, "R": 425, "K": 446}
    return draws


def hands() -> MaskExplorer:
    explorer = MaskExplorer(masked=[13])
    explorer.guess_first = True
    explorer.hands = {13: {"u": 12, "a": 140, " ": 1}}
    return explorer


WIDGETS: dict[str, Callable[[], Widget]] = {
    "explorer": lambda: MaskExplorer(masked=[4, 13, 14]),
    "present": lambda: MaskExplorer(present=True),
    "game": lambda: GuessingGame(seed=7),
    "hands": hands,
    "played": played,
    "bet": revealed,
    "draws": drawn,
    "hiding": lambda: Hiding("she took her umbrella because it was raining", rate=0.3),
    "sight": lambda: Sight("the red fox"),
    "spoiling": lambda: LineSpoiler("the cat " + "sat" * 30),
    "unmasking": lambda: Unmasking("the ___ sat on the ___"),
    "quiz": lambda: Quiz("the_loss"),
}
CONTROLS = "button, select, input:not([type=radio]), label:has([type=radio])"


@pytest.mark.parametrize("name", WIDGETS)
def test_everything_fits_400_pixels_and_every_control_a_finger(
    put: Put, page: Page, name: str
) -> None:
    widget = put(WIDGETS[name]())
    page.set_viewport_size({"width": 400, "height": 900})
    # What may be wider scrolls within its own box.
    wide = "root => [...root.querySelectorAll('*')].filter(each => !each.closest('.scroll *')"
    wide += " && getComputedStyle(each).clipPath === 'none'"
    wide += " && each.getBoundingClientRect().right > innerWidth).map(each => each.outerHTML)"
    assert widget.evaluate(wide) == []
    whole = widget.bounding_box()
    assert whole is not None
    for table in widget.locator(".scroll").all():
        box = table.bounding_box()
        assert box is not None
        assert box["width"] > 0.9 * whole["width"], "it stays beside the button"
    for control in widget.locator(CONTROLS).all():
        box = control.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 24, control.evaluate("each => each.outerHTML")
    room = widget.locator(".cloze").evaluate("each => each.clientWidth")
    for table in widget.locator(".scroll").all():
        assert table.evaluate("each => each.clientWidth") > 0.9 * room
    page.set_viewport_size({"width": 320, "height": 900})  # what JupyterLab leaves of 400
    for table in widget.locator(".scroll:not(:has(.sight))").all():
        assert table.evaluate("each => each.scrollWidth - each.clientWidth") <= 1


def test_the_words_in_a_curve_are_read_at_400_pixels(put: Put, page: Page) -> None:
    widget = put(TrainingCurve(TrainingRun(MaskedLM(), Corpus.load()), {"unigram": 2.8}))
    page.set_viewport_size({"width": 400, "height": 900})
    words = widget.locator(".curve text")
    boxes = [each.bounding_box() for each in words.all()]
    assert min(box["height"] for box in boxes if box) > 12
    legend, last = (words.filter(has_text=text).bounding_box() for text in ("loss", "step"))
    assert legend is not None
    assert last is not None
    assert legend["x"] + legend["width"] < last["x"]


def test_a_problem_stands_beside_its_field_and_says_why(put: Put, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    field = widget.get_by_label("Your line")
    field.fill("1 2 3")
    field.press("Enter")
    alert = widget.locator("form").get_by_role("alert")
    expect(alert).to_contain_text("digits are not among the 28 characters")
    above, below = field.bounding_box(), alert.bounding_box()
    assert above is not None
    assert below is not None
    assert 0 < below["y"] - above["y"] < 60
    letter(widget, 1).click()
    expect(widget.locator(".problem")).to_have_count(1)
    expect(widget.locator(".problem")).to_be_hidden()


def test_a_letter_typed_in_a_field_stays_in_the_field(put: Put, explorer: MaskExplorer) -> None:
    explorer.masked = {2}
    explorer.guess_first = True
    widget = put(explorer)
    field = widget.get_by_label("Your line")
    field.press_sequentially("ab")
    expect(field).to_have_value("ab")
    assert not explorer.hands
    widget.get_by_role("button", name="Reveal").press("e")
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, you guess e")


def test_a_message_that_cannot_be_sent_is_told_until_one_can(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    gone = widget.get_by_text("its kernel is gone")
    expect(gone).to_be_hidden()
    page.evaluate("window.broken = true")
    letter(widget, 1).click()
    expect(gone).to_be_visible()
    page.evaluate("window.broken = false")
    letter(widget, 1).click()
    expect(gone).to_be_hidden()


def test_the_games_result_is_copied(put: Put, page: Page) -> None:
    game = played()
    widget = put(game)
    page.evaluate(
        """() => document.addEventListener("copy", () => {
            const { selectionStart, selectionEnd } = document.activeElement;
            window.copied = document.activeElement.value.slice(selectionStart, selectionEnd);
        })"""
    )
    widget.get_by_text("The result as a line").click()
    widget.get_by_role("button", name="Copy", exact=True).click()
    expect(widget.get_by_role("button", name="Copied")).to_be_focused()
    assert page.evaluate("copied") == game.result
    widget.get_by_role("button", name="Copy the squares").click()
    expect(widget.get_by_role("button", name="Copied")).to_have_count(2)
    squares = page.evaluate("copied").split("\n")
    assert [len(row.split()[0]) for row in squares[1:3]] == [10, 10]


def test_arrows_move_within_and_between_rows(put: Put, page: Page, explorer: MaskExplorer) -> None:
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


def test_shift_and_an_arrow_mask_as_they_move(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    letter(widget, 2).focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect_masked(widget, 2, 3, 4, 5)
    expect(letter(widget, 5)).to_be_focused()


def test_a_held_arrow_key_asks_seldom_and_arrives(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    asked = []
    explorer.observe(lambda change: asked.append(change.new), "focus")
    letter(widget, 0).focus()
    page.evaluate(
        """() => { for (let i = 0; i < 30; i++) document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })) }"""
    )
    expect(letter(widget, 30)).to_have_attribute("aria-current", "true")
    assert len(asked) < 5
    assert asked[-1] == 30


def test_both_views_of_a_widget_show_the_same(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    letter(widget, 3).click()
    expect_masked(page.locator("#second"), 3)
    expect(letter(widget, 3)).to_be_focused()


def test_what_is_being_typed_survives_an_update(
    put: Put, page: Page, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    field = widget.get_by_label("Your line")
    field.press_sequentially("half a li")
    explorer.masked = {1}
    tell(page, explorer)
    expect_masked(widget, 1)
    expect(field).to_be_focused()
    expect(field).to_have_value("half a li")


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "\u202eשלום", "😀" * 30, "a" * 100_000, "&lt;b&gt;"]
)
def test_any_typed_text_is_answered_and_never_markup(
    put: Put, page: Page, explorer: MaskExplorer, text: str
) -> None:
    widget = put(explorer)
    said = widget.locator(".status, .problem")
    before = said.all_inner_texts()
    widget.get_by_label("Your line").fill(text)
    page.keyboard.press("Enter")
    while said.all_inner_texts() == before:
        page.wait_for_timeout(10)
    expect(widget.locator("img, b:not(.chart b)")).to_have_count(0)
    assert len(explorer.line) <= 64


def test_what_is_folded_stays_as_its_reader_left_it(put: Put, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    formula = widget.locator(".formula")
    letter(widget, 4).click()
    expect(widget.get_by_text("The whole line, 1 gap")).to_be_visible()
    expect(formula).to_be_hidden()
    letter(widget, 5).click()
    expect(formula).to_be_visible()
    widget.get_by_text("The whole line, 2 gaps").click()
    expect(formula).to_be_hidden()
    letter(widget, 7).click()
    expect(widget.get_by_text("The whole line, 3 gaps")).to_be_visible()
    expect(formula).to_be_hidden()


def test_focus_goes_on_where_the_focused_button_disappears(
    put: Put, explorer: MaskExplorer
) -> None:
    explorer.masked = {2}
    explorer.filled = {2: "x"}
    widget = put(explorer)
    widget.get_by_role("button", name="Empty it").press("Enter")
    expect(letter(widget, 2)).to_be_focused()


def test_a_guess_is_typed_on_the_gap(put: Put, explorer: MaskExplorer) -> None:
    explorer.masked = {2}
    widget = put(explorer)
    widget.get_by_role("button", name="Guess first").click()
    letter(widget, 2).press("E")
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, you guess e")
    widget.get_by_role("button", name="Reveal").click()
    expect(widget).to_contain_text("Your guess: e. It is right.")


def test_a_guess_is_clicked_and_a_click_on_the_gap_leaks_nothing(
    put: Put, explorer: MaskExplorer
) -> None:
    explorer.masked = {2}
    widget = put(explorer)
    widget.get_by_role("button", name="Guess first").click()
    for _ in range(2):
        letter(widget, 2).click()
        expect(widget.get_by_role("status")).to_contain_text("stays masked until you reveal")
    widget.get_by_role("button", name="guess e", exact=True).click()
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, you guess e")


def test_a_room_guesses_by_mouse(put: Put, explorer: MaskExplorer) -> None:
    explorer.masked = {2}
    widget = put(explorer)
    widget.get_by_role("button", name="Guess first").click()
    for name in ("guess e", "guess e", "guess a", "guess space"):
        widget.get_by_role("button", name=name, exact=True).click()
    expect(letter(widget, 2)).to_have_attribute(
        "aria-label", "position 2, masked, hands: e 2, a 1, space 1"
    )
    widget.get_by_role("button", name="ten more hands for e").click()
    widget.get_by_role("button", name="one hand fewer for space").click()
    expect(widget.get_by_label("hands for e", exact=True)).to_have_value("12")
    expect(widget.get_by_label("hands for space", exact=True)).to_have_count(0)
    field = widget.get_by_label("hands for a", exact=True)
    field.fill("25")
    field.press("Tab")
    expect(letter(widget, 2)).to_have_attribute(
        "aria-label", "position 2, masked, hands: e 12, a 25"
    )
    assert explorer.hands == {2: {"e": 12, "a": 25}}
    expect(widget.locator(".chart")).to_have_count(0)
    widget.get_by_role("button", name="Reveal").click()
    head = widget.locator(".chart thead th.room")
    paid = -math.log((12 + 1 / 28) / 38)
    expect(head).to_contain_text(f"the room costs {paid:.2f} nats = {paid / math.log(2):.2f} bits")
    (entered,) = explorer.tally.paid
    assert entered["costs"]["room"] == pytest.approx(paid)


def test_a_room_guesses_by_touch(put: Put, page: Page, explorer: MaskExplorer) -> None:
    explorer.masked = {2}
    explorer.guess_first = True
    widget = put(explorer)
    finger = page.context.new_cdp_session(page)

    def tap(name: str) -> None:
        control = widget.get_by_role("button", name=name, exact=True)
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box is not None
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    for times, name in ((3, "guess e"), (1, "guess o"), (1, "one more hand for o")):
        for _ in range(times):
            tap(name)
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, hands: e 3, o 2")
    tap("Reveal")
    expect(widget.locator(".chart thead th.room")).to_be_visible()
    assert explorer.hands == {2: {"e": 3, "o": 2}}


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
    less = widget.get_by_role("button", name="one hand fewer for a")
    for _ in range(60):
        page.keyboard.press("Tab")
        if less.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Space")
    expect(less).to_have_count(0)
    assert explorer.hands == {2: {"e": 3}}
    assert explorer.revealed is False


def test_no_key_moves_when_the_first_hands_are_raised(put: Put, explorer: MaskExplorer) -> None:
    explorer.masked = {2}
    explorer.guess_first = True
    widget = put(explorer)
    keys = widget.locator(".keys button")
    before = [key.bounding_box() for key in keys.all()]
    for _ in range(2):
        widget.get_by_role("button", name="guess e", exact=True).click()
    expect(letter(widget, 2)).to_have_attribute("aria-label", "position 2, masked, hands: e 2")
    for key, stood in zip(keys.all(), before, strict=True):
        assert key.bounding_box() == pytest.approx(stood, abs=1)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_candidates_glide_to_their_places_unless_motion_is_unwanted(
    put: Put, page: Page, motion: Any
) -> None:
    explorer = MaskExplorer(line="the old man walked slowly", masked=[14])
    page.emulate_media(reduced_motion=motion)
    widget = put(explorer)
    row = widget.locator('.chart [data-key="s"]')
    row.evaluate("row => { window.before = row }")
    page.evaluate(
        """() => { window.moved = 0; const { animate } = Element.prototype;
            Element.prototype.animate = function (...along) {
                window.moved += this.matches("tr"); return animate.apply(this, along); } }"""
    )
    explorer.masked = {4}
    tell(page, explorer)
    expect(letter(widget, 4)).to_have_attribute("aria-current", "true")
    assert row.evaluate("row => row === window.before")
    assert (page.evaluate("moved") > 0) == (motion == "no-preference")
    bar = widget.locator(".chart .bar").first
    seconds = bar.evaluate("each => parseFloat(getComputedStyle(each).transitionDuration)")
    assert (seconds > 0) == (motion == "no-preference")


def test_a_removed_view_listens_no_more(put: Put, page: Page, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    page.evaluate("ends.forEach(end => end())")
    explorer.masked = {1}
    tell(page, explorer)
    page.wait_for_function("widget.html.includes('position 1, masked')")
    expect_masked(widget)


def test_radio_buttons_of_two_views_do_not_mix(put: Put, page: Page) -> None:
    quiz = Quiz("the_loss")
    widget = put(quiz)
    widget.get_by_role("radio").first.check()
    expect(page.locator("#second").get_by_role("radio").first).to_be_checked()
    widget.get_by_role("radio").nth(1).check()
    expect(page.locator("#second").get_by_role("radio").nth(1)).to_be_checked()
    expect(page.locator("#second").get_by_role("radio").first).not_to_be_checked()
    widget.get_by_role("button", name="Start over").click()
    expect(widget.locator(":checked")).to_have_count(0)
