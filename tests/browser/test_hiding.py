"""A line hidden as the learner chooses, by hand."""

from playwright.sync_api import Page, expect

from cloze.lessons.what_to_hide.widget import Hiding
from tests.browser.conftest import Put, Take
from tests.markup import check, said_by

TEXT = "rain fell on the old umbrella"


def test_choices_change_what_is_drawn_and_the_first_draw_comes_back(put: Put, page: Page) -> None:
    hiding = Hiding(TEXT)
    widget = put(hiding)
    status = widget.get_by_role("status")
    expect(status).to_contain_text("Draw 1: 4 of 29 characters")
    first, strip = status.inner_text(), widget.get_by_role("img").inner_text()
    draw = widget.get_by_role("button", name="Draw again")
    draw.press("Space")
    expect(status).to_contain_text("Draw 2:")
    expect(draw).to_be_focused()
    assert widget.get_by_role("img").inner_text() != strip
    widget.get_by_role("button", name="First draw").click()
    expect(status).to_have_text(first)
    widget.get_by_label("Shape").select_option("words")
    widget.get_by_label("Masked/random/kept").select_option("100/0/0")
    widget.get_by_label("Rate").focus()
    page.keyboard.press("End")  # the highest rate
    expect(widget.get_by_label("Rate")).to_have_value("0.8")
    page.evaluate("window.saved")  # and Python has answered
    expect(widget.locator(".cell.fate-R")).to_have_count(0)
    assert widget.locator(".cell.fate-M").count() == len(hiding.hidden.costs) > 12
    assert repr(hiding).startswith("Hiding(80% in words, 100/0/0: ")


def test_the_strip_and_the_table_show_what_python_computed(hand: Take) -> None:
    widget = Hiding(TEXT, 0.4, "words", "100/0/0")
    driven = hand(widget)
    page = check(driven)
    [strip] = page.select("[role=img]")
    now = widget.hidden
    read = "".join("▒" if i in now.costs else symbol for i, symbol in enumerate(TEXT))
    assert strip["aria-label"] == f"The model reads: {read}"
    assert [len(word.select(".cell")) for word in strip.select(".word")][:3] == [5, 5, 3]
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
