"""What all widgets share: markup that is safe by construction, and actions whose failures show."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from cloze.border import whole_number
from cloze.widgets import view
from cloze.widgets.view import View, button, element, form
from tests.markup import read


class Counter(View):
    """The smallest widget."""

    def __init__(self) -> None:
        self.count = 0
        super().__init__()
        self.refresh()

    def markup(self) -> Markup:
        return button(f"clicked {self.count} times", "add", data_with_by=1)

    def do_add(self, by: object) -> None:
        self.count += whole_number(by, 1, 3, "The step")

    def do_twice(self) -> None:
        for _ in range(2):
            self.do_add(1)
            self.refresh()

    def do_break(self) -> None:
        raise KeyError("no such thing")


def test_a_click_calls_the_method_that_the_markup_names() -> None:
    counter = Counter()
    counter._receive(counter, {"do": "add", "by": "2"}, [])
    assert "clicked 2 times" in counter.html


def test_a_cell_may_end_with_a_widget_for_a_lecture_hall() -> None:
    counter = Counter()
    assert counter.presented() is counter
    assert counter.present
    assert '<div class="cloze present">' in counter.html


def test_an_action_shows_once_however_often_it_refreshes() -> None:
    counter = Counter()
    seen = []
    counter.observe(lambda change: seen.append(change.new), "html")
    counter.act("twice")
    assert len(seen) == 1
    assert "clicked 2 times" in counter.html


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"do": "add", "by": 7}, "The step is a whole number from 1 to 3, not 7."),
        ({"do": "break"}, "KeyError: &#39;no such thing&#39;"),
    ],
)
def test_a_failure_is_seen_and_changes_nothing(message: dict[str, object], said: str) -> None:
    counter = Counter()
    counter._receive(counter, message, [])
    assert said in counter.html
    assert counter.count == 0
    counter.act("add", by=1)
    assert said not in counter.html
    assert counter.problem == ""


class Form(Counter):
    """A widget with a place for what goes wrong."""

    def markup(self) -> Markup:
        return form("add") + element("p", "<!--break-->")


def test_a_failure_stands_where_its_action_has_a_place_and_else_at_the_end() -> None:
    counter = Form()
    alert = '<p role="alert" class="problem">'
    counter.act("add", by=7)
    assert f"{alert}The step" in counter.html
    assert f'<form data-do="add">{alert}' in counter.html
    counter.act("break")
    assert counter.html.count(alert) == 1
    assert counter.html.index(alert) > counter.html.index("&lt;!--break--&gt;")


def test_below_a_widget_stands_what_is_said_when_nothing_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs: list[dict[str, Any]] = []
    monkeypatch.setattr(view, "display", lambda data, **_: outputs.append(data))
    counter = Counter()
    counter._ipython_display_()
    shown, asleep = outputs
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == counter.model_id
    assert shown["text/plain"] == repr(counter)
    assert list(asleep) == ["text/html"]
    assert "run this cell: <b>Shift + Enter</b>" in asleep["text/html"]


def test_a_widget_that_cannot_be_drawn_keeps_its_picture_and_says_why() -> None:
    counter = Counter()
    counter.count = 2
    counter.refresh()

    def broken() -> Markup:
        raise ZeroDivisionError("no picture" + 10_000 * "x")

    counter.markup = broken  # type: ignore[method-assign]
    counter.act("add", by=1)
    assert "clicked 2 times" in counter.html
    assert "ZeroDivisionError: no picture" in counter.html
    assert len(counter.html) < 1000


@given(st.text(), st.text())
def test_no_text_becomes_markup(text: str, value: str) -> None:
    [paragraph] = read(element("p", text, "<b>", aria_label=value)).select("*")
    assert paragraph.name == "p"
    assert paragraph.get_text() == text + "<b>"
    assert paragraph.attrs == {"aria-label": value}


def test_the_view_imports_nothing_and_knows_no_address() -> None:
    package = Path(view.__file__).parents[1]
    sources = [*package.rglob("*.js"), *package.rglob("*.css")]
    assert len(sources) > 2
    for path in sources:
        source = re.sub(r"(^|\s)// .*", "", path.read_text())
        assert not re.search(
            r"\bimport\b(?!.* from \"\./)|@import|url\(|//|XMLHttp|WebSocket", source
        ), path
        assert "fetch(" not in source.replace("fetch(icon,", ""), path  # of the page itself
