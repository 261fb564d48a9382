"""Inside, by hand: it plays upwards, and parts are switched off, swapped in and put back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from cloze.encoder import EncoderConfig
from cloze.explorer import Inside
from cloze.heads import MaskedLM
from tests.browser.conftest import Put, Take
from tests.browser.hand import Hand
from tests.markup import accessible_name, assert_usable, assert_works, said_by


@pytest.fixture
def driven(hand: Take) -> Hand:
    """Inside, played to the end."""
    return played(hand)


def played(hand: Take) -> Hand:
    taken = hand(Inside())
    taken.act("seek", value="5")
    return taken


def told(driven: Hand) -> list[str]:
    """Return what a screen reader is told of each step that has been reached."""
    return [each.get_text() for each in assert_usable(driven.html).select("ol .step > .spoken")]


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Inside()))


def test_what_is_not_reached_is_empty_and_the_answer_comes_last(hand: Take) -> None:
    driven = hand(Inside())
    said = said_by(driven)
    assert "One of the 16 dots carries the t into the gap." in said
    assert "“she asked when it was”" in said
    guesses = []
    for reached in range(6):
        driven.act("seek", value=str(reached))
        page = assert_usable(driven.html)
        guesses.append([tile.get_text() for tile in page.select(".tile")])
        assert len(told(driven)) == reached
        assert bool(page.select(".truth, .cost")) == (reached == 5)
        gap = page.select_one(".letter[aria-current]")
        assert gap is not None
        assert gap.get_text() == ("ea"[reached == 5] if reached else "?") + "a" * (reached == 5)
    assert guesses == [["e"] * n + [""] * (5 - n) for n in range(5)] + [["e"] * 4 + ["a"]]


def test_the_steps_are_told_from_the_embedding_up(driven: Hand) -> None:
    sentences = told(driven)
    names = [re.split(":| reads", each)[0] for each in sentences]
    layers = [f"{part} {n}" for n in (1, 2) for part in ("Attention", "Feed-forward")]
    assert names == ["Embedding", *layers]
    assert "head 2 t at 13" in sentences[1]
    assert sentences[-1].endswith("This is the model's answer.")
    heads = assert_usable(driven.html).select(".heads button")
    assert len(heads) == 16
    assert accessible_name(heads[1]).startswith("layer 1, head 2, moves 2.9 from t at 13")


def test_a_head_is_switched_off_and_put_back(driven: Hand) -> None:
    before = told(driven)
    driven.act("choose", name="doing", value="off")
    driven.act("change", part="0.1")
    assert driven.widget.inside["parts"] == {"0.1": "off"}
    said = said_by(driven)
    assert "Off at the gap, with the mean in its place: head 2 of layer 1." in said
    assert "nats instead of 0.02" in said
    assert told(driven)[0] == before[0]  # below it nothing changes
    assert all(now != then for now, then in zip(told(driven)[1:], before[1:], strict=True))
    driven.act("choose", name="everywhere", value="yes")
    assert "Off at every position" in said_by(driven)
    driven.act("restore")
    assert told(driven) == before


def test_one_head_is_looked_for_and_found(driven: Hand) -> None:
    driven.act("change", part="1.0")
    assert "The model answers a (0.95) as before. Try another." in said_by(driven)
    driven.act("change", part="0.1")
    assert driven.widget.inside["parts"] == {"0.1": "swap"}  # a bet is on one head
    assert "answers e (0.86). You have found the one that carries the t." in said_by(driven)
    letters = assert_usable(driven.html).select(".letter")
    assert [each.get_text() for each in letters[12:14]] == ["ea", "tn"]  # n in the place of t
    assert "−1.90 now (−6.35, +0.07 of it directly)" in driven.html
    driven.act("change", part="0.3")
    assert driven.widget.inside["parts"] == {"0.1": "swap", "0.3": "swap"}  # the bet is over
    assert "Taken from the second line at the gap" in said_by(driven)


def test_a_part_is_swapped_in_from_a_line_as_long(driven: Hand) -> None:
    driven.act("other", text="she asked where it was")
    assert driven.problem == (
        "The second line has 22 characters and the first 21; make them equally long."
    )
    driven.act("line", text="the cat slept on the chair")  # the second line is none of this one's
    assert "one of the 16 dots" not in said_by(driven).lower()
    assert not told(driven), "another line is played from its beginning"
    driven.act("change", part="0.1")
    assert driven.widget.inside["parts"] == {"0.1": "off"}
    driven.act("choose", name="doing", value="swap")
    driven.act("change", part="0.2")
    assert driven.problem.startswith("Type a second line first")


def test_another_gap_and_other_models(hand: Take) -> None:
    models = {"both": MaskedLM(), "small": MaskedLM(EncoderConfig(n_layers=1))}
    driven = hand(Inside(model=models))
    driven.act("seek", value="3")
    driven.act("choose", name="reader", value="both")
    driven.act("seek", value="5")
    driven.act("choose", name="reader", value="small")  # it has fewer steps
    assert len(told(driven)) == 3
    driven = played(hand)
    driven.act("toggle", at="5")
    assert driven.widget.masked == {5}
    driven.act("choose", name="reader", value="left")
    assert "Attention 1 may not read the 15 characters to the right." in told(driven)[1]
    assert driven.html.count("heat blind") == 15


def test_before_training_it_knows_nothing_and_then_all_again(driven: Hand) -> None:
    trained = told(driven)
    driven.act("choose", name="guesses", value="translator")
    assert [each.get_text() for each in assert_usable(driven.html).select(".tile")][3] == "a"
    driven.act("choose", name="untrained", value="yes")
    said = said_by(driven)
    assert "Before training, the model answers" in said
    assert "The truth, a, costs 3." in said
    assert all("A translator" not in each for each in told(driven))
    driven.act("choose", name="doing", value="off")
    driven.act("change", part="0")
    assert "with zero in its place: feed-forward 1" in said_by(driven)
    driven.act("restore")
    driven.act("choose", name="untrained", value="")
    assert told(driven) == trained


def test_it_plays_until_space_is_pressed_and_a_bet_plays_on(put: Put, page: Page) -> None:
    shown = put(Inside())
    status = shown.get_by_role("status")
    status.click()  # anywhere in it
    page.keyboard.press("Space")
    expect(status).to_contain_text("Attention 1 reads other characters")
    page.keyboard.press("Space")
    expect(shown.get_by_role("button", name="Play", exact=True)).to_be_visible()
    second = shown.locator('[data-with-part="0.1"]')
    shown.locator('[data-with-part="0.0"]').focus()
    page.keyboard.press("ArrowRight")
    expect(second).to_be_focused()
    expect(shown.locator(".letter.read")).to_have_text(["t"])  # where it reads
    page.keyboard.press("Enter")
    expect(status).to_contain_text("You have found the one that carries the t.")
    expect(shown.get_by_role("button", name="Play again")).to_be_visible()


def test_where_motion_is_unwanted_each_step_has_its_click(put: Put, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    shown = put(Inside())
    for reached in (1, 2):
        shown.get_by_role("button", name="Next step").click()
        expect(shown.locator(".step.reached")).to_have_count(reached)
    page.wait_for_timeout(1500)  # longer than a step takes where it plays
    expect(shown.locator(".step.reached")).to_have_count(2)
    page.emulate_media(reduced_motion="no-preference")


def test_the_mouse_shows_where_a_head_reads_and_leaves_again(put: Put) -> None:
    shown = put(Inside())
    shown.locator('[data-with-part="0.1"]').hover()
    expect(shown.locator(".letter.read")).to_have_text(["t"])
    expect(shown.locator(".arc.now")).to_have_count(1)
    shown.get_by_role("status").hover()
    expect(shown.locator(".letter.read")).to_have_count(0)


@pytest.mark.parametrize("wide", [700, 320])
def test_the_gap_is_below_its_column(put: Put, page: Page, wide: int) -> None:
    shown = put(Inside())
    page.set_viewport_size({"width": wide, "height": 900})
    middle = "each => { const box = each.getBoundingClientRect(); return box.left + box.width / 2 }"
    for at in (12, 2):
        gap = shown.locator(f'.letter[data-with-at="{at}"]')
        gap.click()
        expect(gap).to_have_attribute("aria-pressed", "true")
        page.wait_for_timeout(100)
        column = shown.locator(".tile").first.evaluate(middle)
        assert gap.evaluate(middle) == pytest.approx(column, abs=1)
