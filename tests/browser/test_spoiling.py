"""A line that is spoilt, by hand."""

from cloze.lessons.corrupt_and_repair.corruptions import CORRUPTIONS
from cloze.lessons.corrupt_and_repair.widget import LineSpoiler
from tests.browser.conftest import Take
from tests.markup import check, said_by

TEXT = "Thank you for inviting me to your party last week. It was late."


def test_every_corruption_can_be_seen(hand: Take) -> None:
    widget = LineSpoiler(TEXT)
    driven = hand(widget)
    radios = check(driven).select("[type=radio]")
    assert [radio["value"] for radio in radios] == list(CORRUPTIONS)
    for name in CORRUPTIONS:
        driven.act("choose", what="corruption", value=name)
        page = check(driven)
        names = ("The original", "What is read", "What is to be written")
        assert [picture["aria-label"] for picture in page.select("[role=img]")] == [
            f"{what}: {' '.join(words)}" for what, words in zip(names, widget.spoilt, strict=True)
        ]
        read, written = len(widget.spoilt.read), len(widget.spoilt.written)
        assert f"{read} to read and {written} to write" in said_by(driven)
        [chosen] = page.select("[type=radio][checked]")
        assert chosen["value"] == name


def test_a_wrong_line_changes_nothing(hand: Take) -> None:
    widget = LineSpoiler(TEXT)
    driven = hand(widget)
    for line, why in (("", "The line is empty"), ("a " * 50, "The line has 50 words")):
        driven.act("line", text=line)
        assert why in driven.problem
    assert repr(widget) == repr(LineSpoiler(TEXT))
    driven.act("line", text="one sentence alone")
    assert widget.spoilt.original == ("one", "sentence", "alone")
    driven.act("choose", what="corruption", value="sentence permutation")
    assert "put a full stop between sentences" in said_by(driven)
