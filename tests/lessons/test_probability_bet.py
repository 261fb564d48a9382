"""A bet on a gap: what it is, what it costs, and how often the corpus has each letter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.corpus import Corpus, Piece
from cloze.lessons.the_loss.probability_bet import CHIPS, bet_of, letter_counts, shares
from cloze.loss import expected_cost

COUNTS = {"l": 5, "t": 3, "r": 2}


chips = st.lists(st.sampled_from("lrt"), max_size=CHIPS).map(
    lambda given: {letter: given.count(letter) for letter in "lrt"}
)


@given(chips)
def test_a_bet_is_a_probability(handed_out: dict[str, int]) -> None:
    bet = bet_of(handed_out)
    assert math.isclose(sum(bet.values()), 1)
    assert min(bet.values()) >= 0
    assert all(bet[c] >= n / CHIPS - 1e-12 for c, n in handed_out.items())


def test_costs_of_the_corners() -> None:
    assert expected_cost(shares(COUNTS), bet_of({})) == pytest.approx(math.log(28))
    certain = bet_of({"l": CHIPS})
    assert expected_cost(certain, certain) == 0
    assert expected_cost(shares(COUNTS), certain) == math.inf


def test_letters_are_counted_in_whole_words_of_training() -> None:
    pieces = Piece("a", "look he took a book\nlook at the bookshop it shook\nlook"), Piece("b", "a")
    corpus = Corpus(pieces[:1], (Piece("c", "hook hook"),))
    assert letter_counts(corpus, "_ook") == {"l": 3, "t": 1, "b": 1}
    assert letter_counts(corpus, "a_") == {"t": 1}
    with pytest.raises(ValueError, match="no word like 'q_q'"):
        letter_counts(corpus, "q_q")


def test_more_chips_than_there_are_are_refused() -> None:
    with pytest.raises(ValueError, match="Hand out 20 chips at most, by letter"):
        bet_of({"l": 11, "t": 10})
