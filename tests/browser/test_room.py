"""The room guesses by hand: hands are raised, revealed and paid for."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from cloze.explorer import MaskExplorer
from cloze.explorer.tally import Tally
from cloze.explorer.widget import FEW
from cloze.prediction.predictors import Predictor
from cloze.prediction.symbols import CHARACTERS, Words
from cloze.vocabulary import BEGIN, END, MASK, VOCABULARY, Vocabulary
from tests.browser.conftest import Take
from tests.browser.hand import Hand
from tests.markup import assert_usable, check, read, said_by


class Sure(NamedTuple):
    """Gives one symbol 0.7, and shares the rest among the others."""

    symbol: str
    vocabulary: Vocabulary = VOCABULARY

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:  # noqa: ARG002
        known = self.vocabulary.ordinary
        p = [0.7 if symbol == self.symbol else 0.3 / (len(known) - 1) for symbol in known]
        p += [0.0] * (len(self.vocabulary) - len(known))
        return torch.tensor([p]).log().expand(int(selected.sum()), -1)


READERS = {
    name: Predictor(Sure(letter), CHARACTERS, 9, name)
    for name, letter in (("left", "a"), ("both", "b"))
}
OTHER = 0.3 / 27
"""What they give a letter of which they are not sure."""


def bet(*hands: int) -> float:
    """Return the probability of the symbol that the first of these hands were raised for."""
    return (hands[0] + 1 / 28) / (sum(hands) + 1)


def explorer_of(line: str = "abcd", tally: Tally | None = None) -> MaskExplorer:
    explorer = MaskExplorer(READERS, line, [1], tally=tally)
    explorer.guess_first = True
    return explorer


@pytest.fixture
def explorer() -> MaskExplorer:
    return explorer_of()


def raise_hands(driven: Hand, *keys: str, at: int = 1) -> None:
    for key in keys:
        driven.act("guess", at=f"{at}", key=key)


def raised(driven: Hand) -> dict[str, str]:
    """Return the counts that the keys show."""
    page = assert_usable(driven.html)
    keys = page.select(".keys .raised")
    assert page.select('.keys [tabindex="0"]') == keys[:1]  # one stop of the Tab key
    return {str(key["data-with-key"]): key.select_one("small").get_text() for key in keys}  # type: ignore[union-attr]


def test_hands_are_raised_and_corrected(driven: Hand, explorer: MaskExplorer) -> None:
    raise_hands(driven, *"aBba")
    assert explorer.hands == {1: {"a": 2, "b": 2}}
    for key, n in {"a": 1, "b": 12, "d": 17}.items():
        driven.act("count", at="1", key=key, value=f"{n}")
    assert explorer.hands == {1: {"a": 1, "b": 12, "d": 17}}
    assert raised(driven) == {"a": "1", "b": "12", "d": "17"}
    assert "Position 1: 17 hands for d, 30 in all." in driven.html
    assert "hands: a 1, b 12, d 17" in driven.html
    for key in "abd":
        driven.act("count", at="1", key=key, value="0")
    assert explorer.hands == {}
    assert not read(driven.html).select(".raised, .hands > *")


def test_what_cannot_be_counted_is_told(driven: Hand, explorer: MaskExplorer) -> None:
    driven.act("guess", at="1", key="é!")
    assert "A gap holds one letter, a space or a newline, not 'é!'" in driven.problem
    driven.act("count", at="1", key="a", value="10001")
    assert "from 0 to 10000, not 10001" in driven.problem
    assert explorer.hands == {}


def test_the_room_stands_beside_the_readers_once_revealed(
    driven: Hand, explorer: MaskExplorer
) -> None:
    explorer.hands = {1: {"b": 3, "c": 1}}
    driven.tell()
    assert not read(driven.html).select("table")
    assert "a character without hands costs 4.94 nats" in driven.html
    driven.act("reveal")
    table = assert_usable(driven.html).select_one("table.chart")
    assert table is not None
    heads = [head.get_text() for head in table.select("thead th")]
    room = bet(3, 1)
    assert heads[-1] == f"the room costs {-math.log(room):.2f} nats"
    cells = [row.select("td")[-1].get_text() for row in table.select("tbody tr")]
    names = [str(row["data-key"]) for row in table.select("tbody tr")]
    shown = dict(zip(names, cells, strict=True))
    assert [shown[letter] for letter in "bca"] == [f"{room:.2f}", f"{bet(1, 3):.2f}", "0.01"]
    assert f"The room: {room:.2f} for the truth, {-math.log(room):.2f} nats." in driven.html
    assert "The room: b 3, c 1. One extra hand is shared by all 28 characters" in driven.html
    tally = f"the room {-math.log(room):.2f}, left {-math.log(OTHER):.2f}, both 0.36. Best: both."
    assert f"After 1 gap, in nats per gap: {tally}" in driven.html
    assert len(explorer.paid) == 1


def test_one_hand_is_yours(driven: Hand) -> None:
    driven.act("line", text="a_cd")
    raise_hands(driven, "c")
    assert "you guess c" in driven.html
    driven.act("reveal")
    heads = [head.get_text() for head in read(driven.html).select("thead th")]
    assert heads[-1].strip() == "you"
    assert "You: c 1. One extra hand" in driven.html


def test_of_many_symbols_one_is_typed(hand: Take) -> None:
    many = Vocabulary(tuple(f"w{n}" for n in range(FEW + 1)), (MASK, BEGIN, END))
    explorer = MaskExplorer(Predictor(Sure("w7", many), Words(many), 9, "both"), "w1 w2", [1])
    driven = hand(explorer)
    assert len(read(driven.html).select(".chart tbody tr")) == 3
    driven.act("guess_first")
    assert read(driven.html).select_one('form[data-do="guess"] input') is not None
    raise_hands(driven, "W7", "w2")
    assert explorer.hands == {1: {"w7": 1, "w2": 1}}
    raise_hands(driven, "cat")
    assert "cat" in driven.problem
    driven.act("toggle", at="0")
    driven.act("reveal")
    driven.act("view", view="pair")
    assert len(assert_usable(driven.html).select(".tables tbody tr")) == 10


# ── the tally ────────────────────────────────────────────────────────────────────────────────────


def reveal(driven: Hand, at: int, **hands: int) -> None:
    """Raise hands at a position and reveal."""
    driven.widget.hands = {at: hands}
    driven.widget.revealed = True
    driven.tell()
    driven.page.evaluate("window.saved")


def test_a_gap_counts_once_however_often_it_is_revealed(
    driven: Hand, explorer: MaskExplorer
) -> None:
    reveal(driven, 1, b=3, c=1)
    (paid,) = explorer.paid
    assert (paid["line"], paid["at"], paid["n_hands"]) == ("abcd", 1, 4)
    assert paid["costs"] == pytest.approx(
        {"room": -math.log(bet(3, 1)), "left": -math.log(OTHER), "both": -math.log(0.7)}
    )
    explorer.revealed = False
    reveal(driven, 1, b=300)
    explorer.line = "a_cd"
    reveal(driven, 1, c=1)  # nobody knows the truth
    assert explorer.paid == [paid]


def test_a_tally_goes_on_over_lines_and_explorers_until_it_is_started_over(hand: Take) -> None:
    tally = Tally()
    assert repr(tally) == "Tally(0 gaps)"
    first, second = explorer_of(tally=tally), explorer_of("dcba", tally)
    reveal(hand(first), 1, b=1)
    reveal(hand(second), 1, c=3, b=1)
    first.line, first.masked = "bbbb", {0}
    reveal(hand(first), 0, d=1)
    assert second.paid == first.paid == tally.paid
    room = [-math.log(p) for p in (bet(1), bet(3, 1), bet(0, 1))]
    both = [-math.log(p) for p in (0.7, OTHER, 0.7)]
    means = {"room": sum(room) / 3, "left": -math.log(OTHER), "both": sum(both) / 3}
    assert repr(tally) == "Tally(3 gaps)"
    driven = hand(tally)
    rows = [[cell.get_text() for cell in row(["th", "td"])] for row in check(driven)("tr")]
    assert [row[:2] for row in rows[1:]] == [
        ["the room", f"{means['room']:.2f}"],
        ["left", f"{means['left']:.2f}"],
        ["both", f"{means['both']:.2f}"],
    ]
    assert said_by(driven).endswith("Best: the room.")
    driven.act("restart")
    assert tally.paid == first.paid == []
    assert said_by(driven) == "No gap has been guessed and revealed yet."


def test_means_are_over_the_gaps_at_which_somebody_was_asked(hand: Take) -> None:
    costs = [{"room": 1, "left": 4, "both": 0.5}, {"room": 2, "left": 1, "both": 0.5, "truth": 0}]
    tally = Tally()
    tally.paid = [
        {"line": "ab", "at": at, "n_hands": 2, "costs": each} for at, each in enumerate(costs)
    ]
    assert said_by(hand(tally)) == (
        "After 2 gaps, in nats per gap: the room 1.50, left 2.50, both 0.50, truth 0.00. "
        "Best: both."
    )
    tally.paid = [{"line": "ab", "at": 0, "n_hands": 2, "costs": {"room": 1, "left": 1}}]
    assert said_by(hand(tally)).endswith("Best: the room and left.")
