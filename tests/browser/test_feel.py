"""Where the keys go, and what is said when nothing answers: in JupyterLab."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.jupyter import Notebook
from tests.browser.watch import Watch

GAME = """
from cloze.lessons.the_explorer.widget import GuessingGame

game = GuessingGame(seed=7, gaps=2)
game
"""
EXPLORER = """
from cloze.explorer import MaskExplorer

explorer = MaskExplorer()
explorer
"""


def beside(part: Locator) -> None:
    """Click a text that is no control."""
    part.click(position={"x": 3, "y": 3})


def test_keys_stay_in_a_widget_until_escape_but_save_and_run(lab: Notebook) -> None:
    lab.new("times = 0", f"times += 1\n{EXPLORER}", GAME)
    for cell in range(3):
        lab.run(cell)
    keys = lab.page.keyboard
    explorer, game = lab.output(1), lab.output(2)
    for place in (".large", ".asks", ".cloze"):
        beside(game.locator(place).first)
        keys.press("d")
        keys.press("d")  # of a cell: delete
        expect(game.get_by_role("textbox")).to_have_value("d")
        keys.press("x")
        expect(game.get_by_role("textbox")).to_have_value("x")
    for place in (".status", ".chart thead th >> nth=0", ".panel"):
        beside(explorer.locator(place))
        for key in "ddx":
            keys.press(key)
    expect(lab.cells).to_have_count(3)
    explorer.get_by_role("textbox").first.focus()
    keys.press("Control+s")
    lab.page.wait_for_function("() => jupyterapp.shell.currentWidget.context.model.dirty === false")
    before = lab.cells.nth(1).locator(".jp-InputPrompt").inner_text()
    beside(explorer.locator(".status"))
    keys.press("Shift+Enter")
    expect(lab.cells.nth(1).locator(".jp-InputPrompt")).not_to_have_text(before)
    assert lab.fresh("print(times)") == "2"
    for count, place in enumerate(("button", "textbox"), start=5):
        explorer.get_by_role(place).first.focus()  # type: ignore[arg-type]
        keys.press("Escape")
        keys.press("b")  # insert a cell below
        expect(lab.cells).to_have_count(count)


def test_a_widget_that_nothing_answers_says_so(lab: Notebook, watch: Watch) -> None:
    lab.new(EXPLORER)
    lab.run(0)
    alert = lab.page.get_by_role("alert")
    lost = alert.filter(has_text="Jupyter cannot be reached")
    gone = alert.filter(has_text="its kernel is gone")
    expect(lab.widget()).to_be_visible()
    expect(gone.or_(lost)).to_have_count(0)
    lab.page.context.set_offline(True)
    expect(lost).to_be_visible()
    lab.page.context.set_offline(False)
    expect(lost).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")
    lab.tell("({ sessionContext }) => sessionContext.session.kernel.restart()")
    expect(gone).to_be_visible()
    lab.run(0)
    expect(gone).to_have_count(0)
    lab.tell("({ sessionContext }) => sessionContext.shutdown()")
    # A dialog of JupyterLab's own, about the lost connection, may still be in front of it.
    lab.widget().get_by_role("button", name="Unmask all").dispatch_event("click")
    expect(gone).to_be_visible()
