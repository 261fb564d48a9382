"""The explorer in JupyterLab, Notebook 7 and Voilà: clicks, keys and what Python then holds."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from matplotlib.image import imread
from playwright.sync_api import Locator, Page, expect

from benchmarks.jupyter import Notebook, Server
from tests.browser.watch import Watch, low_contrasts, settled

LINE = "she took her umbrella because it was raining"
EXPLORER = f"""
from cloze.prediction import compare
from cloze.widgets import MaskExplorer

explorer = MaskExplorer(line="{LINE}")
explorer
"""
TWIN = "print(compare(explorer.line, {4}))"
STATE = "print(sorted(explorer.masked), explorer.focus, f'{explorer.loss:.2f}')"
PICTURE = Path(__file__).parents[2] / "notebooks" / "images" / "explorer.png"


def letter(widget: Locator, at: int) -> Locator:
    return widget.get_by_role("button", name=re.compile(rf"^position {at},"))


def readers(widget: Locator) -> Locator:
    return widget.locator(".chart thead .number")


@pytest.fixture
def widget(lab: Notebook) -> Locator:
    lab.new(EXPLORER, TWIN)
    lab.run(0)
    return lab.widget()


def test_a_click_masks_and_bars_appear_and_python_knows(lab: Notebook, widget: Locator) -> None:
    expect(letter(widget, 4)).to_have_attribute("aria-pressed", "false")
    letter(widget, 4).click()
    expect(letter(widget, 4)).to_have_attribute("aria-pressed", "true")
    expect(letter(widget, 4)).to_be_focused()
    expect(readers(widget)).to_have_count(4)
    expect(widget.get_by_role("status")).to_contain_text("Position 4 masked. From both sides: ")
    said = widget.get_by_role("status").inner_text()
    masked, focus, loss = re.fullmatch(r"\[(\d+)\] (\d+) ([\d.]+)", lab.fresh(STATE)).groups()  # type: ignore[union-attr]
    assert (masked, focus) == ("4", "4")
    assert f"Loss {loss} nats per gap, 1 gap." in said
    cost = lab.fresh("print(f\"{explorer.predictions['left'].cost(4):.2f}\")")
    expect(readers(widget).first).to_contain_text(f"costs {cost} nats")


def test_the_same_by_keyboard_alone(lab: Notebook, widget: Locator) -> None:
    keys = lab.page.keyboard
    widget.get_by_role("button").first.focus()
    for _ in range(20):
        if lab.page.evaluate("document.activeElement.matches('.letter')"):
            break
        keys.press("Tab")
    expect(letter(widget, 0)).to_be_focused()
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "Space"):
        keys.press(key)
    at = len(LINE) - 2
    expect(letter(widget, at)).to_have_attribute("aria-pressed", "true")
    expect(letter(widget, at)).to_be_focused()
    keys.press("Shift+ArrowLeft")
    expect(letter(widget, at - 1)).to_have_attribute("aria-pressed", "true")
    expect(readers(widget)).to_have_count(4)
    assert lab.fresh(STATE).startswith(f"[{at - 1}, {at}] {at - 1} ")


def test_what_python_sets_the_widget_shows(lab: Notebook, widget: Locator) -> None:
    lab.fresh("seen = []; explorer.observe(lambda change: seen.append(change.new), 'masked')")
    lab.fresh("explorer.line = 'new york'; explorer.masked = {1, 2}; explorer.view = 'pair'")
    expect(widget).to_contain_text("Positions 1 and 2.")
    letter(widget, 0).click()
    expect(letter(widget, 0)).to_have_attribute("aria-pressed", "true")
    assert lab.fresh("print(sorted(seen[-1]))") == "[0, 1, 2]"


def test_clicks_are_answered_while_a_cell_runs(lab: Notebook, widget: Locator) -> None:
    busy = "import time\nwhile not explorer.masked: time.sleep(0.01)\nprint('seen')"
    lab.new(EXPLORER, busy)
    lab.run(0)
    lab.start(1)
    expect(lab.cells.nth(1).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\*\]"))
    letter(widget, 4).click()
    expect(readers(widget)).to_have_count(4)
    assert lab.ended(1) == "seen"


def test_a_failing_model_is_seen(lab: Notebook, widget: Locator) -> None:
    lab.fresh(
        "model = explorer.model['both']\n"
        "def broken(*_): raise RuntimeError('my layer is broken')\n"
        "model.logits_at = broken"
    )
    letter(widget, 4).click()
    expect(widget.get_by_role("alert")).to_have_text("RuntimeError: my layer is broken")
    assert lab.fresh("print(sorted(explorer.masked))") == "[4]"
    lab.fresh("del model.logits_at; explorer.update()")
    expect(readers(widget)).to_have_count(4)
    expect(widget.get_by_role("alert")).to_be_hidden()


def test_a_reopened_notebook_still_shows_the_answers(
    lab: Notebook, widget: Locator, watch: Watch
) -> None:
    expect(letter(widget, 4)).to_be_visible()
    lab.run(1)
    lab.save()
    lab.end_kernels()
    lab.open()
    expect(lab.output(1)).to_contain_text("position 4, in truth t")
    expect(lab.output(0).get_by_text("run this cell: Shift + Enter")).to_be_visible()
    expect(lab.output(0).get_by_text("model not found")).to_have_count(1)
    watch.forgive("widget model not found")


def test_every_text_stands_out_in_every_view_and_theme(lab: Notebook, widget: Locator) -> None:
    lab.fresh("explorer.masked = {4, 13, 14}")
    for theme in ("dark", "light"):
        lab.theme(theme)
        for view in ("guesses", "pair", "attention", "surprise"):
            lab.fresh(f"explorer.view = {view!r}; explorer.focus = 13")
            expect(letter(widget, 13)).to_have_attribute("aria-current", "true")
            assert low_contrasts(widget) == [], (theme, view)


def test_nothing_is_cut_off_in_a_narrow_window(lab: Notebook, widget: Locator) -> None:
    lab.fresh("explorer.masked = {4, 13, 14}; explorer.line = 'a' * 64; explorer.masked = {0, 1}")
    lab.page.set_viewport_size({"width": 480, "height": 900})
    lab.tell("(panel, _, { shell }) => shell.collapseLeft()")
    expect(readers(widget)).to_have_count(4)
    settled(lab.page)
    wide = "element => element.scrollWidth - element.clientWidth"
    assert lab.output(0).evaluate(wide) <= 1
    assert widget.evaluate(wide) <= 1


def test_present_fills_the_screen_and_leaves_it_again(lab: Notebook, widget: Locator) -> None:
    full = "document.fullscreenElement !== null"
    letter(widget, 4).click()
    button = widget.get_by_role("button", name="Present")
    for how in (button.click, lambda: lab.page.evaluate("document.exitFullscreen()")):
        button.click()
        expect(widget).to_have_class("cloze present")
        lab.page.wait_for_function(full)
        box, size = widget.bounding_box(), lab.page.viewport_size
        assert box is not None
        assert size is not None
        assert box["height"] <= size["height"] + 1
        how()
        expect(widget).to_have_class("cloze")
        lab.page.wait_for_function(f"!({full})")
    assert lab.fresh("print(explorer.present)") == "False"


@pytest.mark.usefixtures("widget")
def test_a_picture_is_stored_with_the_notebook(lab: Notebook, watch: Watch) -> None:
    lab.fresh("explorer.masked = {4}; explorer.focus = 4")
    lab.fresh("explorer.picture()")
    lab.save()
    lab.end_kernels()
    lab.open()
    still = lab.output(3).locator(".still")
    expect(still.locator(".chart thead b")).to_have_count(3)
    for theme in ("dark", "light"):
        lab.theme(theme)
        assert low_contrasts(still) == []
    expect(lab.output(0).get_by_text("model not found")).to_have_count(1)
    watch.forgive("widget model not found")


@pytest.mark.slow
def test_notebook_7_answers_a_click(classic: Notebook) -> None:
    classic.new(EXPLORER)
    classic.run(0)
    letter(classic.widget(), 4).click()
    expect(readers(classic.widget())).to_have_count(4)
    assert classic.fresh(STATE).startswith("[4] 4 ")


@pytest.mark.slow
def test_voila_answers_a_click(voila: Server, page: Page) -> None:
    voila.write("explorer.ipynb", [EXPLORER])
    page.goto(voila.address("explorer.ipynb"))
    widget = page.locator(".cloze")
    letter(widget, 4).click()
    expect(readers(widget)).to_have_count(4)


@pytest.mark.slow
def test_the_picture_in_the_readme_is_what_the_explorer_looks_like(
    lab: Notebook, widget: Locator, tmp_path: Path
) -> None:
    """CLOZE_PICTURE=1 stores the picture; otherwise it is only compared with the stored one."""
    lab.theme("light")
    lab.page.emulate_media(reduced_motion="reduce")
    lab.page.set_viewport_size({"width": 1400, "height": 1100})
    lab.fresh(
        "explorer.line = 'the old man walked slowly down to the harbour'\n"
        "explorer.masked = {5, 14, 28}; explorer.focus = 14"
    )
    expect(letter(widget, 14)).to_have_attribute("aria-current", "true")
    expect(letter(widget, 12)).to_have_class(re.compile("occlusion"))
    lab.page.mouse.move(0, 0)
    taken = PICTURE if os.environ.get("CLOZE_PICTURE") else tmp_path / "explorer.png"
    widget.scroll_into_view_if_needed()
    widget.screenshot(path=taken)
    now, stored = (imread(path).shape[:2] for path in (taken, PICTURE))
    assert now == pytest.approx(stored, rel=0.1)  # fonts differ from machine to machine
