"""A line hidden as one chooses: what is asked, what it costs, and how it is shown."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES, Shape, Shares
from cloze.lessons.what_to_hide.hiding import hide_line
from cloze.lessons.what_to_hide.widget import Hiding
from cloze.masking import IGNORE, mask_tokens, seeded
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

TEXT = "rain fell on the old umbrella"
LINE = VOCABULARY.encode(TEXT)


def test_it_asks_what_the_masker_asks() -> None:
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


def test_a_cell_chooses_and_is_told_what_cannot_be_chosen() -> None:
    widget = Hiding(TEXT)
    assert repr(widget) == "Hiding(15% in characters, 80/10/10: 4 of 29 asked, 0.29 nats each)"
    widget.rate, widget.shape, widget.shares = 0.8, "spans", "0/100/0"
    assert repr(widget).startswith("Hiding(80% in spans, 0/100/0: ")
    assert len(widget.hidden.costs) > 12
    with pytest.raises(ValueError, match=r"rate is one of 0.05, .*, 0.8, not 0.2\."):
        widget.rate = 0.2
    assert widget.rate == 0.8


def test_the_cells_are_what_is_asked() -> None:
    widget = Hiding(TEXT, 0.4, "words")
    now = widget.hidden
    assert {i: cost for i, (_, fate, cost) in enumerate(widget.cells) if fate} == now.costs
    still = widget.still()
    assert f"{len(now.costs)} of 29 characters are asked about" in still
    assert still.count("<b>") == len(now.costs)


def test_a_line_is_read_as_it_is_typed() -> None:
    widget = Hiding(TEXT)
    widget.answer_hide(line="Café!")
    assert (widget.line, len(widget.cells)) == ("cafe", 4)
    assert "1 accent folded" in widget.note
    with pytest.raises(ValueError, match="The line already has a gap; type it without gaps"):
        widget.answer_hide(line="the c_t")
    assert widget.line == "cafe"
