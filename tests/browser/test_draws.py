"""Masks drawn again and again, by hand: what is drawn, counted, piled up and shown."""

import math

from playwright.sync_api import Page, expect

from cloze.lessons.the_mask.widget import MaskDraws
from tests.browser.conftest import Put, Take
from tests.markup import assert_works, check, said_by

LINE = "rain fell on the old umbrella"
PROMISED = {"M": 0.8, "R": 0.1, "K": 0.1}


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(MaskDraws(LINE)))


def test_the_draws_follow_the_rule(hand: Take) -> None:
    draws = MaskDraws(LINE)
    driven = hand(draws)
    for _ in range(2):
        driven.act("draw", times="1000")
    assert draws.draws == 2_000
    n = sum(draws.counts.values())
    places = draws.draws * len(LINE)
    assert abs(n / places - 0.15) < 5 * math.sqrt(0.15 * 0.85 / places)
    for fate, p in PROMISED.items():
        assert abs(draws.counts[fate] / n - p) < 5 * math.sqrt(p * (1 - p) / n)
    assert f"{draws.counts['M']:,}" in driven.html
    rows = check(driven).select("tbody tr")
    margin = 2 * math.sqrt(0.8 * 0.2 / n)
    assert rows[0].select("td")[2].get_text() == f"80% ± {margin:.1%}"


def test_a_random_character_may_be_any_of_28(hand: Take, page: Page) -> None:
    hand(MaskDraws(LINE))
    swapped = page.evaluate(
        """() => [...Array(4000).keys()].flatMap((i) => widget.drawn(i + 1)
             .map(({ symbol, fate }, at) => [fate, symbol, widget.get("symbols")[at]])
             .filter(([fate]) => fate === "R"))"""
    )
    assert len({symbol for _, symbol, _ in swapped}) == 28
    same = sum(symbol == before for _, symbol, before in swapped) / len(swapped)
    assert abs(same - 1 / 28) < 5 * math.sqrt(1 / 28 / len(swapped))


def test_the_strip_shows_the_last_draw(hand: Take) -> None:
    draws = MaskDraws(LINE)
    driven = hand(draws)
    driven.act("draw", times=1)
    [strip] = check(driven).select("[role=img]")
    shown = [sign.get_text() for sign in strip.select("small")]
    assert {fate: shown.count(fate) for fate in PROMISED} == draws.counts
    label = str(strip["aria-label"])
    assert label.count("▒") == draws.counts["M"]
    assert len(label) == len(f"The model reads: {LINE}")
    assert f"Draw 1: {sum(draws.counts.values())} of 29 selected" in said_by(driven)


def test_starting_over_repeats_the_same_draws(hand: Take) -> None:
    driven = hand(MaskDraws(LINE))
    fresh = driven.html
    driven.act("draw", times=10)
    first = driven.html
    driven.act("restart")
    assert driven.html == fresh
    driven.act("draw", times=1)
    driven.act("draw", times=9)
    assert driven.html == first


def test_many_draws_pile_up_unless_motion_is_unwanted(put: Put, page: Page) -> None:
    draws = MaskDraws(LINE)
    drawn: list[int] = []
    draws.observe(lambda change: drawn.append(change.new), "draws")
    shown = put(draws)
    for motion, steps, total in (("no-preference", 10, 1000), ("reduce", 1, 2000)):
        page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        drawn.clear()
        shown.get_by_role("button", name="1000 times").click()
        expect(shown.get_by_role("status")).to_contain_text(f"Draw {total}:")
        assert len(drawn) == steps
    height = "each => parseFloat(each.style.height)"
    heights = [pile.evaluate(height) for pile in shown.locator(".all").all()]
    n = sum(draws.counts.values())
    for high, count in zip(heights, draws.counts.values(), strict=True):
        assert abs(high - 100 * count / n) < 0.01
