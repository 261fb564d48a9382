"""A line hidden as one chooses, by hand."""

from cloze.lessons.what_to_hide.hiding import Hiding
from tests.browser.conftest import Take
from tests.markup import check, said_by

TEXT = "rain fell on the old umbrella"


def test_choices_change_what_is_drawn_and_the_first_draw_comes_back(hand: Take) -> None:
    widget = Hiding(TEXT)
    driven = hand(widget)
    first = driven.html
    driven.act("draw")
    assert driven.html != first
    assert "Draw 2: " in said_by(driven)
    driven.act("restart")
    assert driven.html == first
    driven.act("rate", value="0.8")
    driven.act("shape", value="spans")
    driven.act("shares", value="0/100/0")
    assert repr(widget).startswith("Hiding(80% in spans, 0/100/0: ")
    page = check(driven)
    chosen = [option.get_text() for option in page.select("option[selected]")]
    assert chosen == ["80%", "spans", "0/100/0"]


def test_the_strip_and_the_table_say_what_python_found(hand: Take) -> None:
    widget = Hiding(TEXT, 0.4, "words", "100/0/0")
    driven = hand(widget)
    page = check(driven)
    [strip] = page.select("[role=img]")
    now = widget.asked
    hidden = "".join("▒" if i in now.costs else symbol for i, symbol in enumerate(TEXT))
    assert strip["aria-label"] == f"The model reads: {hidden}"
    assert [len(word.select(".cell")) for word in strip.select(".word")][:3] == [4, 1, 4]
    cells = strip.select(".cell")
    for i, cost in now.costs.items():
        assert [small.get_text() for small in cells[i].select("small")] == ["M", f"{cost:.1f}"]
    last = [cell.get_text() for cell in page.select("table tr")[-1].select("th, td")]
    assert last == ["all", str(len(now.costs)), f"{now.mean:.2f}", f"{now.total:.2f}"]
    assert f"{now.total:.2f}." in said_by(driven)


def test_another_line(hand: Take) -> None:
    driven = hand(Hiding(TEXT))
    driven.act("line", text="Café!")
    assert "1 accent folded" in said_by(driven)
    driven.act("line", text="the c_t")
    assert driven.problem.startswith("The line already has a gap; type it without gaps")
    assert "of 4 characters" in said_by(driven)
