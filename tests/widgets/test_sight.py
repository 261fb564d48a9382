"""Who may look where: the encoder's own mask, position by position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.encoder import attention_mask
from cloze.widgets.sight import Sight, sight


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


@pytest.mark.parametrize("prefix", [-1, 12])
def test_a_prefix_longer_than_the_line_is_refused(prefix: int) -> None:
    with pytest.raises(ValueError, match="A prefix is a whole number from 0 to 11, not"):
        Sight("the red fox", readers={"prefix": prefix})
