"""The room guesses: a show of hands as a bet, what it costs, and the tally over an hour."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from cloze.prediction import Characters, Predictor
from cloze.vocabulary import Vocabulary
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.room import Paid, best, bet, cost, standings, unnamed
from cloze.widgets.explorer.tally import Tally
from tests.markup import assert_usable, check, read, said_by

KNOWN = "abcd"


# ── arithmetic, by hand ──────────────────────────────────────────────────────────────────────────


def test_one_hand_more_is_shared_by_all() -> None:
    # 3 + 1 hands raised and one shared by four: (3 + 1/4) / 5, (1 + 1/4) / 5, (1/4) / 5 twice.
    assert bet({"a": 3, "b": 1}, KNOWN) == pytest.approx([0.65, 0.25, 0.05, 0.05])
    assert unnamed({"a": 3, "b": 1}, KNOWN) == pytest.approx(0.05)
    assert cost({"a": 3, "b": 1}, KNOWN, "a") == pytest.approx(-math.log(0.65))
    assert cost({"a": 3, "b": 1}, KNOWN, "d") == pytest.approx(math.log(20))
    assert cost({"a": 3}, KNOWN, None) is None


@pytest.mark.parametrize("hands", [{}, {"a": 1}, {"a": 10_000}, {"a": 2, "b": 5, "d": 9}])
def test_a_bet_is_a_distribution_without_an_infinite_price(hands: Mapping[str, int]) -> None:
    said = bet(hands, KNOWN)
    assert sum(said) == pytest.approx(1)
    assert min(said) > 0


def test_standings_are_means_over_the_gaps_at_which_somebody_was_asked() -> None:
    paid = [
        Paid(9, {"room": 1.0, "left": 4.0, "both": 0.5}),
        Paid(7, {"room": 2.0, "left": 1.0, "both": 0.1, "truth": 0.0}),
    ]
    assert standings(paid) == {
        "room": (1.5, 2),
        "left": (2.5, 2),
        "both": (0.3, 2),
        "truth": (0.0, 1),
    }
    assert best(paid) == ["both"]  # the truth was not asked at every gap
    assert best([Paid(2, {"room": 1.0, "left": 1.0})]) == ["room", "left"]


# ── in the explorer ──────────────────────────────────────────────────────────────────────────────


class Letters(Characters):
    """Four letters."""

    def read(self, text: str, max_len: int) -> tuple[tuple[str, ...], str]:
        if not 0 < len(text) <= max_len:
            raise ValueError(f"A line has 1 to {max_len} letters.")
        return tuple(text), ""


class Sure(NamedTuple):
    """Gives one letter 0.7 and the others 0.1."""

    letter: str
    vocabulary: Vocabulary = Vocabulary(KNOWN)

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:  # noqa: ARG002
        said = [0.7 if symbol == self.letter else 0.1 for symbol in KNOWN]
        return torch.tensor([[*said, 0.0]]).log().expand(int(selected.sum()), -1)


def sure(name: str, letter: str) -> Predictor:
    model = Sure(letter)
    return Predictor(model, Letters(model.vocabulary), 9, name)


READERS = {"left": sure("left", "a"), "both": sure("both", "b")}


def explorer_of(line: str = "abcd", tally: Tally | None = None) -> MaskExplorer:
    explorer = MaskExplorer(READERS, line, [1], tally=tally)
    explorer.act("guess_first")
    return explorer


@pytest.fixture
def explorer() -> MaskExplorer:
    return explorer_of()


def raised(explorer: MaskExplorer) -> dict[str, str]:
    """Return the counts that the keys show."""
    keys = assert_usable(explorer.html).select(".keys .raised")
    return {str(key["data-with-key"]): key.select_one("small").get_text() for key in keys}  # type: ignore[union-attr]


def test_hands_are_raised_counted_and_taken_back(explorer: MaskExplorer) -> None:
    for key in "aBba":
        explorer.act("guess", at=1, key=key)
    assert explorer.hands == {1: {"a": 2, "b": 2}}
    explorer.act("take", at="1", key="a")
    explorer.act("guess", at="1", key="b", n="10")
    explorer.act("count", at="1", key="d", value="17")
    assert explorer.hands == {1: {"a": 1, "b": 12, "d": 17}}
    assert raised(explorer) == {"a": "1", "b": "12", "d": "17"}
    assert "Position 1: 17 hands for d, 30 in all." in explorer.html
    assert "hands: a 1, b 12, d 17" in explorer.html
    for key in "bd":
        explorer.act("count", at=1, key=key, value=0)
    explorer.act("take", at=1, key="a")
    assert explorer.hands == {}
    assert not read(explorer.html).select(".raised, .hands > *")


@pytest.mark.parametrize(
    ("do", "along", "sentence"),
    [
        ("guess", {"at": 1, "key": "x"}, "A gap holds one letter, a space or a newline, not 'x'"),
        ("count", {"at": 1, "key": "a", "value": ""}, "A number of hands is a whole number from 0"),
        ("count", {"at": 1, "key": "a", "value": 10_001}, "from 0 to 10000, not 10001"),
    ],
)
def test_what_cannot_be_counted_is_told(
    explorer: MaskExplorer, do: str, along: dict[str, object], sentence: str
) -> None:
    explorer.act(do, **along)
    assert sentence in explorer.problem
    assert explorer.hands == {}


def test_the_room_stands_beside_the_readers_once_revealed(explorer: MaskExplorer) -> None:
    explorer.hands = {1: {"b": 3, "c": 1}}
    assert not read(explorer.html).select("table")
    assert "still gets 0.05 and costs 4.32 bits" in explorer.html
    explorer.act("reveal")
    table = assert_usable(explorer.html).select_one("table.chart")
    assert table is not None
    heads = [head.get_text() for head in table.select("thead th")]
    assert heads[-1] == f"the room costs {-math.log(0.65):.2f} nats = {-math.log2(0.65):.2f} bits"
    cells = [row.select("td")[-1].get_text() for row in table.select("tbody tr")]
    names = [str(row["data-key"]) for row in table.select("tbody tr")]
    assert dict(zip(names, cells, strict=True)) == {
        "b": "0.65",
        "a": "0.05",
        "c": "0.25",
        "d": "0.05",
    }
    assert "The room: 0.65 for the truth, 0.62 bits." in explorer.html
    assert "The room: b 3, c 1. One extra hand is shared by all 4 characters" in explorer.html
    assert "the room" in explorer.picture()._repr_html_()


def test_one_hand_is_yours_and_a_gap_without_truth_has_no_price(explorer: MaskExplorer) -> None:
    explorer.act("line", text="a_cd")
    explorer.act("guess", at=1, key="c")
    assert "you guess c" in explorer.html
    explorer.act("reveal")
    heads = [head.get_text() for head in read(explorer.html).select("thead th")]
    assert heads[-1].strip() == "you"
    assert "Your guess: c. The model gives it 0.10 from both sides." in explorer.html
    assert explorer.tally.paid == []


def test_hands_go_with_their_gap(explorer: MaskExplorer) -> None:
    explorer.masked = {1, 2}
    explorer.hands = {1: {"b": 3}, 2: {"c": 1}}
    explorer.masked = {2, 3}
    assert explorer.hands == {2: {"c": 1}}
    with pytest.raises(TypeError):
        explorer.hands[2]["c"] = 9


# ── the tally ────────────────────────────────────────────────────────────────────────────────────


def test_a_gap_counts_once_however_often_it_is_revealed(explorer: MaskExplorer) -> None:
    explorer.hands = {1: {"b": 3, "c": 1}}
    explorer.act("reveal")
    (paid,) = explorer.tally.paid
    assert paid.n_hands == 4
    assert paid.costs == pytest.approx(
        {"room": -math.log(0.65), "left": -math.log(0.1), "both": -math.log(0.7)}
    )
    explorer.hands = {1: {"b": 300}}
    explorer.act("reveal")
    explorer.revealed = False
    explorer.revealed = True
    explorer.act("guess_first")
    explorer.act("guess_first")
    explorer.act("toggle", at=2)
    explorer.act("reveal")
    assert explorer.tally.paid == [paid]


def test_the_tally_goes_on_over_lines_and_explorers() -> None:
    tally = Tally()
    first, second = explorer_of(tally=tally), explorer_of("dcba", tally)
    first.hands = {1: {"b": 1}}
    first.act("reveal")
    assert "After 1 gap, in bits per gap: you 0.68, left 3.32, both 0.51. Best: both." in first.html
    second.hands = {1: {"c": 3, "b": 1}}
    second.act("reveal")
    first.act("line", text="bbbb")
    first.act("toggle", at=0)
    first.act("guess", at=0, key="d")
    first.act("guess_first")  # shows the truth as well
    room_bits = [-math.log2(p) for p in (0.625, 0.65, 0.125)]
    both = [-math.log2(p) for p in (0.7, 0.1, 0.7)]
    assert repr(tally) == (
        f"Tally(3 gaps: room {sum(room_bits) / 3:.2f}, left 3.32, both {sum(both) / 3:.2f} bits)"
    )
    assert (
        "After 3 gaps, in bits per gap: the room 1.43, left 3.32, both 1.45. Best: the room."
        in (said_by(tally))
    )
    assert second.tally is tally
    assert MaskExplorer(READERS, "abcd").tally is not tally


def test_a_tally_is_shown_and_can_be_started_over(explorer: MaskExplorer) -> None:
    tally = explorer.tally
    assert repr(tally) == "Tally(0 gaps)"
    assert not check(tally).select("table")
    explorer.hands = {1: {"b": 3, "c": 1}}
    explorer.act("reveal")
    rows = [[cell.get_text() for cell in row(["th", "td"])] for row in check(tally)("tr")]
    assert rows[1] == ["the room", "0.62", "0.43", "1"]
    assert len(rows) == 4
    tally.act("restart")
    assert tally.paid == []
