"""Who may look where: the encoder's own mask, picked position by position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.encoder import attention_mask
from cloze.vocabulary import TextError
from cloze.widgets.sight import Look, Sight, sight
from tests.markup import accessible_name, assert_works, check, read, said_by


def test_the_view_works() -> None:
    assert_works(lambda: Sight("the red fox"))


@given(st.integers(1, 64), st.data())
def test_sight_is_the_encoders_mask(length: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, length - 1))
    seen = sight(length, position)
    assert seen["encoder"] == [True] * length
    left = attention_mask(length, "left")
    assert left is not None
    assert seen["causal twin"] == left[position].tolist()
    assert all(row[position] for row in seen.values())
    assert sum(seen["causal twin"]) + sum(seen["right twin"]) == length + 1
    both = zip(seen["causal twin"], seen["right twin"], strict=True)
    assert all(a or b for a, b in both)


def test_a_position_is_picked_and_told() -> None:
    view = Sight("the red fox", position=4)
    assert repr(view) == "Sight(position 4, r: sees 11 | 5 | 7 of 11)"
    view.act("look", at="10")
    assert view.position == 10
    page = check(view)
    [pressed] = page.select('button[aria-pressed="true"]')
    assert accessible_name(pressed) == "position 10, x"
    assert pressed["tabindex"] == "0"
    assert len(page.select('[data-arrows="look"] button')) == 11
    assert said_by(view) == (
        "Position 10, x, sees 11 of 11 in the encoder, 11 of 11 in the causal twin, "
        "1 of 11 in the right twin."
    )
    [right] = page.select(".looks-right")
    assert right.get_text() == "right twin" + "×" * 10 + "x"


def test_a_prefix_is_in_everybodys_sight() -> None:
    readers: dict[str, Look] = {"prefix": 4, "left": "left"}
    view = Sight("the red fox", position=1, readers=readers)
    assert repr(view) == "Sight(position 1, h: sees 4 | 2 of 11)"
    view.act("look", at="6")
    assert view.seen["prefix"] == view.seen["left"] == [True] * 7 + [False] * 4
    [row] = check(view).select(".looks-prefix")
    assert row.get_text() == "prefixthe␣red" + "×" * 4


@pytest.mark.parametrize("prefix", [-1, 12])
def test_a_prefix_longer_than_the_line_is_refused(prefix: int) -> None:
    with pytest.raises(ValueError, match="A prefix is a whole number from 0 to 11, not"):
        Sight("the red fox", readers={"prefix": prefix})


@given(st.text(min_size=1, max_size=30))
def test_a_typed_line_is_never_markup(line: str) -> None:
    plain = {tag.name for tag in read(Sight("a").html).select("*")}
    try:
        view = Sight(line)
    except TextError:
        return
    assert {tag.name for tag in check(view).select("*")} == plain
