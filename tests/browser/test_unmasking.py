"""The unmasking by hand: it steps, plays, pauses, and begins again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from cloze.lessons.writing_with_gaps.widget import Unmasking
from cloze.vocabulary import GAP
from tests.browser.conftest import Put, Take
from tests.lessons.test_unmasking import LINE, MODEL, WORLD, small
from tests.markup import assert_works, check, said_by


def control(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


def test_playing_pauses_and_ends_with_the_text(put: Put) -> None:
    player = Unmasking("the ___ sat on the ___ and ______", MODEL, policy="left to right")
    widget = put(player)
    control(widget, "Play").click()
    expect(widget.locator(".new")).to_have_count(1)
    expect(widget.get_by_role("status")).to_have_text("Playing.")
    control(widget, "Pause").click()
    expect(control(widget, "Play")).to_be_visible()
    control(widget, "fast").click()
    control(widget, "Play").click()
    expect(widget.get_by_role("status")).to_contain_text("Done after 12 steps: the ")
    expect(control(widget, "Play")).to_be_visible()
    assert GAP not in player.text
    expect(widget.locator(".text")).to_contain_text(player.text.split()[-1])
    control(widget, "Play").click()
    control(widget, "all at once").click()
    expect(control(widget, "Play")).to_be_visible()
    expect(widget.get_by_role("status")).to_have_text("12 gaps, all at once, seed 0.")


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Unmasking(LINE, MODEL)))


def test_steps_go_on_and_back_and_the_status_says_so(hand: Take) -> None:
    player = Unmasking(LINE, MODEL, "left to right", 0.0)
    driven = hand(player)
    assert said_by(driven) == "4 gaps, left to right, seed 0."
    driven.act("step")
    assert said_by(driven).startswith(f"Step 1: {player.text[5]} at 5 with ")
    driven.act("step")
    two = player.text
    driven.act("back")
    assert player.at == 1
    driven.act("step")
    assert player.text == two
    for _ in range(3):
        driven.act("step")
    assert said_by(driven).endswith(f" Done after 4 steps: {player.text}")
    assert GAP not in player.text
    driven.act("restart")
    assert check(driven).select_one(".text b").get_text() == player.text == LINE  # type: ignore[union-attr]


@pytest.mark.parametrize("line", [LINE, "the _ _"])
def test_the_strip_shows_each_step(hand: Take, line: str) -> None:
    player = Unmasking(line, MODEL if line == LINE else small(WORLD), "mask-predict")
    driven = hand(player)
    for _ in range(2):
        driven.act("step")
        frame = player.frames[player.at]
        cells = check(driven).select(".unmasking .cell")
        for cell, fate, p in zip(cells, frame["fates"], frame["probabilities"], strict=True):
            assert fate in cell["class"]
            sign = {"new": f"{p:.0%}", "remasked": "↺"}.get(fate, "\N{NO-BREAK SPACE}")
            assert cell.select_one("small").get_text() == sign  # type: ignore[union-attr]


def test_choices_begin_again(hand: Take) -> None:
    player = Unmasking(LINE, MODEL, "left to right", 0.0)
    driven = hand(player)
    driven.act("again")
    driven.act("choose", what="policy", value="Gibbs")
    driven.act("choose", what="temperature", value="0.5")
    assert (player.seed, player.policy, player.temperature) == (1, "Gibbs", 0.5)
    assert said_by(driven) == "4 gaps, Gibbs, seed 1."
    driven.act("step")
    driven.act("line", text="12 ca_ 34")
    assert said_by(driven) == "1 gap, Gibbs, seed 1 (4 characters dropped)."
    driven.act("step")
    driven.act("line", text="no gap")
    assert "The line has no gap; put a _" in driven.problem
    assert (player.line, player.at) == ("12 ca_ 34", 1)
