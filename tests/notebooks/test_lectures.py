"""The lectures as notebooks: screens with headline and notes, and minutes that add up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cloze.teaching import palette
from tests.series import read

LECTURE = Path(__file__).resolve().parents[2] / "lecture"
TEMPLATE = LECTURE / "voila/templates/lecture"
NOTEBOOKS = {path.stem.removesuffix("_minutes"): path for path in LECTURE.glob("*.ipynb")}

each = pytest.mark.parametrize("minutes", NOTEBOOKS)


class Screen(NamedTuple):
    """The cells of one screen."""

    head: str
    notes: str
    rest: list[Any]

    @property
    def headline(self) -> str:
        return self.head.splitlines()[0].lstrip("# ")

    @property
    def minutes(self) -> int:
        found = re.match(r"\*\*(\d+) min\.\*\* ", self.notes)
        assert found, self.headline
        return int(found[1])


def screens(minutes: str) -> list[Screen]:
    """Read the screens of a lecture, split as in index.html.j2."""
    found: list[list[Any]] = []
    for cell in read(NOTEBOOKS[minutes]).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            found.append([])
        found[-1].append(cell)
    shown = []
    for head, *others in found:
        [notes] = [cell for cell in others if cell.metadata.get("tags") == ["notes"]]
        shown.append(Screen(head.source, notes.source, [c for c in others if c is not notes]))
    return shown


@each
def test_the_minutes_add_up(minutes: str) -> None:
    assert sum(screen.minutes for screen in screens(minutes)) == int(minutes)


@each
def test_a_screen_says_one_thing_shortly(minutes: str) -> None:
    for screen in screens(minutes):
        assert 10 < len(screen.headline) <= 60, screen.headline
        assert len(screen.head.splitlines()) <= 12
        text = " ".join(c.source for c in screen.rest if c.cell_type == "markdown")
        assert len(text.split()) < 60, screen.headline
        shows = [c for c in screen.rest if c.cell_type == "code" and c.outputs]
        assert len(shows) <= 1, screen.headline
        if "<img" in str(shows):  # what it answers is asked first
            assert shows[0].metadata["jupyter"]["outputs_hidden"] is ("?" in text) is True
        assert "MaskExplorer(" not in str(shows) or "guess_first" in shows[0].source


@each
def test_notes_say_what_to_do_and_what_to_leave_out(minutes: str) -> None:
    own = screens(minutes)
    assert all(len(screen.notes.split()) > 15 for screen in own)
    assert sum("**Ask" in screen.notes for screen in own) > len(own) / 2
    assert sum("**Skip:**" in screen.notes for screen in own) > len(own) / 2


def test_what_both_show_is_the_same() -> None:
    """Neither notebook is made from the other, so this keeps them from drifting apart."""
    short, long = ({s.headline: s for s in screens(minutes)} for minutes in ("60", "90"))
    assert set(short) <= set(long)
    for headline, screen in short.items():
        if screen.head.startswith("# "):
            continue  # the title says how long it takes
        other = long[headline]
        assert screen.head == other.head
        assert [c.source for c in screen.rest] == [c.source for c in other.rest], headline
        assert screen.notes.partition("** ")[2] == other.notes.partition("** ")[2], headline


def test_the_page_has_the_colours_of_the_series_and_no_address_of_another_machine() -> None:
    css = (TEMPLATE / "static/lecture.css").read_text(encoding="utf-8")
    own = dict(re.findall(r"--([\w-]+): (#\w+);", css.splitlines()[1]))
    dark = dict(re.findall(r"--([\w-]+): (#\w+);", css.splitlines()[2]))
    assert own == {name: palette.LIGHT[name] for name in own}
    assert dark == {name: palette.DARK[name] for name in own}
    for path in TEMPLATE.rglob("*"):
        if path.is_file():
            assert not re.search(r"(https?:)?//\w+\.", path.read_text(encoding="utf-8")), path
