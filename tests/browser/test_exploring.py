"""The explorer in JupyterLab: clicks, keys and what Python then holds."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from matplotlib.image import imread
from playwright.sync_api import Locator, expect

from tests.browser.jupyter import Notebook
from tests.browser.watch import Watch

LINE = "she took her umbrella because it was raining"
EXPLORER = f"""
from cloze.prediction.predictors import compare
from cloze.explorer import MaskExplorer

explorer = MaskExplorer(line="{LINE}")
explorer
"""
BUSY = "import time\nwhile 0 not in explorer.masked: time.sleep(0.01)\nprint('seen')"
STATE = "print(sorted(explorer.masked), explorer.focus, f'{explorer.loss:.2f}')"
PICTURE = Path(__file__).parents[2] / "notebooks" / "images" / "explorer.png"


def letter(widget: Locator, at: int) -> Locator:
    return widget.get_by_role("button", name=re.compile(rf"^position {at},"))


def readers(widget: Locator) -> Locator:
    return widget.locator(".chart thead .number")


@pytest.fixture
def widget(lab: Notebook) -> Locator:
    lab.new(EXPLORER, BUSY)
    lab.run(0)
    return lab.widget()


def test_python_and_the_widget_know_of_each_other_also_while_a_cell_runs(
    lab: Notebook, widget: Locator
) -> None:
    letter(widget, 4).click()
    expect(letter(widget, 4)).to_have_attribute("aria-pressed", "true")
    expect(letter(widget, 4)).to_be_focused()
    expect(readers(widget)).to_have_count(3)
    expect(widget.get_by_role("status")).to_contain_text("Position 4 masked. From both sides: ")
    said = widget.get_by_role("status").inner_text()
    masked, focus, loss = re.fullmatch(r"\[(\d+)\] (\d+) ([\d.]+)", lab.fresh(STATE)).groups()  # type: ignore[union-attr]
    assert (masked, focus) == ("4", "4")
    assert f"Loss {loss} nats per gap, 1 gap." in said
    cost = lab.fresh("print(f\"{explorer.predictions['left'].cost(4):.2f}\")")
    expect(readers(widget).first).to_contain_text(f"costs {cost} nats")
    lab.fresh("explorer.line = 'new york'; explorer.masked = {1, 2}; explorer.view = 'pair'")
    expect(widget).to_contain_text("Positions 1 and 2.")
    lab.start(1)
    expect(lab.cells.nth(1).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\*\]"))
    letter(widget, 0).click()
    assert lab.ended(1) == "seen"


def test_a_notebook_comes_back_alive_and_without_its_kernel_asleep(
    lab: Notebook, watch: Watch
) -> None:
    watch.forgive("widget model not found")  # of cells that were not run
    lab.name = "05_the_explorer.ipynb"
    shutil.copy(PICTURE.parents[1] / lab.name, lab.server.folder)
    lab.open()
    lab.page.wait_for_timeout(1000)  # for what JupyterLab writes once it knows the kernel
    dirty = "({ context }) => context.model.dirty"
    assert lab.tell(dirty) is False, "who has only read it is asked nothing when closing it"
    prose = lab.page.locator(".jp-RenderedMarkdown p").first
    assert prose.evaluate("each => each.offsetWidth") == 48 * 14, "some 90 characters"
    letters = lab.output(2).locator(".cloze-root button.letter")
    asleep = lab.output(2).get_by_text("run its cell: Shift + Enter")
    expect(asleep).to_be_visible()
    lab.tell("({ content }) => void (content.activeCellIndex = 4)")
    lab.command("notebook:run-all-above")
    lab.command("notebook:run-cell")
    letters.nth(1).click()
    expect(letters.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(asleep).to_be_hidden()
    assert lab.tell(dirty) is True
    expect(lab.output(2).locator(".leans")).not_to_be_empty()  # the kernel has nothing left to do
    lab.save()
    lab.open()
    expect(letters.nth(1)).to_have_attribute("aria-pressed", "true")
    lab.end_kernels()
    lab.open()
    expect(asleep).to_be_visible()
    error = lab.output(2).get_by_text("model not found")
    expect(error).to_have_count(1)
    expect(error).to_be_hidden()


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
