"""Prediction: one answer for any model; filling, scores; and any text that anybody may type."""

import math
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.baselines import letter_frequencies
from cloze.checkpoint import CHECKPOINTS, provenance
from cloze.corpus import Corpus, Piece
from cloze.encoder import DIRECTIONS, EncoderConfig
from cloze.heads import CausalLM, MaskedLM
from cloze.masking import seeded
from cloze.prediction.answers import (
    Guess,
    attention_from,
    distribution,
    joint,
    mask_positions,
    occlusion,
    predict,
    top_k,
    visible_costs,
)
from cloze.prediction.lines import fill, score
from cloze.prediction.predictors import MaskedPredictor, compare, predictors_of, unigram
from cloze.prediction.shipped import shipped_model, shipped_models
from cloze.prediction.symbols import CHARACTERS
from cloze.reading import read_line
from cloze.vocabulary import ALPHABET, GAP, VOCABULARY, TextError

T = TypeVar("T")
torch.manual_seed(0)
SMALL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=20)).eval()
LINE = "the qu_ck brown f_x"


# Filling


def assert_same(one: dict[int, list[Guess]], other: dict[int, list[Guess]]) -> None:
    """Compare guesses; sums over a line alone and over its gaps alone differ in the last digit."""
    assert list(one) == list(other)
    for mine, yours in zip(one.values(), other.values(), strict=True):
        assert [g.character for g in mine] == [g.character for g in yours]
        chances = [g.probability for g in yours]
        assert [g.probability for g in mine] == pytest.approx(chances, abs=1e-6)


def test_at_once_looks_at_the_line_a_single_time() -> None:
    input_ids, _ = read_line(LINE)
    at_once = fill(LINE, SMALL, at_once=True)
    looked = distribution(SMALL, input_ids)
    assert_same(at_once.guesses, {i: top_k(looked[i]) for i in (6, 17)})


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
    assert_same(filled.guesses, {first: top_k(looked[first]), second: top_k(again[second])})
    assert filled.guesses[second] != top_k(looked[second])


@pytest.mark.parametrize(("k", "kept"), [(5, 5), (99, 28)])
def test_k_guesses_are_kept_best_first(k: int, kept: int) -> None:
    (guesses,) = fill("a_b", SMALL, k=k).guesses.values()
    assert len(guesses) == kept == len({guess.character for guess in guesses})
    assert guesses == sorted(guesses, key=lambda guess: -guess.probability)


# Distributions


def test_special_symbols_take_nothing_from_a_distribution() -> None:
    input_ids, _ = read_line(LINE)
    sure_of_mask = deepcopy(SMALL)
    with torch.no_grad():
        sure_of_mask.head.bias[VOCABULARY.mask_id] += 10
    probabilities = distribution(sure_of_mask, input_ids)
    assert probabilities.shape == (19, 28)
    torch.testing.assert_close(probabilities, distribution(SMALL, input_ids))
    assert not probabilities.requires_grad


# Scores


@pytest.mark.parametrize("text", ["a", "the quick brown fox", "one\ntwo"])
def test_a_score_masks_each_position_by_hand(text: str) -> None:
    input_ids = VOCABULARY.encode(text)
    by_hand = [
        -distribution(SMALL, mask_positions(input_ids, [i]))[i, truth].log().item()
        for i, truth in enumerate(input_ids.tolist())
    ]
    assert score(text, SMALL).numpy() == pytest.approx(by_hand, abs=1e-5)


def test_a_typo_surprises_the_shipped_model() -> None:
    right, typo = score("they walked along the river"), score("they walkjd along the river")
    assert typo[9] > right[9] + 2
    assert typo.sum() > right.sum() + 2


def test_within_words_the_rest_of_the_word_is_hidden() -> None:
    """A word's last letter, and a space, cost what they do alone; its first letters cost more."""
    text = "she forgot her umbrella again"
    alone, mended = score(text), score(text, within_words="left to right")
    for i, character in enumerate(text):
        if character == " " or i + 1 == len(text) or text[i + 1] == " ":
            assert mended[i].item() == pytest.approx(alone[i].item(), abs=1e-4)
    assert mended[15:23].sum() > alone[15:23].sum() + 5
    hidden = text.replace("umbrella", "um______")  # what the third letter is told from
    said = predict(shipped_model(), read_line(hidden, 64)[0], [17])[17]
    assert mended[17].item() == pytest.approx(-math.log(said[VOCABULARY.ids["b"]]), abs=1e-4)


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


# Left, right, both


