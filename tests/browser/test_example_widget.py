"""The widget of CONTRIBUTING.md works as it is printed there."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from cloze.widgets import modules
from cloze.widgets import widget as base
from tests.browser.conftest import Put

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def test_the_example_widget_doubles(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = dict(re.findall(r"`(widget\.\w+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL))
    name = "lessons/tiny/widget.js"
    texts = {**base.programs(), name: printed["widget.js"]}
    monkeypatch.setattr(base, "program", lambda _: modules.widget(texts, name))
    example: dict[str, type[base.Widget]] = {"__file__": "widget.py"}  # type: ignore[dict-item]
    exec(printed["widget.py"], example)
    doubling = example["Doubling"]()
    shown = put(doubling)
    for _ in range(2):
        shown.get_by_role("button", name="Double").click()
    expect(shown).to_contain_text("The number is 4.")
    assert repr(doubling) == "Doubling(4)"
