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
from cloze.baselines import (
    NeighbourBaseline,
    baseline_losses,
    letter_frequencies,
    uniform_loss,
)
from cloze.corpus import Corpus, Piece, sample_windows
from cloze.encoder import EncoderConfig
from cloze.evaluation import HeldOutCosts, held_out_costs, held_out_loss, kinds_of
from cloze.heads import MaskedLM
from cloze.loss import cost, expected_cost, mlm_loss, perplexity, to_bits
from cloze.masking import (
    IGNORE,
    MaskedBatch,
    StaticMasks,
    draw_masks,
    held_out_batch,
    mask_tokens,
    seeded,
)
from cloze.prediction import (
    distribution,
    mask_positions,
    predict,
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
HELD_OUT = held_out_batch(ROWS)
NOTHING = MaskedBatch(ROWS, torch.full_like(ROWS, IGNORE))
BASELINE = NeighbourBaseline((-1,)).fit(ROWS, epochs=1)
COSTS = HeldOutCosts({"mine": torch.ones(3)}, torch.zeros(3, dtype=torch.int64))


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
NO_RATES = [*NO_NUMBERS, "0.5", -0.1, 1.1, math.inf, torch.tensor(2.0)]
NO_TEXTS = [None, 5, 1.5, True, b"a_b", ["a_b"], LINE, Odd()]
NO_IDS = [
    *(None, 5, "the", [1, 2], LINE.numpy(), Odd()),
    *(LINE.to(dtype) for dtype in (torch.uint8, torch.int32, torch.float32, torch.bool)),
    *(LINE - 100, FAR, torch.full((13,), IGNORE)),
]
NO_LINES = [*NO_IDS, ROWS, LINE[:0], torch.tensor(4)]
NO_ROWS = [*NO_IDS, LINE, ROWS[None], ROWS[:0]]
NO_MODELS: list[Any] = [5, "both", MaskedLM, torch.nn.Linear(2, 2), Odd()]
NO_MAPPINGS: list[Any] = [{}, [], [SMALL], SMALL, 5, {"a": None}, {1: SMALL}, {"a": "b"}]
NO_GENERATORS: list[Any] = [0, "x", np.random.default_rng(0)]
NO_WORDS = [5, "x", "", True, ["both"], Odd()]
NO_SHARES: list[Any] = [None, 5, [0.5, 0.5], {"a": "x"}, {"a": 2.0}, {"a": math.nan}, {"a": -0.5}]
NO_BATCHES: list[Any] = [
    *(None, 5, ROWS, (ROWS, ROWS), NOTHING, MaskedBatch(LINE, LINE), MaskedBatch(ROWS, LINE)),
    *(
        MaskedBatch(ROWS.float(), ROWS),
        MaskedBatch(ROWS, ROWS.float()),
        MaskedBatch(ROWS, ROWS + 50),
    ),
]
NO_CORPORA: list[Any] = [None, "text", LINE, (PIECE, PIECE)]

CASES: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "mask_tokens": (mask_tokens, [*NO_IDS, LINE[:0], torch.full((3,), 28)]),
    "mask_tokens mask_prob": (lambda x: mask_tokens(LINE, x), NO_RATES),
    "mask_tokens mask_share": (lambda x: mask_tokens(LINE, mask_share=x), [*NO_RATES, 0.95]),
    "mask_tokens random_share": (lambda x: mask_tokens(LINE, random_share=x), [*NO_RATES, 0.3]),
    "mask_tokens vocabulary": (lambda x: mask_tokens(LINE, vocabulary=x), [None, 29, "abc"]),
    "mask_tokens generator": (lambda x: mask_tokens(LINE, generator=x), NO_GENERATORS),
    "seeded": (seeded, NO_COUNTS),
    "StaticMasks": (StaticMasks, NO_IDS),
    "StaticMasks mask_prob": (lambda x: StaticMasks(LINE, x), NO_RATES),
    "StaticMasks copies": (lambda x: StaticMasks(LINE, copies=x), [*NO_COUNTS, 0]),
    "StaticMasks seed": (lambda x: StaticMasks(LINE, seed=x), NO_COUNTS),
    "StaticMasks epoch": (StaticMasks(LINE).epoch, NO_COUNTS),
    "held_out_batch": (held_out_batch, NO_IDS),
    "held_out_batch mask_prob": (lambda x: held_out_batch(ROWS, x), NO_RATES),
    "held_out_batch seed": (lambda x: held_out_batch(ROWS, seed=x), NO_COUNTS),
    "draw_masks": (lambda x: draw_masks(x, seeded(0)), NO_IDS),
    "draw_masks generator": (lambda x: draw_masks(ROWS, x), [None, *NO_GENERATORS]),
    "draw_masks mask_prob": (lambda x: draw_masks(ROWS, seeded(0), x), NO_RATES),
    "mlm_loss": (
        lambda x: mlm_loss(x, ROWS),
        [None, 5, "x", [[0.0]], ROWS, torch.zeros(()), torch.zeros(3, 29), torch.zeros(2, 13, 2)],
    ),
    "mlm_loss labels": (
        lambda x: mlm_loss(torch.zeros(2, 13, 29), x),
        [None, 5, LINE, ROWS.float(), ROWS.to(torch.uint8), NOTHING.labels, ROWS + 29, ROWS - 50],
    ),
    "mlm_loss reduction": (lambda x: mlm_loss(torch.zeros(13, 29), LINE, x), [None, *NO_WORDS]),
    "cost": (cost, NO_RATES),
    "expected_cost": (lambda x: expected_cost(x, {}), [*NO_SHARES, {}, {"a": 0.5}]),
    "expected_cost bet": (lambda x: expected_cost({"a": 1.0}, x), [*NO_SHARES, {"a": 1, "b": 1}]),
    "to_bits": (to_bits, [*NO_NUMBERS, "0.5"]),
    "perplexity": (perplexity, [*NO_NUMBERS, "0.5"]),
    "uniform_loss": (uniform_loss, [*NO_COUNTS, 0]),
    "NeighbourBaseline": (NeighbourBaseline, [None, 1, "ab", (1.5,), (None,), (10**9,), (1,) * 9]),
    "NeighbourBaseline strength": (
        lambda x: NeighbourBaseline((), x),
        [*NO_NUMBERS, 0, -1, math.inf],
    ),
    "fit": (lambda x: NeighbourBaseline(()).fit(x, 1), NO_ROWS),
    "fit epochs": (lambda x: NeighbourBaseline(()).fit(ROWS, x), [*NO_COUNTS, 0]),
    "fit seed": (lambda x: NeighbourBaseline(()).fit(ROWS, 1, x), NO_COUNTS),
    "log_probs": (BASELINE.log_probs, NO_IDS),
    "log_probs before fit": (NeighbourBaseline(()).log_probs, [ROWS]),
    "baseline_losses": (lambda x: baseline_losses(x, HELD_OUT), NO_CORPORA),
    "baseline_losses held_out": (lambda x: baseline_losses(CORPUS, x), NO_BATCHES),
    "held_out_loss": (lambda x: held_out_loss(x, HELD_OUT), [None, NARROW, *NO_MODELS]),
    "held_out_loss held_out": (
        lambda x: held_out_loss(SMALL, x),
        [*NO_BATCHES, MaskedBatch(ROWS + 50, ROWS)],
    ),
    "held_out_loss batch_size": (lambda x: held_out_loss(SMALL, HELD_OUT, x), [*NO_COUNTS, 0]),
    "kinds_of": (kinds_of, NO_LINES),
    "count": (COSTS.count, NO_WORDS),
    "mean": (COSTS.mean, [None, *NO_WORDS]),
    "mean kind": (lambda x: COSTS.mean("mine", x), NO_WORDS),
    "by_kind": (COSTS.by_kind, [None, *NO_WORDS]),
    "held_out_costs": (lambda x: held_out_costs(x, {"a": NARROW}), NO_CORPORA),
    "held_out_costs models": (lambda x: held_out_costs(CORPUS, x), [*NO_MAPPINGS, {"a": NARROW}]),
    "held_out_costs length": (
        lambda x: held_out_costs(CORPUS, {"a": NARROW}, x),
        [*NO_COUNTS, 0, 10_000],
    ),
    "letter_frequencies": (letter_frequencies, ["", 0, [], *NO_CORPORA[1:]]),
    "EncoderConfig": (lambda x: EncoderConfig(max_len=x), [10**5000, SMALL, Odd()]),
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
    assert_refused(lambda: mask_tokens(LINE, 2))
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
    st.integers(0, 2**63 - 1),
)
def test_what_can_be_read_gets_an_answer(ids: list[int], k: int, seed: int) -> None:
    input_ids = torch.tensor(ids)
    assert mask_tokens(input_ids, generator=seeded(seed)).selected.any()
    assert distribution(SMALL, input_ids).sum(-1).numpy() == pytest.approx(1, abs=1e-5)
    assert len(top_k(distribution(SMALL, input_ids)[0], k)) == min(k, 28)
    batch = held_out_batch(input_ids[None], seed=seed)
    assert math.isfinite(held_out_loss(SMALL, batch, np.int64(k)))  # type: ignore[arg-type]
    assert len(kinds_of(input_ids)) == len(ids)


def test_losses_too_large_for_a_float_are_infinite() -> None:
    assert perplexity(1e6) == math.inf
    assert to_bits(math.inf) == math.inf
    assert cost(0) == math.inf


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
