"""What every widget's markup owes its users, whoever wrote it."""

from bs4 import BeautifulSoup, Tag


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
    assert len(page.select('[role="status"]')) == 1
    assert len(page.select('[role="alert"]')) == 1
    assert not page.select("script, style, iframe, img, a, object, embed")
    assert not page.select("[id]"), "an id would exist twice when the widget is shown twice"
    for element in page.select("*"):
        assert not [name for name in element.attrs if name.startswith("on")]
    for group in page.select("[data-arrows]"):
        assert len(group.select('button[tabindex="0"]')) == 1, "Tab enters a group at one place"
    return page
