"""Inside: what it shows is what the model computes, whole, without a part, and with another's."""

from __future__ import annotations

import pytest
import torch

from cloze.encoder import EncoderConfig
from cloze.explorer import Inside
from cloze.explorer.answers import Data
from cloze.explorer.inside_widget import GAP_AT, LINE, OTHER
from cloze.heads import MaskedLM, symbol_log_probs
from cloze.inside import Change, run
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

UMBRELLA = "on monday anna took her red umbrella to work because it was raining again"


def ids(line: str) -> torch.Tensor:
    read = VOCABULARY.encode(line)
    read[GAP_AT] = VOCABULARY.mask_id
    return read[None]


def changed(widget: Inside, **settings: object) -> Data:
    widget.inside = widget.inside | settings
    return widget.way()


def cost(*changes: Change) -> float:
    """Return what the truth costs in the default line, asked of torch."""
    logits = run(shipped_model(), ids(LINE), *changes)["logits"][0, GAP_AT]
    return -symbol_log_probs(logits, VOCABULARY)[VOCABULARY.ids["a"]].item()


def test_the_last_rung_is_the_answer_and_heads_weigh_what_they_read() -> None:
    way = Inside().way()
    assert way["rungs"][-1]["own"]["cost"] == pytest.approx(cost(), abs=1e-5)
    parts = run(shipped_model(), ids(LINE))
    for rung in way["rungs"][1::2]:
        weights = parts["pattern", rung["layer"]][0, :, GAP_AT]
        for head, read in enumerate(rung["heads"]):
            assert read, "every head reads somewhere"
            for place, _, weight in read:
                assert weight == pytest.approx(weights[head, place].item(), abs=1e-6)


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_part_is_switched_off(everywhere: bool) -> None:
    torch.manual_seed(0)
    model = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=2, d_ff=16)).eval()
    way = changed(Inside(model=model), parts={"0.1": "off", "1": "off"}, everywhere=everywhere)
    at = None if everywhere else [GAP_AT]
    logits = run(
        model,
        ids(LINE),
        Change("z", 0, 0.0, at, head=1),
        Change("mlp_out", 1, 0.0, at),
    )["logits"][0, GAP_AT]
    expected = -symbol_log_probs(logits, VOCABULARY)[VOCABULARY.ids["a"]].item()
    assert not way["means"]
    assert way["rungs"][-1]["own"]["cost"] == pytest.approx(expected, abs=1e-5)
    assert way["rungs"][-1]["before"] != way["rungs"][-1]["own"]["cost"]


def test_a_head_swapped_in_carries_the_letter_past_all_but_the_last_part() -> None:
    widget = Inside()
    there = run(shipped_model(), ids(OTHER))
    way = changed(widget, parts={"0.1": "swap"})
    swap = Change("z", 0, there["z", 0][:, :, 1], [GAP_AT], head=1)
    assert way["rungs"][-1]["own"]["cost"] == pytest.approx(cost(swap), abs=1e-5)
    effect = way["effect"]
    assert (effect["here"], effect["there"]) == ("a", "e")
    assert effect["after"] < 0 < effect["direct"]  # it flips the answer, and not by itself
    late = changed(widget, parts={"1": "swap"})["effect"]
    assert late["direct"] == pytest.approx(late["after"], abs=1e-4)  # nothing comes after it


def test_it_says_in_words_what_it_shows() -> None:
    widget = Inside()
    p, costs = widget.predictions["both"][GAP_AT].max(), cost()
    assert (
        repr(widget) == f"Inside('she asked wh_t it was': a {p:.2f}, the truth costs {costs:.2f})"
    )


def test_words_have_an_inside_too() -> None:
    widget = Inside(UMBRELLA, 6, model=shipped_model("world"))
    rungs = widget.way()["rungs"]
    answer = widget.predictions["both"]
    assert rungs[-1]["own"]["cost"] == pytest.approx(answer.cost(6), abs=1e-5)
    heads = rungs[1]["heads"]
    assert all(0 <= place < 14 for read in heads for place, _, _ in read)
