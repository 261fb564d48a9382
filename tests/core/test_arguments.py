"""Arguments: each public function of the core refuses each bad one in one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze import arguments
from cloze.corpus import Corpus, Piece, sample_windows
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.masking import (
    IGNORE,
)
from cloze.prediction import (
    attention_from,
    compare,
    distribution,
    fill,
    joint,
    mask_positions,
    predict,
    score,
    shipped_model,
    top_k,
)
from cloze.vocabulary import VOCABULARY, TextError

torch.manual_seed(0)
SMALL = MaskedLM(EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=20)).eval()
NARROW = MaskedLM(EncoderConfig(vocab_size=10, d_model=16, n_heads=2, n_layers=1, d_ff=16)).eval()
LINE = VOCABULARY.encode("the quick fox")
ROWS = LINE.repeat(2, 1)
FAR = LINE + 100
PIECE = Piece("a", "the quick brown fox jumps over the lazy dog " * 4)
SHORT = Piece("b", "too short")
CORPUS = Corpus((PIECE,), (PIECE,))
FLAT = torch.full((28,), 1 / 28)
ANSWER = predict(SMALL, LINE, [4])


class Odd:
    def __repr__(self) -> str:
        return "odd\n" * 100_000


NO_NUMBERS: list[Any] = [
    None,
    "x",
    "",
    True,
    np.True_,
    math.nan,
    [1],
    {},
    Odd(),
    1j,
    torch.tensor([1, 2]),
]
NO_COUNTS = [*NO_NUMBERS, 1.5, -1, math.inf, Fraction(1, 2), "9" * 100_000, 10**5000]
NO_TEXTS = [None, 5, 1.5, True, b"a_b", ["a_b"], LINE, Odd()]
NO_POSITIONS = [
    *(None, 4, 1.5, "4", b"4", torch.tensor(4), Odd()),
    *([bad] for bad in [*NO_COUNTS, 13, torch.tensor(True)]),
    torch.zeros(13, dtype=torch.bool),
]
NO_PLACES = [*NO_COUNTS, 13]
NO_IDS = [
    *(None, 5, "the", [1, 2], LINE.numpy(), Odd()),
    *(LINE.to(dtype) for dtype in (torch.uint8, torch.int32, torch.float32, torch.bool)),
    *(LINE - 100, FAR, torch.full((13,), IGNORE)),
]
NO_LINES = [*NO_IDS, ROWS, LINE[:0], torch.tensor(4)]
NO_MODELS: list[Any] = [5, "both", MaskedLM, torch.nn.Linear(2, 2), Odd()]
NO_MAPPINGS: list[Any] = [{}, [], [SMALL], SMALL, 5, {"a": None}, {1: SMALL}, {"a": "b"}]
NO_GENERATORS: list[Any] = [0, "x", np.random.default_rng(0)]
NO_WORDS = [5, "x", "", True, ["both"], Odd()]
NO_CORPORA: list[Any] = [None, "text", LINE, (PIECE, PIECE)]

CASES: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "shipped_model": (shipped_model, [None, *NO_WORDS]),
    "distribution": (lambda x: distribution(SMALL, x), [*NO_LINES, LINE.repeat(2)]),
    "distribution model": (lambda x: distribution(x, LINE), [None, NARROW, *NO_MODELS]),
    "top_k": (top_k, [None, 5, [0.5], LINE, FLAT[:3], FLAT.repeat(2, 1), FLAT * math.nan]),
    "top_k k": (lambda x: top_k(FLAT, x), [*NO_COUNTS, 0]),
    "fill": (lambda x: fill(x, SMALL), [*NO_TEXTS, "no gap"]),
    "fill model": (lambda x: fill("a_b", x), [0, NARROW, *NO_MODELS]),
    "fill k": (lambda x: fill("a_b", SMALL, k=x), [*NO_COUNTS, 0]),
    "mask_positions": (lambda x: mask_positions(x, [0]), [x for x in NO_LINES if x is not FAR]),
    "mask_positions positions": (lambda x: mask_positions(LINE, x), NO_POSITIONS),
    "predict": (lambda x: predict(SMALL, x, [0]), [*NO_LINES, LINE.repeat(2)]),
    "predict model": (lambda x: predict(x, LINE, [4]), [None, NARROW, *NO_MODELS]),
    "predict masked": (lambda x: predict(SMALL, LINE, x), NO_POSITIONS),
    "Prediction": (ANSWER.__getitem__, [*NO_PLACES, 3]),
    "Prediction cost": (ANSWER.cost, [*NO_PLACES, 3]),
    "compare": (lambda x: compare(x, [0], {"mine": SMALL}), NO_TEXTS),
    "compare masked": (lambda x: compare("the quick fox", x, {"mine": SMALL}), NO_POSITIONS),
    "compare models": (lambda x: compare("abc", [0], x), [*NO_MAPPINGS, {"a": NARROW}]),
    "Comparison": (compare("abc", [0], {"mine": SMALL}).__getitem__, [None, *NO_WORDS]),
    "joint": (lambda x: joint(SMALL, x, 0, 1), [*NO_LINES, LINE.repeat(2)]),
    "joint model": (lambda x: joint(x, LINE, 0, 1), [None, NARROW, *NO_MODELS]),
    "joint first": (lambda x: joint(SMALL, LINE, x, 1), [*NO_PLACES, 1]),
    "joint second": (lambda x: joint(SMALL, LINE, 1, x), NO_PLACES),
    "attention_from": (lambda x: attention_from(SMALL, x, 0, 0, 0), [*NO_LINES, LINE.repeat(2)]),
    "attention_from model": (lambda x: attention_from(x, LINE, 0, 0, 0), [None, *NO_MODELS]),
    "attention_from position": (lambda x: attention_from(SMALL, LINE, x, 0, 0), NO_PLACES),
    "attention_from layer": (lambda x: attention_from(SMALL, LINE, 0, x, 0), [*NO_COUNTS, 1]),
    "attention_from head": (lambda x: attention_from(SMALL, LINE, 0, 0, x), [*NO_COUNTS, 2]),
    "fill at_once": (lambda x: fill("a_b", SMALL, at_once=x), ["no", None, 1, np.zeros(2)]),
    "score": (lambda x: score(x, SMALL), [*NO_TEXTS, "a_b"]),
    "score model": (lambda x: score("abc", x), [0, NARROW, *NO_MODELS]),
}


def assert_refused(call: Callable[[], Any]) -> None:
    """Assert that a call is refused in one readable sentence of ours."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentences differ
        call()
    sentence = str(caught.value)
    assert type(caught.value) in (ValueError, TextError), sentence
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert 20 < len(sentence) < 400


