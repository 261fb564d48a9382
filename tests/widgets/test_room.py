"""The room guesses: a show of hands as a bet, what it costs, and the tally over an hour."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from cloze.explorer import MaskExplorer
from cloze.explorer.tally import Tally, bet, cost
from cloze.prediction.predictors import Predictor
from cloze.prediction.symbols import Characters
from cloze.vocabulary import Vocabulary

KNOWN = "abcd"


def test_one_hand_more_is_shared_by_all() -> None:
    # 3 + 1 hands raised and one shared by four: (3 + 1/4) / 5, (1 + 1/4) / 5, (1/4) / 5 twice.
    said = [bet({"a": 3, "b": 1}, symbol, 4) for symbol in KNOWN]
    assert said == pytest.approx([0.65, 0.25, 0.05, 0.05])
    assert cost({"a": 3, "b": 1}, "a", 4) == pytest.approx(-math.log(0.65))
    assert cost({"a": 3, "b": 1}, "d", 4) == pytest.approx(math.log(20))


@pytest.mark.parametrize("hands", [{}, {"a": 1}, {"a": 10_000}, {"a": 2, "b": 5, "d": 9}])
def test_a_bet_is_a_distribution_without_an_infinite_price(hands: Mapping[str, int]) -> None:
    said = [bet(hands, symbol, 4) for symbol in KNOWN]
    assert sum(said) == pytest.approx(1)
    assert min(said) > 0


class Letters(Characters):
    """Four letters."""

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        if not 0 < len(text) <= max_len:
            raise ValueError(f"A line has 1 to {max_len} letters.")
        return tuple(text), ""


class Sure(NamedTuple):
    """Gives one symbol 0.7, and shares the rest among the others."""

    letter: str
    vocabulary: Vocabulary = Vocabulary(KNOWN)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:  # noqa: ARG002
        known = self.vocabulary.ordinary
        other = 0.3 / (len(known) - 1)
        said = [0.7 if symbol == self.letter else other for symbol in known]
        return torch.tensor([[*said, 0.0]]).log().expand(int(selected.sum()), -1)


def sure(name: str, letter: str) -> Predictor:
    model = Sure(letter)
    return Predictor(model, Letters(model.vocabulary), 9, name)


READERS = {"left": sure("left", "a"), "both": sure("both", "b")}


def explorer_of(line: str = "abcd", tally: Tally | None = None) -> MaskExplorer:
    explorer = MaskExplorer(READERS, line, [1], tally=tally)
    explorer.guess_first = True
    return explorer


@pytest.fixture
def explorer() -> MaskExplorer:
    return explorer_of()


def test_a_gap_counts_once_however_often_it_is_revealed(explorer: MaskExplorer) -> None:
    explorer.hands = {1: {"B": 3, "c": 1, "d": 0}}
    assert explorer.hands == {1: {"b": 3, "c": 1}}
    explorer.revealed = True
    (paid,) = explorer.tally.paid
    assert (paid["line"], paid["at"], paid["n_hands"]) == ("abcd", 1, 4)
    assert paid["costs"] == pytest.approx(
        {"room": -math.log(0.65), "left": -math.log(0.1), "both": -math.log(0.7)}
    )
    assert "the room" in explorer.picture()._repr_html_()
    explorer.hands = {1: {"b": 300}}
    explorer.revealed = False
    explorer.revealed = True
    explorer.guess_first = False
    explorer.guess_first = True
    explorer.masked = {1, 2}
    explorer.revealed = True
    assert explorer.tally.paid == [paid]


def test_a_gap_without_truth_has_no_price(explorer: MaskExplorer) -> None:
    explorer.line = "a_cd"
    explorer.hands = {1: {"c": 1}}
    explorer.revealed = True
    assert explorer.tally.paid == []


def test_the_tally_goes_on_over_lines_and_explorers() -> None:
    tally = Tally()
    assert repr(tally) == "Tally(0 gaps)"
    first, second = explorer_of(tally=tally), explorer_of("dcba", tally)
    first.hands, second.hands = {1: {"b": 1}}, {1: {"c": 3, "b": 1}}
    first.revealed = second.revealed = True
    first.line, first.masked = "bbbb", {0}
    first.hands = {0: {"d": 1}}
    first.guess_first = False  # shows the truth as well
    room_bits = [-math.log2(p) for p in (0.625, 0.65, 0.125)]
    both = [-math.log2(p) for p in (0.7, 0.1, 0.7)]
    assert repr(tally) == (
        f"Tally(3 gaps: room {sum(room_bits) / 3:.2f}, left 3.32, both {sum(both) / 3:.2f} bits)"
    )
    assert second.tally is tally
    assert second.paid == first.paid == tally.paid
    assert MaskExplorer(READERS, "abcd").tally is not tally
