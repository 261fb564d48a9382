"""Prediction: one answer for any model; filling, scores; and any text that anybody may type."""

import math
from collections.abc import Callable
from typing import TypeVar

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus, Piece
from cloze.encoder import EncoderConfig
from cloze.heads import CausalLM, MaskedLM
from cloze.prediction.answers import (
    distribution,
    occlusion,
    predict,
    top_k,
)
from cloze.prediction.lines import fill, score
from cloze.prediction.predictors import MaskedPredictor, compare, predictors_of, unigram
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import CHARACTERS
from cloze.reading import read_line
from cloze.vocabulary import ALPHABET, GAP, VOCABULARY, TextError

T = TypeVar("T")
torch.manual_seed(0)
SMALL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=20)).eval()
LINE = "the qu_ck brown f_x"


# Filling


def test_one_by_one_fills_the_surest_gap_and_looks_again() -> None:
    input_ids, _ = read_line(LINE)
    looked = distribution(SMALL, input_ids)
    first, second = sorted((6, 17), key=lambda i: -float(looked[i].max()))
    input_ids[first] = looked[first].argmax()
    again = distribution(SMALL, input_ids)
    filled = fill(LINE, SMALL)
    input_ids[second] = again[second].argmax()
    assert (filled.typed, filled.text) == (LINE, VOCABULARY.decode(input_ids))
    assert list(filled.guesses) == [first, second]
    at_once = fill(LINE, SMALL, at_once=True)
    for guesses, probabilities in (
        (filled.guesses[first], looked[first]),
        (filled.guesses[second], again[second]),
        (at_once.guesses[second], looked[second]),
    ):
        assert dict(guesses) == pytest.approx(dict(top_k(probabilities)), abs=1e-6)


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


# Answers


def test_a_comparison_reads_as_what_it_found() -> None:
    comparison = compare("the quick b_own", [4])
    text = repr(comparison)
    with pytest.raises(ValueError, match="is one of left, right, both, not 'mine'"):
        comparison["mine"]
    assert text.splitlines()[0] == "the _uick b_own"
    assert "position 4, in truth q" in text
    assert "position 11\n" in text
    both = comparison["both"]
    cost = both.cost(4)
    assert cost is not None
    assert f"cost {cost:.2f} nats = {cost / 0.693147:.2f} bits" in text
    assert text.splitlines()[-1].endswith(f"both {both.loss:.2f}")


def test_what_is_hidden_and_what_is_not_known() -> None:
    input_ids, _ = read_line(LINE)
    answer = predict(SMALL, input_ids, [0])
    assert answer.positions == (0, 6, 17)
    assert answer.cost(6) is None
    assert answer.known_costs == [answer.cost(0)] == [answer.loss]
    assert predict(SMALL, input_ids, []).loss is None
    with pytest.raises(ValueError, match="Position 3 is not masked; what is masked: 0, 6, 17"):
        answer[3]


def test_occlusion_is_what_it_costs_an_answer_to_hide_one_more() -> None:
    line = VOCABULARY.encode("she t[MASK]ok her")
    for at in (6, 5):  # the truth is known, and it is not
        costs = occlusion(SMALL, line, [6, 9], at)
        before = predict(SMALL, line, [6, 9])
        for other in (0, 8):
            after = predict(SMALL, line, [6, 9, other])
            if at == 6:
                expected = after.costs[after.positions.index(6)] - before.costs[1]
            else:
                p, q = before[5], after[5]
                expected = (p * (p / q).log()).sum()
            assert costs[other] == pytest.approx(expected.item(), abs=1e-5)
        assert costs[[5, 6, 9]].abs().max() < 1e-6


# Lines of characters


def test_characters_are_read_and_written() -> None:
    line, note = CHARACTERS.read("Été, [MASK]t_!", 64)
    assert CHARACTERS.write(line) == "ete _t_"
    assert "2 accents folded" in note
    assert CHARACTERS.words(line) == [range(3), range(4, 7)]
    assert "".join(CHARACTERS.known) == ALPHABET
    assert CHARACTERS.read_symbol("Q") == "q"
    for bad in ("", "ab", "_", None):
        with pytest.raises(ValueError, match="A gap holds one letter"):
            CHARACTERS.read_symbol(bad)


def test_the_baseline_is_that_of_the_text_that_was_learned_from() -> None:
    corpus = Corpus((Piece("a", "aab"),), (Piece("b", "c"),))
    own = unigram(corpus)
    assert own.probabilities == pytest.approx([1 / 4, 0, 2 / 4, 1 / 4, *[0] * 24])
    assert own.cost(VOCABULARY.ids["a"]) == pytest.approx(math.log(2))
    assert own.cost(VOCABULARY.ids["q"]) == math.inf
    shipped = unigram()
    assert shipped.probabilities == letter_frequencies().tolist()
    assert shipped.text != own.text
    assert predictors_of(SMALL)["both"].baseline is None
    assert predictors_of(SMALL, corpus)["both"].baseline == own
    assert all(each.baseline == shipped for each in predictors_of(None).values())
    both = predictors_of({"untrained": SMALL, "trained": shipped_model("both")})
    assert [each.baseline for each in both.values()] == [None, shipped]


def test_a_causal_model_cannot_be_looked_into() -> None:
    assert MaskedPredictor(CausalLM()).opened("she", [1]) is None