@pytest.mark.parametrize("name", CASES)
def test_a_bad_argument_is_refused_in_a_sentence(name: str) -> None:
    call, bad = CASES[name]
    accepted = []
    for value in bad:
        try:
            assert_refused(lambda value=value: call(value))  # type: ignore[misc]
        except BaseException as error:  # all of them at once are quicker to mend
            accepted.append(f"{arguments.shown(value)}: {type(error).__name__} {error}"[:300])
    assert not accepted, "\n".join(accepted)


def test_nothing_is_changed_by_a_refusal() -> None:
    """A learner's text and ids are as they were, and chance is where it was."""
    before, chance = LINE.clone(), torch.random.get_rng_state()
    assert_refused(lambda: sample_windows(LINE, 1, 99))
    assert torch.equal(LINE, before)
    assert torch.equal(torch.random.get_rng_state(), chance)


# What is good stays good


whole = settings(deadline=None, derandomize=True, max_examples=100)
as_written: list[Callable[[int], Any]] = [
    *(int, float, str, np.int64, np.uint8, np.float32, torch.tensor, Fraction),
    *(lambda n: torch.tensor([n]), lambda n: np.array(n)),
]


@whole
@given(st.integers(0, 99), st.sampled_from(as_written))
def test_a_whole_number_is_read_however_it_is_written(n: int, write: Callable[[int], Any]) -> None:
    read = arguments.whole_number(write(n), 0, 99, "It")
    assert read == n
    assert type(read) is int
    assert arguments.whole_number(write(n), n, None, "It") == n


@given(st.integers(-(2**62), 2**62))
def test_large_whole_numbers_are_read_exactly(n: int) -> None:
    assert arguments.whole_number(n, n, n, "It") == n
    with pytest.raises(ValueError, match="It is a whole number from"):
        arguments.whole_number(n, n + 1, n + 2, "It")


@given(st.floats(0, 1))
def test_a_probability_is_read(p: float) -> None:
    assert arguments.probability(p, "It") == p
    assert arguments.probability(np.float64(p), "It") == p
    assert arguments.probability(torch.tensor(p, dtype=torch.float64), "It") == p


@whole
@given(st.lists(st.integers(0, 12)), st.sampled_from([list, tuple, set, iter, np.array]))
def test_positions_are_read_from_any_collection(places: list[int], kind: Any) -> None:
    chosen = kind(places) if places or kind is not np.array else []
    expected = sorted(set(places))
    masked = mask_positions(LINE, chosen)
    assert (masked == VOCABULARY.mask_id).nonzero().flatten().tolist() == expected
    again = predict(SMALL, LINE, torch.tensor(places, dtype=torch.int64))
    assert list(again.positions) == expected


@whole
@given(
    st.lists(st.integers(0, 28), min_size=1, max_size=20).filter(lambda ids: min(ids) < 28),
    st.integers(1, 40),
)
def test_what_can_be_read_gets_an_answer(ids: list[int], k: int) -> None:
    input_ids = torch.tensor(ids)
    assert distribution(SMALL, input_ids).sum(-1).numpy() == pytest.approx(1, abs=1e-5)
    assert len(top_k(distribution(SMALL, input_ids)[0], k)) == min(k, 28)


# What a message repeats


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x", "'x'"),
        (1.5, "1.5"),
        (torch.tensor(1.5), "a tensor of 1.5"),
        (torch.zeros(2, 3), "a tensor of float32 and shape (2, 3)"),
        pytest.param(10**5000, "a number of hundreds of digits", id="long"),
    ],
)
def test_what_was_given_is_repeated(value: object, said: str) -> None:
    assert arguments.shown(value) == said


@given(st.one_of(st.text(min_size=1000), st.lists(st.text(), min_size=100), st.just(Odd())))
def test_what_is_long_is_shortened(value: object) -> None:
    said = arguments.shown(value)
    assert len(said) < 400
    assert "…" in said or "..." in said
    assert "\n" not in said