def test_a_prediction_is_the_distribution_at_the_masked_positions() -> None:
    input_ids = VOCABULARY.encode("the quick fox")
    answer = predict(SMALL, input_ids, [9, 4])
    assert answer.positions == (4, 9)
    expected = distribution(SMALL, mask_positions(input_ids, [4, 9]))
    for position in (4, 9):
        torch.testing.assert_close(answer[position], expected[position])
        cost = -expected[position][input_ids[position]].log()
        assert answer.cost(position) == pytest.approx(float(cost), abs=1e-5)
    assert answer.loss == pytest.approx(sum(answer.known_costs) / 2)
    assert "[MASK]" not in VOCABULARY.decode(input_ids), "the line itself is left alone"


def test_a_gap_in_the_line_is_asked_and_costs_nothing_known() -> None:
    input_ids, _ = read_line(LINE)
    answer = predict(SMALL, input_ids, [0])
    assert answer.positions == (0, 6, 17)
    assert answer.cost(6) is None
    assert answer.known_costs == [answer.cost(0)]
    assert predict(SMALL, input_ids, []).loss is None


def test_the_twins_differ_from_the_encoder_in_what_they_may_look_at_and_in_nothing_else() -> None:
    models = shipped_models()
    assert list(models) == list(DIRECTIONS)
    configs = [model.config for model in models.values()]
    assert [config.direction for config in configs] == list(DIRECTIONS)
    assert len({replace(config, direction="both") for config in configs}) == 1
    told = [provenance(CHECKPOINTS / f"{name}.safetensors") for name in ("masked", "left", "right")]
    commands = [
        re.sub(r" --direction \w+|\w+\.safetensors", "", str(origin["command"])) for origin in told
    ]
    assert commands[0] == commands[1] == commands[2]
    for key in ("seed", "steps", "corpus_sha256"):
        assert told[0][key] == told[1][key] == told[2][key]


def test_a_comparison_reads_as_what_it_found() -> None:
    comparison = compare("the quick b_own", [4])
    text = repr(comparison)
    assert text.splitlines()[0] == "the _uick b_own"
    assert "position 4, in truth q" in text
    assert "position 11\n" in text
    both = comparison["both"]
    cost = both.cost(4)
    assert cost is not None
    assert f"cost {cost:.2f} nats = {cost / 0.693147:.2f} bits" in text
    assert text.splitlines()[-1].endswith(f"both {both.loss:.2f}")


def test_any_models_can_be_compared_and_the_shortest_one_sets_the_limit() -> None:
    assert compare("abc", [0], {"mine": SMALL}).positions == (0,)
    with pytest.raises(TextError, match="reads 20"):
        compare("a" * 21, [0], {"mine": SMALL, "shipped": shipped_model()})


def test_a_joint_guess_by_hand() -> None:
    input_ids = mask_positions(VOCABULARY.encode("new york"), [1, 2])
    table = joint(SMALL, input_ids, 1, 2)
    assert float(table.sum()) == pytest.approx(1, abs=1e-5)
    first = distribution(SMALL, input_ids)[1]
    torch.testing.assert_close(table.sum(1), first)
    a, b = VOCABULARY.ids["e"], VOCABULARY.ids["w"]
    filled = input_ids.clone()
    filled[1] = a
    by_hand = first[a] * distribution(SMALL, filled)[2][b]
    assert float(table[a, b]) == pytest.approx(float(by_hand), abs=1e-6)


def test_attention_is_where_a_position_looks_and_not_who_looks_at_it() -> None:
    weights = attention_from(shipped_model("left"), VOCABULARY.encode("the quick"), 3, 0, 1)
    assert (weights[:4] > 0).all()
    assert (weights[4:] == 0).all()


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


def test_visible_costs_are_those_of_what_is_read() -> None:
    lines = torch.randint(28, (70, 9), generator=seeded(2))
    costs = visible_costs(SMALL, lines)
    for row in (0, 69):
        own = distribution(SMALL, lines[row]).gather(1, lines[row, :, None]).squeeze(1).log()
        torch.testing.assert_close(costs[row], -own, atol=1e-5, rtol=1e-4)


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


def test_what_is_looked_into_reads_the_line_with_its_gaps() -> None:
    predictor, line = MaskedPredictor(SMALL), tuple("she took her")
    opened = predictor.opened(line, [9, 10])
    assert opened
    logits = opened.module(opened.input_ids)[0, opened.before + 9]
    expected = predictor.predict(line, [9, 10])[9]
    assert torch.allclose(opened.log_probs(logits).exp(), expected, atol=1e-6)
    assert MaskedPredictor(CausalLM()).opened(line, [9]) is None


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


# What a learner may mistake


IDS = VOCABULARY.encode("the fox")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: shipped_model("up"), "There is no checkpoint at "),
        (lambda: predict(SMALL, IDS, [7]), "A position in this line is a whole number from 0 to 6"),
        (lambda: predict(SMALL, IDS, [2])[3], "Position 3 is not masked; what is masked: 2."),
        (lambda: compare("abc", [0], {"mine": SMALL})["both"], "is one of mine, not 'both'."),
    ],
)
def test_a_mistake_gets_one_clear_sentence(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ask()
