"""A line hidden as one chooses: what is asked, what it costs, and how it is shown."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cloze.lessons.what_to_hide.choices import RATES, SHAPES, SHARES, Shape, Shares
from cloze.lessons.what_to_hide.hiding import Hiding, asked
from cloze.masking import IGNORE, mask_tokens, seeded
from cloze.prediction import predict, shipped_model
from cloze.vocabulary import VOCABULARY
from tests.markup import check, said_by

TEXT = "rain fell on the old umbrella"
LINE = VOCABULARY.encode(TEXT)


def test_it_asks_what_the_masker_asks() -> None:
    batch = mask_tokens(LINE[None], 0.4, generator=seeded(3))
    now = asked(LINE, 0.4, seed=3)
    assert torch.equal(now.inputs, batch.inputs[0])
    selected = (batch.labels[0] != IGNORE).nonzero().flatten().tolist()
    assert list(now.costs) == list(now.fates) == selected


def test_it_costs_what_predictions_cost() -> None:
    now = asked(LINE, 0.3, "words", "100/0/0", seed=1)
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
    now = asked(LINE, rate, shape, shares, seed)
    for i, symbol in enumerate(now.inputs.tolist()):
        fate = now.fates.get(i)
        assert (symbol == VOCABULARY.mask_id) == (fate == "M")
        assert fate == "R" or symbol in (VOCABULARY.mask_id, LINE[i])
    if shares == "0/100/0":
        assert set(now.fates.values()) == {"R"}
    if shares == "100/0/0":
        assert set(now.fates.values()) == {"M"}
    assert sum(len(now.of(fate)) for fate in "MRK") == len(now.costs)


def test_choices_change_what_is_drawn_and_the_first_draw_comes_back() -> None:
    widget = Hiding(TEXT)
    first = widget.html
    assert repr(widget) == "Hiding(15% in characters, 80/10/10: 4 of 29 asked, 0.29 nats each)"
    widget.act("draw")
    assert widget.html != first
    assert "Draw 2:" in said_by(widget)
    widget.act("restart")
    assert widget.html == first
    widget.act("rate", value="80 %")
    widget.act("shape", value="spans")
    widget.act("shares", value="0/100/0")
    assert repr(widget).startswith("Hiding(80 % in spans, 0/100/0: ")
    page = check(widget)
    chosen = [option["value"] for option in page.select("option[selected]")]
    assert chosen == ["80 %", "spans", "0/100/0"]
    assert len(widget.asked.costs) > 12


def test_the_strip_and_the_table_say_the_same() -> None:
    widget = Hiding(TEXT, 0.4, "words")
    page = check(widget)
    [strip] = page.select("[role=img]")
    now = widget.asked
    assert strip["aria-label"] == f"The model reads: {VOCABULARY.decode(now.inputs, gap='▒')}"
    cells = strip.select(".hidden")
    assert len(cells) == len(LINE)
    for i, cost in now.costs.items():
        assert [small.get_text() for small in cells[i].select("small")] == [
            now.fates[i],
            f"{cost:.1f}",
        ]
    last = [cell.get_text() for cell in page.select("table tr")[-1].select("th, td")]
    assert last == ["all", str(len(now.costs)), f"{now.mean:.2f}", f"{now.total:.2f}"]
    assert f"{now.total:.2f}." in said_by(widget)


def test_another_line() -> None:
    widget = Hiding(TEXT)
    widget.act("line", text="Café!")
    assert VOCABULARY.decode(widget.line) == "cafe"
    assert "1 accent folded" in said_by(widget)
    widget.act("line", text="")
    assert widget.problem == "The line is empty; type some letters."
    assert VOCABULARY.decode(widget.line) == "cafe"
    widget.act("line", text="the c_t")
    assert widget.problem == (
        "The line already has a gap; type it without gaps, because they are drawn here."
    )
