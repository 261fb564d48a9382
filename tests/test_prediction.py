"""Prediction: filling gaps, distributions, scores; and any text that anybody may type."""

from collections.abc import Callable
from typing import TypeVar

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.encoder import EncoderConfig, MaskedLM
from cloze.prediction import (
    Filled,
    Guess,
    distribution,
    fill,
    mask_positions,
    score,
    shipped_model,
    top_k,
)
from cloze.text import GAP, VOCABULARY, TextError, read_line

T = TypeVar("T")
torch.manual_seed(0)
SMALL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=20)).eval()
LINE = "the qu_ck brown f_x"


# Filling


@pytest.mark.parametrize("at_once", [False, True])
def test_gaps_are_filled_and_nothing_else_is_changed(at_once: bool) -> None:
    filled = fill(LINE, SMALL, at_once=at_once)
    assert filled.typed == LINE
    assert len(filled.text) == len(LINE)
    assert sorted(filled.guesses) == [6, 17]
    for position, (typed, character) in enumerate(zip(LINE, filled.text, strict=True)):
        best = filled.guesses[position][0].character if typed == GAP else typed
        assert character == best


def test_the_shipped_model_fills_a_plain_sentence() -> None:
    filled = fill("She went to the h[MASK]use!")
    assert filled.text == "she went to the house"
    assert filled.typed == "she went to the h_use"
    assert filled.note == "1 character dropped"


def test_at_once_looks_at_the_line_a_single_time() -> None:
    input_ids, _ = read_line(LINE)
    at_once = fill(LINE, SMALL, at_once=True)
    looked = distribution(SMALL, input_ids)
    assert at_once.guesses == {i: top_k(looked[i]) for i in (6, 17)}


def test_one_by_one_fills_the_surest_gap_and_looks_again() -> None:
    input_ids, _ = read_line(LINE)
    looked = distribution(SMALL, input_ids)
    first, second = sorted((6, 17), key=lambda i: -float(looked[i].max()))
    input_ids[first] = looked[first].argmax()
    again = distribution(SMALL, input_ids)
    filled = fill(LINE, SMALL)
    assert list(filled.guesses) == [first, second]
    assert filled.guesses == {first: top_k(looked[first]), second: top_k(again[second])}
    assert filled.guesses[second] != top_k(looked[second])


@pytest.mark.parametrize(("k", "kept"), [(1, 1), (5, 5), (28, 28), (99, 28)])
def test_k_guesses_are_kept_best_first(k: int, kept: int) -> None:
    (guesses,) = fill("a_b", SMALL, k=k).guesses.values()
    assert len(guesses) == kept == len({guess.character for guess in guesses})
    assert guesses == sorted(guesses, key=lambda guess: -guess.probability)


@pytest.mark.parametrize("k", [0, -1])
def test_no_guesses_at_all_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1, not {k}"):
        fill("a_b", SMALL, k=k)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("", "empty"), ("no gap", "no gap; put a _"), ("_" * 21, "21 characters .* reads 20")],
)
def test_a_line_that_cannot_be_filled_is_refused(line: str, reason: str) -> None:
    with pytest.raises(TextError, match=reason):
        fill(line, SMALL)


def test_what_is_filled_reads_the_same_everywhere() -> None:
    guesses = {1: [Guess(" ", 0.5), Guess("b", 0.254)], 0: [Guess("\n", 1.0)]}
    assert repr(Filled("__", "\n ", guesses, "2 accents folded")) == (
        "__\n\n \n  position 0: ↵ 1.00\n  position 1: ␣ 0.50, b 0.25\n  (2 accents folded)"
    )
    assert repr(Filled("_", "a", {}, "")) == "_\na"


# Distributions


def test_a_distribution_is_over_characters_and_sums_to_one() -> None:
    input_ids, _ = read_line(LINE)
    probabilities = distribution(SMALL, input_ids)
    assert probabilities.shape == (19, 28)
    assert probabilities.sum(-1).numpy() == pytest.approx(1, abs=1e-6)
    with_mask = SMALL(input_ids[None])[0].softmax(-1)
    rescaled = with_mask[:, :28] / with_mask[:, :28].sum(-1, keepdim=True)
    assert torch.allclose(probabilities, rescaled, atol=1e-6)
    assert not probabilities.requires_grad


def test_top_k_by_hand() -> None:
    probabilities = torch.zeros(28)
    probabilities[[1, 2, 27]] = torch.tensor([0.25, 0.5, 0.125])
    assert top_k(probabilities) == [("a", 0.5), (" ", 0.25), ("z", 0.125)]


def test_masking_positions_leaves_the_line_alone() -> None:
    input_ids = VOCABULARY.encode("abc")
    assert VOCABULARY.decode(mask_positions(input_ids, {0, 2}), gap=GAP) == "_b_"
    assert VOCABULARY.decode(mask_positions(input_ids, ()), gap=GAP) == "abc"
    assert VOCABULARY.decode(input_ids) == "abc"


# Scores


@pytest.mark.parametrize("text", ["a", "the quick brown fox", "one\ntwo"])
def test_a_score_masks_each_position_by_hand(text: str) -> None:
    input_ids = VOCABULARY.encode(text)
    by_hand = [
        -distribution(SMALL, mask_positions(input_ids, [i]))[i, truth].log().item()
        for i, truth in enumerate(input_ids.tolist())
    ]
    assert score(text, SMALL).numpy() == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.parametrize(
    ("right", "typo"),
    [
        ("she went to the house", "she went to the hquse"),
        ("it was a cold morning", "it was a cold moxning"),
        ("they walked along the river", "they walkjd along the river"),
    ],
)
def test_a_typo_surprises_the_shipped_model(right: str, typo: str) -> None:
    (place,) = (i for i, (a, b) in enumerate(zip(right, typo, strict=True)) if a != b)
    assert score(typo)[place] > score(right)[place] + 2
    assert score(typo).sum() > score(right).sum() + 2


@pytest.mark.parametrize(("text", "reason"), [("", "empty"), ("a_b", "no gaps"), ("a" * 65, "65")])
def test_a_text_that_cannot_be_scored_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TextError, match=reason):
        score(text)


# Anything typed


def answer_or_sentence(ask: Callable[[], T]) -> T | str:
    try:
        return ask()
    except TextError as error:
        return str(error)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.text(st.one_of(st.characters(), st.sampled_from("_ab \n"))))
@example("<script>alert('_')</script>")
@example("👩🏽‍🚀_🦊")
@example("שלום _ a")
@example("_a" * 50_000)
@example("\0_\ud800\x7f")
@example("[MASK][mask")
def test_any_typed_text_gets_an_answer_or_a_sentence(text: str) -> None:
    filled = answer_or_sentence(lambda: fill(text, SMALL))
    if not isinstance(filled, str):
        assert len(filled.text) == len(filled.typed)
        assert filled.typed.count(GAP) == len(filled.guesses) > 0
    costs = answer_or_sentence(lambda: score(text, SMALL))
    if not isinstance(costs, str):
        assert costs.isfinite().all()
        assert (costs >= 0).all()
    # The same line cannot both have a gap and have none.
    assert isinstance(filled, str) or isinstance(costs, str)
    assert all(answer.endswith(".") for answer in (filled, costs) if isinstance(answer, str))


def test_the_shipped_model_is_loaded_once() -> None:
    assert shipped_model() is shipped_model()
