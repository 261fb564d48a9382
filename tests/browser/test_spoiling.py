"""The line spoiler in JupyterLab: by mouse and by keyboard, and what Python then holds."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from benchmarks.jupyter import Notebook
from tests.browser.watch import low_contrasts

SPOILER = """
from cloze.lessons.corrupt_and_repair.spoiling import LineSpoiler

spoiler = LineSpoiler("the cat sat on the mat. it was late.")
spoiler
"""
STATE = "print(spoiler.corruption, spoiler.share, len(spoiler.spoilt.read), spoiler.draws)"


def test_a_line_is_typed_and_spoilt_by_mouse_and_by_keyboard(lab: Notebook) -> None:
    lab.new(SPOILER)
    lab.run(0)
    widget = lab.widget()
    status = widget.get_by_role("status")
    expect(status).to_contain_text("Draw 1, sentinels")
    widget.get_by_role("radio", name="document rotation").click()
    expect(status).to_contain_text("Draw 2, document rotation: 10 symbols became 10")
    keys = lab.page.keyboard
    keys.press("ArrowUp")
    expect(widget.get_by_role("radio", name="sentence permutation")).to_be_checked()
    expect(status).to_contain_text("sentence permutation")
    typed = widget.get_by_role("textbox", name="Your line")
    typed.fill("a dog barks in the rain")
    typed.press("Enter")
    expect(status).to_contain_text("There is one sentence")
    expect(widget.get_by_role("img", name="The original: a dog barks in the rain")).to_be_visible()
    widget.get_by_role("radio", name="token masking").click()
    widget.get_by_role("button", name="50%").click()
    expect(widget.get_by_role("button", name="50%")).to_have_attribute("aria-pressed", "true")
    draw = re.search(r"Draw (\d+)", status.inner_text())
    assert draw
    assert lab.fresh(STATE) == f"token masking 0.5 6 {draw[1]}"
    assert low_contrasts(widget) == []
