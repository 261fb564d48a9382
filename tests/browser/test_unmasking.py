"""The unmasking player in JupyterLab: steps, play and pause, keys, themes and narrow pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from benchmarks.jupyter import Notebook
from tests.browser.watch import low_contrasts

PLAYER = """
from cloze.lessons.writing_with_gaps.unmasking import Unmasking

player = Unmasking("the ___ sat on the ___ and ______ at ___ ___", policy="left to right")
player
"""


def control(widget: Locator, name: str) -> Locator:
    return widget.get_by_role("button", name=name, exact=True)


@pytest.fixture
def widget(lab: Notebook) -> Locator:
    lab.new(PLAYER)
    lab.run(0)
    return lab.widget()


def test_steps_by_mouse_and_by_keyboard(lab: Notebook, widget: Locator) -> None:
    control(widget, "Step").click()
    expect(widget.get_by_role("status")).to_contain_text("Step 1: ")
    expect(control(widget, "Step")).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(widget.get_by_role("status")).to_contain_text("Step 2: ")
    lab.page.keyboard.press("Tab")
    expect(control(widget, "Back")).to_be_focused()
    lab.page.keyboard.press("Space")
    expect(widget.get_by_role("status")).to_contain_text("Step 1: ")
    assert lab.fresh("print(player.at)") == "1"
    assert lab.cells.count() == 2


def test_playing_stops_when_asked_and_ends_with_the_text(lab: Notebook, widget: Locator) -> None:
    control(widget, "Play").click()
    expect(widget.locator(".new")).to_have_count(1)
    control(widget, "Pause").click()
    expect(control(widget, "Play")).to_be_visible()
    at = lab.fresh("print(player.at)")
    lab.page.wait_for_timeout(1200)
    assert lab.fresh("print(player.at)") == at
    control(widget, "fast").click()
    control(widget, "Play").click()
    expect(widget.get_by_role("status")).to_contain_text("Done after 18 steps: the ")
    text = lab.fresh("print(player.text)")
    assert "_" not in text
    expect(widget.locator(".text")).to_have_text(re.compile(re.escape(text.split()[-1])))


def test_order_and_temperature_are_chosen_and_said(lab: Notebook, widget: Locator) -> None:
    control(widget, "mask-predict").click()
    expect(control(widget, "mask-predict")).to_have_attribute("aria-pressed", "true")
    expect(widget.get_by_role("status")).to_have_text("18 gaps, mask-predict, seed 0.")
    control(widget, "0").click()
    control(widget, "Step").click()
    expect(widget.locator(".taken-back").first).to_be_visible()
    assert lab.fresh("print(player)").endswith("mask-predict, T = 0, step 1)")
    typed = widget.get_by_role("textbox", name="A line with gaps")
    typed.fill("no gap")
    typed.press("Enter")
    expect(widget.get_by_role("alert")).to_contain_text("The line has no gap; put a _")


def test_it_is_readable_in_both_themes_and_fits_a_narrow_page(
    lab: Notebook, widget: Locator
) -> None:
    control(widget, "Step").click()
    expect(widget.locator(".new")).to_have_count(1)
    for theme in ("dark", "light"):
        lab.theme(theme)
        assert low_contrasts(widget) == []
    lab.command("application:toggle-left-area")
    lab.page.set_viewport_size({"width": 400, "height": 900})
    lab.page.wait_for_timeout(300)
    wide = widget.evaluate("e => e.scrollWidth - e.clientWidth")
    lab.command("application:toggle-left-area")
    assert wide <= 1


def test_without_motion_nothing_glides(lab: Notebook, widget: Locator) -> None:
    lab.page.emulate_media(reduced_motion="reduce")
    control(widget, "Step").click()
    cell = widget.locator(".new")
    expect(cell).to_have_count(1)
    assert cell.evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
    lab.page.emulate_media(reduced_motion="no-preference")
