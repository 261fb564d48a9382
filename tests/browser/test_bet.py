"""A bet on a gap, by hand: what is handed out, what it costs, and when the truth is shown."""

import math

import pytest
from playwright.sync_api import Page, expect

from cloze.lessons.the_loss.probability_bet import bet_of, shares
from cloze.lessons.the_loss.widget import ProbabilityBet
from cloze.loss import expected_cost
from tests.browser.conftest import Put, Take
from tests.markup import assert_works, check, said_by

COUNTS = {"l": 5, "t": 3, "r": 2}


@pytest.fixture
def bet() -> ProbabilityBet:
    return ProbabilityBet(COUNTS, "_ook", "lrt")


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(ProbabilityBet(COUNTS, "_ook", "lrt")))


def test_chips_cost_what_python_computes(hand: Take, bet: ProbabilityBet) -> None:
    driven = hand(bet)
    assert "Nothing has been handed out yet" in said_by(driven)
    driven.act("give", letter="t", value="0.05")
    driven.act("give", letter="l", value="0.1")
    assert repr(bet) == "ProbabilityBet(_ook: l 0.10, t 0.05)"
    given = bet_of({"l": 2, "t": 1})
    share = given["l"]
    assert f"l has {share:.3f} and would cost {-math.log(share):.2f} nats" in said_by(driven)
    cells = [cell.get_text() for cell in check(driven).select("tbody tr")[0].select("td")]
    assert cells[1:] == [f"{share:.3f}", f"{-math.log(share):.2f}", f"{-math.log2(share):.2f}"]
    assert f"you pay {expected_cost(given, given):.2f} nats on average" in said_by(driven)


def test_the_truth_is_a_secret_until_it_is_revealed(hand: Take) -> None:
    driven = hand(ProbabilityBet(COUNTS, "_ook", "lr"))
    driven.act("all", letter="l")
    assert check(driven).select("tbody tr")[1].get_text().endswith("0.000∞∞")
    assert "you pay 0.00 nats on average" in said_by(driven)
    assert "0.300" not in driven.html
    driven.act("reveal")
    assert "The true shares: l 0.500, t 0.300, r 0.200." in said_by(driven)
    assert "Over all 10 places your bet costs ∞ nats on average" in said_by(driven)
    assert "best bet costs 1.03 nats" in said_by(driven)
    assert "0.300 together" in driven.html
    driven.act("give", letter="l", value="0.45")
    paid = expected_cost(shares(COUNTS), bet_of({"l": 9}))
    assert f"your bet costs {paid:.2f} nats" in said_by(driven)
    driven.act("restart")
    assert "10 places" not in driven.html


def test_a_slider_moves_by_mouse_and_keys_and_never_too_far(
    put: Put, page: Page, bet: ProbabilityBet
) -> None:
    shown = put(bet)
    slider = shown.get_by_label("probability for r")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(slider).to_have_value("0.1")
    box = shown.get_by_label("probability for l").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 4, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
    expect(shown.get_by_role("status")).to_contain_text("l has 0.5")
    page.mouse.move(box["x"] + box["width"] + 9, middle, steps=4)
    page.mouse.up()
    expect(shown.get_by_label("probability for l")).to_have_value("0.9")
    expect(shown.get_by_role("alert").first).to_contain_text("All of 1.00 is handed out")
    shown.get_by_role("button", name="all on t").click()
    expect(slider).to_have_value("0")
    expect(page.locator("#second").get_by_label("probability for t")).to_have_value("1")
    assert repr(bet) == "ProbabilityBet(_ook: t 1.00)"
