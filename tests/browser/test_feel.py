"""Where the keys go, what is said when nothing answers, and fingers: in JupyterLab."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from benchmarks.jupyter import Notebook
from tests.browser.watch import Watch

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
GAME = """
from cloze.lessons.the_explorer.guessing_game import GuessingGame

game = GuessingGame(seed=7, gaps=2)
game
"""
EXPLORER = """
from cloze.widgets import MaskExplorer

explorer = MaskExplorer()
explorer
"""
DELETING = "ddabxm"
"""Of a cell: delete, insert above, insert below, cut, to Markdown."""


def beside(part: Locator) -> None:
    """Click a text that is no control."""
    part.click(position={"x": 3, "y": 3})


def test_a_letter_typed_beside_the_games_box_is_a_guess(lab: Notebook) -> None:
    lab.new(GAME, "game")
    lab.run(0)
    keys = lab.page.keyboard
    for place in (".sentence", "legend", ".status", ".cloze"):
        for key in DELETING:
            beside(lab.widget(place).first)
            keys.press(key)
            pressed = lab.widget().get_by_role("button", name=key, exact=True)
            expect(pressed).to_have_attribute("aria-pressed", "true")
    assert lab.fresh("print(game.letter)") == "m"
    assert lab.cells.count() == 3


def test_a_click_beside_a_control_deletes_no_cell_and_escape_leaves(lab: Notebook) -> None:
    lab.new("1 + 1", EXPLORER)
    lab.run(1)
    keys = lab.page.keyboard
    for place in (
        ".status",
        ".chart thead th >> nth=0",
        ".panel",
        ".cloze:not(.still)",
    ):
        beside(lab.widget(place))
        for key in DELETING:
            keys.press(key)
    assert lab.fresh("print(explorer.line[:3])") == "she"
    assert lab.cells.count() == 3
    beside(lab.widget(".status"))
    keys.press("Escape")
    keys.press("d")
    keys.press("d")
    expect(lab.cells).to_have_count(2)


@pytest.mark.slow
def test_escape_leaves_a_control(lab: Notebook) -> None:
    lab.new(EXPLORER, "1 + 1")
    lab.run(0)
    for count, control in enumerate(("button", "textbox"), start=3):
        lab.widget().get_by_role(control).first.focus()  # type: ignore[arg-type]
        lab.page.keyboard.press("Escape")
        lab.page.keyboard.press("b")
        expect(lab.cells).to_have_count(count)


@pytest.mark.parametrize("place", ["textbox", pytest.param("status", marks=pytest.mark.slow)])
def test_what_runs_the_cell_and_saves_the_notebook_does_so_from_a_widget(
    lab: Notebook, place: str
) -> None:
    lab.new("times = 0", f"times += 1\n{EXPLORER}", "1 + 1")
    lab.run(0)
    lab.run(1)
    first = lab.cells.nth(1).locator(".jp-InputPrompt").inner_text()
    part = lab.widget().get_by_role(place).first  # type: ignore[arg-type]
    beside(part) if place == "status" else part.focus()
    lab.page.keyboard.press("Control+s")
    lab.page.wait_for_function("() => jupyterapp.shell.currentWidget.context.model.dirty === false")
    if place == "textbox":
        return  # JupyterLab itself runs nothing while a field has the focus
    lab.page.keyboard.press("Shift+Enter")
    expect(lab.cells.nth(1).locator(".jp-InputPrompt")).not_to_have_text(first)
    assert lab.fresh("print(times)") == "2"


def test_a_widget_whose_kernel_was_restarted_says_so(lab: Notebook) -> None:
    lab.new(EXPLORER)
    lab.run(0)
    gone = lab.page.get_by_role("alert").filter(has_text="its kernel is gone")
    expect(gone).to_have_count(0)
    lab.tell("({ sessionContext }) => sessionContext.session.kernel.restart()")
    expect(gone).to_be_visible()
    lab.run(0)
    expect(gone).to_have_count(0)
    expect(lab.widget()).to_be_visible()


def test_a_widget_whose_kernel_was_shut_down_says_so_at_the_first_click(lab: Notebook) -> None:
    lab.new(EXPLORER)
    lab.run(0)
    gone = lab.page.get_by_role("alert").filter(has_text="its kernel is gone")
    lab.tell("({ sessionContext }) => sessionContext.shutdown()")
    lab.widget().get_by_role("button", name="Unmask all").click()
    expect(gone).to_be_visible()


def test_a_lost_connection_is_told_until_it_is_back(lab: Notebook, watch: Watch) -> None:
    lab.new(EXPLORER)
    lab.run(0)
    lost = lab.page.get_by_role("alert").filter(has_text="Jupyter cannot be reached")
    expect(lost).to_have_count(0)
    lab.page.context.set_offline(True)
    expect(lost).to_be_visible(timeout=5000)
    lab.page.context.set_offline(False)
    expect(lost).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_a_reopened_notebook_says_how_to_wake_its_widgets(lab: Notebook, watch: Watch) -> None:
    lab.new(EXPLORER)
    lab.run(0)
    asleep = lab.output(0).get_by_text("run this cell: Shift + Enter")
    expect(lab.widget()).to_be_visible()
    expect(asleep).to_have_count(1)
    expect(asleep).to_be_hidden()
    lab.save()
    lab.end_kernels()
    lab.open()
    expect(asleep).to_be_visible()
    error = lab.output(0).get_by_text("model not found")
    expect(error).to_have_count(1)
    expect(error).to_be_hidden()
    watch.forgive("widget model not found")
    lab.run(0)
    expect(lab.widget()).to_be_visible()
    expect(asleep).to_be_hidden()


def test_a_notebook_left_half_way_comes_back_alive(lab: Notebook, watch: Watch) -> None:
    watch.known = ("widget model not found",)  # of cells that were not run
    lab.name = "05_the_explorer.ipynb"
    shutil.copy(NOTEBOOKS / lab.name, lab.server.folder)
    lab.open()
    cells = nbformat.read(NOTEBOOKS / lab.name, as_version=4).cells
    explorer = next(i for i, cell in enumerate(cells) if "= MaskExplorer()" in cell.source)
    lab.tell("({ content }, at) => void (content.activeCellIndex = at)", explorer)
    lab.command("notebook:run-all-above")
    lab.command("notebook:run-cell")
    letters = lab.page.locator(".jp-Notebook .cloze-root button.letter")
    letters.nth(1).click()
    expect(letters.nth(1)).to_have_attribute("aria-pressed", "true")
    lab.save()
    lab.open()
    expect(letters.nth(1)).to_have_attribute("aria-pressed", "true")


def test_a_notebook_that_was_only_read_closes_without_a_question(lab: Notebook) -> None:
    lab.name = "00_start_here.ipynb"
    shutil.copy(NOTEBOOKS / lab.name, lab.server.folder)
    lab.open()
    lab.page.wait_for_timeout(1000)  # for what JupyterLab writes once it knows the kernel
    assert lab.tell("({ context }) => context.model.dirty") is False
    lab.tell("({ content }) => void content.model.sharedModel.addCell({ cell_type: 'code' })")
    assert lab.tell("({ context }) => context.model.dirty") is True
