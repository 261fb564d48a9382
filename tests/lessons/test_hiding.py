"""A line hidden as the learner chooses: what is selected, what it costs, and how it is shown."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from traitlets import TraitError

from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES, Shape, Shares
from cloze.lessons.what_to_hide.hiding import hide_line
from cloze.lessons.what_to_hide.widget import Hiding
from cloze.masking import IGNORE, mask_tokens, seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

TEXT = "rain fell on the old umbrella"
LINE = VOCABULARY.encode(TEXT)


def test_it_selects_what_the_masker_selects() -> None:
    batch = mask_tokens(LINE[None], 0.4, generator=seeded(3))
    now = hide_line(LINE, 0.4, seed=3)
    assert torch.equal(now.inputs, batch.inputs[0])
    selected = (batch.labels[0] != IGNORE).nonzero().flatten().tolist()
    assert list(now.costs) == list(now.fates) == selected


def test_it_costs_what_predictions_cost() -> None:
    now = hide_line(LINE, 0.3, "words", "100/0/0", seed=1)
    found = predict(shipped_model(), LINE, list(now.costs))
    assert list(now.costs.values()) == pytest.approx(found.costs.tolist(), abs=1e-4)
    assert now.total == pytest.approx(found.costs.sum().item(), abs=1e-3)
    assert now.mean == pytest.approx(found.costs.mean().item(), abs=1e-4)


@given(
    st.sampled_from(RATES),
    st.sampled_from([*SHAPES]),
    st.sampled_from([*SHARES]),
    st.integers(0, 99),
)
def test_the_fates_are_what_happened(rate: float, shape: Shape, shares: Shares, seed: int) -> None:
    now = hide_line(LINE, rate, shape, shares, seed)
    for i, symbol in enumerate(now.inputs.tolist()):
        fate = now.fates.get(i)
        assert (symbol == VOCABULARY.mask_id) == (fate == "M")
        assert fate == "R" or symbol in (VOCABULARY.mask_id, LINE[i])
    if shares == "0/100/0":
        assert set(now.fates.values()) == {"R"}
    if shares == "100/0/0":
        assert set(now.fates.values()) == {"M"}


def test_what_is_hidden_is_bold_where_nothing_runs() -> None:
    widget = Hiding(TEXT, 0.4, "words")
    assert repr(widget).startswith("Hiding(40% in words, 80/10/10: ")
    n = len(widget.hidden.costs)
    assert f"{n} of 29 characters are asked about" in widget.still()
    assert widget.still().count("<b>") == n
    with pytest.raises(TraitError, match="rate"):
        Hiding(TEXT, rate=0.2)
