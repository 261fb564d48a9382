"""What all widgets share: answers to what the browser asks, and markup that stays."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cloze.widgets.widget as shared
from cloze.arguments import whole_number
from cloze.widgets.markup import element
from cloze.widgets.modules import without_comments
from cloze.widgets.widget import Widget
from tests.markup import read


class Counter(Widget):
    """The smallest widget."""

    def __init__(self) -> None:
        self.count = 0
        self.sent: list[dict[str, Any]] = []
        super().__init__()
        self.send = self.sent.append

    def ask(self, what: str, **sent: object) -> dict[str, Any]:
        self._receive(self, {"ask": what, "id": "7", "sent": sent}, [])
        return self.sent[-1]

    def answer_add(self, by: object) -> int:
        self.count += whole_number(by, 1, 3, "The step")
        return self.count

    def answer_break(self) -> None:
        raise KeyError("no such thing")


def test_python_answers_what_the_browser_asks() -> None:
    counter = Counter()
    assert counter.ask("add", by="2") == {"id": "7", "answer": 2}


def test_a_failure_is_answered_in_words_and_changes_nothing() -> None:
    counter = Counter()
    said = "The step is a whole number from 1 to 3, not 7."
    assert counter.ask("add", by=7) == {"id": "7", "problem": said}
    assert counter.ask("break") == {"id": "7", "problem": "KeyError: 'no such thing'"}
    assert counter.count == 0


def test_below_a_widget_stands_what_is_said_when_nothing_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outputs: list[dict[str, Any]] = []
    monkeypatch.setattr(shared, "display", lambda data, **_: outputs.append(data))
    counter = Counter()
    counter._ipython_display_()
    shown, asleep = outputs
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == counter.model_id
    assert shown["text/plain"] == repr(counter)
    assert list(asleep) == ["text/html"]
    assert "run its cell: <b>Shift + Enter</b>" in asleep["text/html"]


@given(st.text(), st.text())
def test_no_text_becomes_markup(text: str, value: str) -> None:
    [paragraph] = read(element("p", text, "<b>", aria_label=value)).select("*")
    assert paragraph.name == "p"
    assert paragraph.get_text() == text + "<b>"
    assert paragraph.attrs == {"aria-label": value}


def test_the_programs_import_each_other_alone_and_know_no_address() -> None:
    sources = [path for end in ("js", "css") for path in shared.PACKAGE.rglob(f"*.{end}")]
    assert {path.parent.name for path in sources} > {"browser", "explorer", "the_loss"}
    for path in sources:
        source = re.sub(r"(^|\s)// .*", "", without_comments(path.read_text()))
        outside = r"\bimport\b(?![^;]* from \"\.\.?/)|@import|url\(|//|XMLHttp|WebSocket"
        assert not re.search(outside, source), path
        assert "fetch(" not in source.replace("fetch(icon,", ""), path  # of the page itself
