"""Inside, by hand: parts are switched off, swapped in and put back, and told in words."""

from __future__ import annotations

import pytest

from cloze.explorer import Inside
from tests.browser.conftest import Put, Take
from tests.browser.hand import Hand
from tests.markup import accessible_name, assert_usable, assert_works, said_by


@pytest.fixture
def driven(hand: Take) -> Hand:
    return hand(Inside())


def rungs(driven: Hand) -> list[str]:
    """Return what a screen reader is told of each rung, the answer first."""
    return [each.get_text() for each in assert_usable(driven.html).select("ol .rung > .spoken")]


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Inside()))


def test_the_ladder_is_told_rung_by_rung(driven: Hand) -> None:
    told = rungs(driven)
    assert [each.split(":")[0].split(" reads")[0] for each in told] == [
        "Feed-forward 2",
        "Attention 2",
        "Feed-forward 1",
        "Attention 1",
        "Embedding",
    ]
    assert "head 2 t at 13" in told[3]
    assert told[0].endswith("This is the model's answer.")
    page = assert_usable(driven.html)
    heads = page.select(".heads button")
    assert len(heads) == 16
    assert accessible_name(heads[9]).startswith("layer 1, head 2, moves 2.9 from t at 13")
    assert [head["tabindex"] for head in heads].count("0") == 2  # one for each row of heads


def test_a_head_is_switched_off_and_put_back(driven: Hand) -> None:
    before = rungs(driven)
    driven.act("change", part="0.1")
    assert driven.widget.inside["parts"] == {"0.1": "off"}
    said = said_by(driven)
    assert "Off at the gap, with the mean in its place: head 2 of layer 1." in said
    assert "nats instead of 0.02" in said
    assert rungs(driven)[-1] == before[-1]  # below it nothing changes
    assert all(now != then for now, then in zip(rungs(driven)[:4], before, strict=False))
    driven.act("where", value="everywhere")
    assert "Off at every position" in said_by(driven)
    driven.act("restore")
    assert rungs(driven) == before


def test_a_part_is_swapped_in_from_a_line_as_long(driven: Hand) -> None:
    driven.act("doing", value="swap")
    driven.act("change", part="0.1")
    said = said_by(driven)
    assert said.startswith("Head 2 of layer 1: from the second line. The model answers e")
    assert "the direct effect, past all later parts, is" in said
    driven.act("other", text="she asked where it was")
    assert driven.problem == (
        "The second line has 22 characters and the first 21; make them equally long."
    )
    driven.act("line", text="the cat slept on the chair")  # the second line is none of this one's
    assert "second line" not in said_by(driven)
    driven.act("change", part="0.1")
    driven.act("change", part="0.2")
    assert driven.problem.startswith("Type a second line first")


def test_another_gap_another_model_and_a_walk(driven: Hand) -> None:
    driven.act("toggle", at="5")
    assert driven.widget.masked == {5}
    driven.act("reader", value="left")
    assert "This model may not read the 15 characters to the right" in driven.html
    assert driven.html.count("arc barred") == 2 * 15
    for rung in range(3):
        driven.act("play", rung=rung)
    [told] = assert_usable(driven.html).select(".in-words")
    assert told.get_text() == rungs(driven)[2]
    driven.act("play", rung=-1)
    assert not assert_usable(driven.html).select(".in-words")


def test_before_training_it_knows_nothing_and_then_all_again(driven: Hand) -> None:
    trained = rungs(driven)
    driven.act("weights", value="untrained")
    said = said_by(driven)
    assert "Before training, the model answers" in said
    assert "The truth, a, costs 3." in said
    assert all("A translator" not in each for each in rungs(driven))
    driven.act("change", part="0")
    assert "with zero in its place: feed-forward 1" in said_by(driven)
    driven.act("restore")
    driven.act("weights", value="trained")
    assert rungs(driven) == trained


def test_arrows_move_among_heads_and_enter_switches_one_off(put: Put) -> None:
    shown = put(Inside())
    first = shown.locator(".heads").last.locator("button").first
    first.focus()
    first.press("ArrowRight")
    second = shown.locator('[data-with-part="0.1"]')
    assert second.evaluate("each => each === document.activeElement")
    second.press("Enter")
    shown.locator('[data-with-part="0.1"][aria-pressed="true"]').wait_for()
    shown.locator(".cost small").first.wait_for()
