"""Who may look where, by hand."""

from cloze.widgets.sight import Look, Sight
from tests.browser.conftest import Take
from tests.markup import accessible_name, assert_works, check, said_by


def test_every_control_works(hand: Take) -> None:
    assert_works(lambda: hand(Sight("the red fox")))


def test_a_position_is_picked_and_told(hand: Take) -> None:
    sight = Sight("the red fox", position=4)
    assert repr(sight) == "Sight(position 4, r: sees 5 | 7 | 11 of 11)"
    driven = hand(sight)
    driven.act("look", at="10")
    assert sight.position == 10
    page = check(driven)
    [pressed] = page.select('button[aria-pressed="true"]')
    assert accessible_name(pressed) == "position 10, x"
    assert pressed["tabindex"] == "0"
    assert len(page.select('[data-arrows="look"] button')) == 11
    assert said_by(driven) == (
        "Position 10, x, sees 11 of 11 in the causal twin, 1 of 11 in the right twin, "
        "11 of 11 in the encoder."
    )
    [right] = page.select(".looks-right")
    assert right.get_text() == "right twin" + "×" * 10 + "x"


def test_a_prefix_is_in_everybodys_sight(hand: Take) -> None:
    readers: dict[str, Look] = {"prefix": 4, "left": "left"}
    sight = Sight("the red fox", position=1, readers=readers)
    assert repr(sight) == "Sight(position 1, h: sees 4 | 2 of 11)"
    driven = hand(sight)
    driven.act("look", at="6")
    [row] = check(driven).select(".looks-prefix")
    assert row.get_text() == "prefixthe␣red" + "×" * 4
