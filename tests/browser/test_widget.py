"""What all widgets share in the browser: actions whose failures are seen, in their place."""

import pytest

from cloze.widgets import modules
from cloze.widgets.widget import Widget, programs
from tests.browser.conftest import Take

COUNTER = """
import { button, element, form, join } from "./widgets/browser/element.js";
import { ValueError, Widget } from "./widgets/browser/widget.js";

export default class Counter extends Widget {
  count = 0;

  markup() {
    if (this.count > 3) throw new Error("no picture" + "x".repeat(10000));
    const clicked = button(`clicked ${this.count} times`, "twice");
    return join([clicked, form("add"), element("p", null, "<!--break-->")]);
  }

  do_add({ by }) {
    if (by > 9) throw new ValueError("The step is too large.");
    this.count += by;
  }

  do_twice() {
    this.do_add({ by: 1 });
    this.refresh();
    this.do_add({ by: 1 });
  }

  do_break() {
    throw new TypeError("no such thing");
  }
}
"""
ALERT = '<p role="alert" class="problem">'


class Counter(Widget):
    """The smallest widget."""

    _esm = modules.widget({**programs(), "counter.js": COUNTER}, "counter.js")


def test_a_click_calls_the_method_that_the_markup_names(hand: Take) -> None:
    counter = hand(Counter())
    counter.act("twice")
    assert "clicked 2 times" in counter.html


def test_it_is_written_for_a_lecture_hall_when_it_is_asked_to(hand: Take) -> None:
    counter = hand(Counter().presented())
    assert '<div class="cloze present">' in counter.html
    counter.act("present")
    assert not counter.widget.present


@pytest.mark.parametrize(
    ("do", "said"),
    [("add", "The step is too large."), ("break", "TypeError: no such thing")],
)
def test_a_failure_is_seen_and_changes_nothing(hand: Take, do: str, said: str) -> None:
    counter = hand(Counter())
    counter.act(do, **({"by": 10} if do == "add" else {}))
    assert said in counter.html
    assert "clicked 0 times" in counter.html
    counter.act("add", by=1)
    assert said not in counter.html
    assert counter.problem == ""


def test_a_failure_stands_where_its_action_has_a_place_and_else_at_the_end(hand: Take) -> None:
    counter = hand(Counter())
    counter.act("add", by=10)
    assert f'<form data-do="add">{ALERT}The step' in counter.html
    counter.act("break")
    assert counter.html.count(ALERT) == 1
    assert counter.html.index(ALERT) > counter.html.index("&lt;!--break--&gt;")


def test_a_widget_that_cannot_be_drawn_keeps_its_picture_and_says_why(hand: Take) -> None:
    counter = hand(Counter())
    counter.act("add", by=3)
    assert "clicked 3 times" in counter.html
    counter.act("add", by=1)
    assert "clicked 3 times" in counter.html
    assert "Error: no picture" in counter.html
    assert len(counter.html) < 1200
