"""What every widget's markup owes its users."""

from collections.abc import Callable
from typing import Protocol

from bs4 import BeautifulSoup, Comment, Tag


class Shown(Protocol):
    """A widget, or a hand on one."""

    @property
    def html(self) -> str: ...
    @property
    def problem(self) -> str: ...
    def act(self, do: str, /, **arguments: object) -> None: ...


def read(html: str) -> BeautifulSoup:
    """Parse a widget's markup as a browser would."""
    return BeautifulSoup(html, "html.parser")


def accessible_name(control: Tag) -> str:
    """Return what a screen reader calls a control: its label, or the text in or around it."""
    label = control.get("aria-label") or control.get("aria-labelledby")
    if label:
        return str(label)
    if control.name == "button":
        return control.get_text().strip()
    around = control.find_parent("label")
    if around is None:
        return ""
    return "".join(part.get_text() for part in around.children if part is not control).strip()


def assert_usable(html: str) -> BeautifulSoup:
    """Check what holds for every widget in every state, and return its markup."""
    page = read(html)
    for control in page.select("button, input, select"):
        assert accessible_name(control), f"{control} has no name"
    for picture in page.select('[role="img"]'):
        assert picture.get("aria-label"), f"{picture.name} has no text"
    for form in page.select("form[data-do]"):
        places = [text for text in form.descendants if isinstance(text, Comment)]
        told = form["data-do"] in places or form.select_one('[role="alert"]')
        assert told, f"{form} says nowhere in it what went wrong"
    assert len(page.select('[role="status"]')) == 1
    assert len(page.select('[role="alert"]')) == 1
    assert not page.select("script, style, iframe, img, a, object, embed")
    assert not page.select("[id]"), "an id would exist twice when the widget is shown twice"
    for element in page.select("*"):
        assert not [name for name in element.attrs if name.startswith("on")]
    for group in page.select("[data-arrows]"):
        assert len(group.select('button[tabindex="0"]')) == 1, "Tab enters a group at one place"
    return page


def check(widget: Shown) -> BeautifulSoup:
    """Check what holds for a small widget in every state, and return its markup."""
    page = assert_usable(widget.html)
    assert not page.select("[disabled]"), "it would drop the focus"
    assert all(heading.get_text().strip() for heading in page.select("th"))
    buttons = page.select("button")
    assert len({accessible_name(button) for button in buttons}) == len(buttons)
    return page


def said_by(widget: Shown) -> str:
    """Return what a screen reader is told."""
    return check(widget).select_one("[role=status]").get_text()  # type: ignore[union-attr]


def assert_works(make: Callable[[], Shown]) -> None:
    """Check that a control of each action does what it says, and the widget has a short repr."""
    controls = check(make()).select("[data-do]:not([aria-disabled], form)")
    for control in {str(each["data-do"]): each for each in controls}.values():
        along = {
            key.removeprefix("data-with-"): value
            for key, value in control.attrs.items()
            if key.startswith("data-with-") or key == "value"
        }
        widget = make()
        before = widget.html
        widget.act(str(control["data-do"]), **along)
        assert widget.problem == ""
        check(widget)
        assert widget.html != before or control.get("aria-pressed") == "true"
    assert_can_be_told(make())


def assert_can_be_told(widget: object) -> None:
    """Check that a widget says in a line what it is."""
    line = repr(widget)
    assert len(line) < 110
    assert "0x" not in line
    assert "\n" not in line
