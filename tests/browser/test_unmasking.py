"""The unmasking player in JupyterLab: a kernel plays, and pauses when asked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from benchmarks.jupyter import Notebook

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


def test_playing_stops_when_asked_and_ends_with_the_text(lab: Notebook, widget: Locator) -> None:
    control(widget, "Play").click()
    expect(widget.locator(".new")).to_have_count(1)
    control(widget, "Pause").click()
    expect(control(widget, "Play")).to_be_visible()
    later = "at = player.at; import time; time.sleep(1.2); print(player.at == at)"
    assert lab.fresh(later) == "True"
    control(widget, "fast").click()
    control(widget, "Play").click()
    expect(widget.get_by_role("status")).to_contain_text("Done after 18 steps: the ")
    text = lab.fresh("print(player.text)")
    assert "_" not in text
    expect(widget.locator(".text")).to_have_text(re.compile(re.escape(text.split()[-1])))
