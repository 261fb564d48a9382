"""A bet on a gap: what is a bet, what it costs, and when the truth is told."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.corpus import Corpus, Piece
from cloze.lessons.the_loss.probability_bet import (
    CHIPS,
    ProbabilityBet,
    bet_of,
    letter_counts,
    shares,
)
from cloze.loss import cost, expected_cost
from cloze.vocabulary import ALPHABET
from tests.markup import assert_works, check, said_by

COUNTS = {"l": 5, "t": 3, "r": 2}


def test_the_bet_works() -> None:
    assert_works(lambda: ProbabilityBet(COUNTS, "_ook", "lrt"))


chips = st.lists(st.sampled_from("lrt"), max_size=CHIPS).map(
    lambda given: {letter: given.count(letter) for letter in "lrt"}
)


@given(chips)
def test_a_bet_is_a_probability(handed_out: dict[str, int]) -> None:
    bet = bet_of(handed_out)
    assert list(bet) == list(ALPHABET)
    assert math.isclose(sum(bet.values()), 1)
    assert min(bet.values()) >= 0
    assert all(bet[c] >= n / CHIPS - 1e-12 for c, n in handed_out.items())


@given(chips)
def test_no_bet_pays_less_than_the_honest_one(handed_out: dict[str, int]) -> None:
    truth = shares(COUNTS)
    least = expected_cost(truth, truth)
    assert math.isclose(least, -sum(p * math.log(p) for p in truth.values()))
    assert expected_cost(truth, bet_of(handed_out)) >= least - 1e-12


def test_prices_of_the_corners() -> None:
    assert expected_cost(shares(COUNTS), bet_of({})) == pytest.approx(math.log(28))
    assert cost(1) == 0
    assert cost(0) == math.inf
    assert cost(0.25) == pytest.approx(2 * math.log(2))
    certain = bet_of({"l": CHIPS})
    assert expected_cost(certain, certain) == 0
    assert expected_cost(shares(COUNTS), certain) == math.inf
    assert expected_cost({"l": 1.0}, {}) == math.inf


def test_letters_are_counted_in_whole_words_of_training() -> None:
    pieces = Piece("a", "look he took a book\nlook at the bookshop it shook\nlook"), Piece("b", "a")
    corpus = Corpus(pieces[:1], (Piece("c", "hook hook"),))
    assert letter_counts(corpus, "_ook") == {"l": 3, "t": 1, "b": 1}
    assert letter_counts(corpus, "a_") == {"t": 1}
    with pytest.raises(ValueError, match="no word like 'q_q'"):
        letter_counts(corpus, "q_q")
    for word in ("look", "__ok", "_OOK"):
        with pytest.raises(ValueError, match="with one gap, such as '_ook', not"):
            letter_counts(corpus, word)


def test_giving_and_taking_back() -> None:
    bet = ProbabilityBet(COUNTS, "_ook", "lrt")
    assert repr(bet) == "ProbabilityBet(_ook: nothing handed out)"
    for letter in "lllt":
        bet.act("give", letter=letter)
    bet.act("take", letter="l")
    assert repr(bet) == "ProbabilityBet(_ook: l 0.10, t 0.05)"
    assert bet.left == CHIPS - 3
    assert math.isclose(sum(bet.bet.values()), 1)
    share = 0.1 + 0.85 / 28
    assert f"l has {share:.3f} and would cost {-math.log(share):.2f} nats" in bet.html
    cells = [cell.get_text() for cell in check(bet).select("tbody tr")[0].select("td")]
    assert cells[1:] == [f"{share:.3f}", f"{-math.log(share):.2f}", f"{-math.log2(share):.2f}"]


def test_the_truth_is_a_secret_until_it_is_asked_for() -> None:
    bet = ProbabilityBet(COUNTS, "_ook", "lr")
    assert "0.300" not in bet.html
    assert "10 places" not in bet.html
    for _ in range(CHIPS):
        bet.act("give", letter="l")
    assert "you pay 0.00 nats on average" in bet.html
    bet.act("reveal")
    said = said_by(bet)
    assert "The true shares: l 0.500, t 0.300, r 0.200." in said
    assert "Over all 10 places your bet costs ∞ nats on average" in said
    assert "best bet costs 1.03 nats" in said
    assert "0.300 together" in bet.html
    bet.act("restart")
    assert bet.left == CHIPS
    assert "10 places" not in bet.html


def test_no_more_than_everything_is_handed_out() -> None:
    bet = ProbabilityBet(COUNTS, "_ook", "lrt")
    for _ in range(CHIPS + 1):
        bet.act("give", letter="t")
    assert bet.problem.startswith("All of 1.00 is handed out")
    assert bet.chips["t"] == CHIPS
    assert check(bet).select("tbody tr")[0].get_text().endswith("0.000∞∞")
