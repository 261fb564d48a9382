"""The unmasking by hand, and in JupyterLab: it plays, and pauses when asked."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from cloze.lessons.writing_with_gaps.widget import Unmasking
from cloze.vocabulary import GAP
from tests.browser.conftest import Put, Take
from tests.browser.jupyter import Notebook
from tests.lessons.test_unmasking import LINE, MODEL, WORLD, small
from tests.markup import assert_works, check, read, said_by


def control(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


def test_playing_stops_when_asked_and_ends_with_the_text(put: Put) -> None:
    player = Unmasking("the ___ sat on the ___ and ______", MODEL, policy="left to right")
    widget = put(player)
    control(widget, "Play").click()
    expect(widget.locator(".new")).to_have_count(1)
    control(widget, "Pause").click()
    expect(control(widget, "Play")).to_be_visible()
    control(widget, "fast").click()
    control(widget, "Play").click()
    expect(widget.get_by_role("status")).to_contain_text("Done after 12 steps: the ")
    assert GAP not in player.text
    expect(widget.locator(".text")).to_contain_text(player.text.split()[-1])


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Unmasking(LINE, MODEL)))


def test_steps_go_on_and_back_and_say_so(hand: Take) -> None:
    player = Unmasking(LINE, MODEL, "left to right", 0.0)
    driven = hand(player)
    assert said_by(driven) == "4 gaps, left to right, seed 0."
    driven.act("step")
    assert said_by(driven).startswith(f"Step 1: {player.frame.line[5]} at 5 with ")
    driven.act("step")
    two = player.frame
    driven.act("back")
    assert player.at == 1
    driven.act("step")
    assert player.frame == two
    for _ in range(3):
        driven.act("step")
    assert said_by(driven) == f"Done after 4 steps: {player.text}"
    assert GAP not in player.text
    driven.act("restart")
    assert player.text == LINE
    assert check(driven).select_one(".text b").get_text() == LINE  # type: ignore[union-attr]


def still_of(player: Unmasking) -> list[str]:
    return [each.get_text() for each in read(str(player.still())).select(".cell")]


def test_what_is_shown_is_what_python_would_keep(hand: Take) -> None:
    for policy in ("easiest first", "mask-predict"):
        player = Unmasking(LINE, MODEL, policy)
        driven = hand(player)
        for _ in range(2):
            driven.act("step")
            [strip] = check(driven).select(".unmasking")
            assert [each.get_text() for each in strip.select(".cell")] == still_of(player)
    words = Unmasking("the _ _", small(WORLD), temperature=0)
    driven = hand(words)
    driven.act("step")
    [strip] = check(driven).select(".unmasking.words")
    assert [each.get_text() for each in strip.select(".cell")] == still_of(words)


def test_choices_and_python_begin_anew(hand: Take) -> None:
    player = Unmasking(LINE, MODEL, "left to right", 0.0)
    driven = hand(player)
    player.line = "th_ m_t"
    driven.tell()
    assert said_by(driven) == "2 gaps, left to right, seed 0."
    driven.act("again")
    driven.act("policy", value="Gibbs")
    driven.act("temperature", value="0.5")
    assert (player.seed, player.policy, player.temperature) == (1, "Gibbs", 0.5)
    assert said_by(driven) == "2 gaps, Gibbs, seed 1."
    driven.act("step")
    driven.act("line", typed="12 ca_ 34")
    assert said_by(driven) == "1 gap, Gibbs, seed 1 (4 characters dropped)."
    assert (player.line, player.at) == ("12 ca_ 34", 0)


def test_it_plays_on_while_nobody_answers(put: Put, page: Page) -> None:
    widget = put(Unmasking("_" * 12, MODEL))
    control(widget, "fast").click()
    control(widget, "Play").click()
    expect(widget.get_by_role("status")).to_have_text("Playing.")
    page.evaluate("() => { window.broken = true }")
    expect(widget.get_by_role("status")).to_contain_text("Done after 12 steps")
    expect(control(widget, "Play")).to_be_visible()


def test_a_model_that_fails_ends_the_playing_and_is_told(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Unmasking("_" * 60, small(), "left to right")
    widget = put(player)

    def broken(*_: object) -> None:
        raise RuntimeError("my layer is broken")

    control(widget, "fast").click()
    control(widget, "Step").click()
    expect(widget.locator(".new")).to_have_count(1)
    monkeypatch.setattr(player.model, "logits_at", broken)
    control(widget, "Play").click()
    alert = widget.get_by_role("alert").filter(has_text="RuntimeError: my layer is broken")
    expect(alert).to_be_visible()
    expect(control(widget, "Play")).to_be_visible()


def test_what_cannot_be_begun_is_told_and_changes_nothing(hand: Take) -> None:
    player = Unmasking(LINE, MODEL)
    driven = hand(player)
    driven.act("step")
    before = player.frame
    driven.act("line", typed="no gap")
    assert "The line has no gap; put a _" in driven.problem
    assert (player.frame, player.line) == (before, LINE)
