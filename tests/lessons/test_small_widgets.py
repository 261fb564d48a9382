"""A bet on a gap, masks drawn again and again, and who may look where."""

import html
import math
from collections.abc import Callable

import pytest
import torch
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from cloze.corpus import Corpus, Piece
from cloze.encoder import attention_mask
from cloze.lessons.the_encoder.sight import Sight, sight
from cloze.lessons.the_loss.probability_bet import (
    CHIPS,
    ProbabilityBet,
    bet_of,
    shares,
    what_stood_there,
)
from cloze.lessons.the_mask.mask_draws import MaskDraws, closeness
from cloze.loss import cost, expected_cost
from cloze.masking import PROMISED, draw_masks, mask_tokens
from cloze.vocabulary import ALPHABET, VOCABULARY, TextError
from cloze.widgets import Quiz
from cloze.widgets.view import View
from tests.markup import accessible_name, assert_usable, read

COUNTS = {"l": 5, "t": 3, "r": 2}
MAKERS: list[Callable[[], View]] = [
    lambda: ProbabilityBet(COUNTS, "_ook", "lrt"),
    lambda: MaskDraws("rain fell on the old umbrella"),
    lambda: Sight("the red fox"),
    lambda: Quiz("the_mask"),
]
NAMES = ["bet", "draws", "sight", "quiz"]
each_widget = pytest.mark.parametrize("make", MAKERS, ids=NAMES)


# All of them


def check(widget: View) -> BeautifulSoup:
    """Check what holds for these widgets in every state, and return the markup."""
    page = assert_usable(widget.html)
    assert not page.select("[disabled]"), "it would drop the focus"
    assert all(heading.get_text().strip() for heading in page.select("th"))
    buttons = page.select("button")
    assert len({accessible_name(button) for button in buttons}) == len(buttons)
    return page


def said_by(widget: View) -> str:
    """Return what a screen reader is told."""
    return check(widget).select_one("[role=status]").get_text()  # type: ignore[union-attr]


@each_widget
def test_every_control_does_what_it_says(make: Callable[[], View]) -> None:
    page = check(make())
    for control in page.select("[data-do]:not([aria-disabled])"):
        along = {
            key.removeprefix("data-with-"): value
            for key, value in control.attrs.items()
            if key.startswith("data-with-") or key == "value"
        }
        widget = make()
        before = widget.html
        widget.act(str(control["data-do"]), **along)
        assert widget.problem == ""
        check(widget)
        assert widget.html != before or control.get("aria-pressed") == "true"


@each_widget
def test_it_can_be_told_in_a_line(make: Callable[[], View]) -> None:
    assert repr(make()) == repr(make())
    assert len(repr(make())) < 110
    assert "0x" not in repr(make())
    assert "\n" not in repr(make())


# The bet


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


def test_what_stood_there_is_counted_in_whole_words_of_training() -> None:
    pieces = Piece("a", "look he took a book\nlook at the bookshop it shook\nlook"), Piece("b", "a")
    corpus = Corpus(pieces[:1], (Piece("c", "hook hook"),))
    assert what_stood_there(corpus, "_ook") == {"l": 3, "t": 1, "b": 1}
    assert what_stood_there(corpus, "a_") == {"t": 1}
    with pytest.raises(ValueError, match="no word like 'q_q'"):
        what_stood_there(corpus, "q_q")
    for word in ("look", "__ok", "l(_", "l_ k", "_OOK", ""):
        with pytest.raises(ValueError, match="with one gap, such as '_ook', not"):
            what_stood_there(corpus, word)


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
    assert "expect to pay 0.00 nats" in bet.html
    bet.act("reveal")
    said = said_by(bet)
    assert "What stood there: l 0.500, t 0.300, r 0.200." in said
    assert "Over all 10 places your bet pays ∞ nats on average" in said
    assert "The least that any bet can pay is 1.03 nats" in said
    assert "0.300 together" in bet.html
    bet.act("restart")
    assert bet.left == CHIPS
    assert "10 places" not in bet.html


@pytest.mark.parametrize(
    ("do", "letter", "said"),
    [
        ("take", "l", "l was given nothing that could be taken back."),
        ("give", "z", "One can give to the letters l, r, t, not to 'z'."),
        ("take", None, "One can give to the letters l, r, t, not to None."),
        ("give", ["l"], "not to ['l']"),
    ],
)
def test_a_bet_that_cannot_be_is_told(do: str, letter: object, said: str) -> None:
    bet = ProbabilityBet(COUNTS, "_ook", "lrt")
    bet.act(do, letter=letter)
    assert said in html.unescape(bet.html)
    assert bet.left == CHIPS


@pytest.mark.parametrize("letters", ["", "ll", "l ", "L"])
def test_letters_that_cannot_be_betted_on_are_told(letters: str) -> None:
    with pytest.raises(ValueError, match="Give different letters from a to z"):
        ProbabilityBet(COUNTS, "_ook", letters)


def test_no_more_than_everything_is_handed_out() -> None:
    bet = ProbabilityBet(COUNTS, "_ook", "lrt")
    for _ in range(CHIPS + 1):
        bet.act("give", letter="t")
    assert bet.problem.startswith("All of 1.00 is handed out")
    assert bet.chips["t"] == CHIPS
    assert check(bet).select("tbody tr")[0].get_text().endswith("0.000∞∞")


# Masks


@given(st.integers(0, 50), st.integers(1, 40))
def test_the_fates_are_those_of_mask_tokens(seed: int, lines: int) -> None:
    input_ids = VOCABULARY.encode("rain fell on the old umbrella").repeat(lines, 1)
    inputs, labels = mask_tokens(input_ids, generator=torch.Generator().manual_seed(seed))
    draw = draw_masks(input_ids, torch.Generator().manual_seed(seed))
    assert torch.equal(draw.inputs, inputs)
    total = torch.stack(list(draw.fates.values())).sum(0)
    assert torch.equal(total, (labels >= 0).long())
    assert torch.equal(draw.fates["M"], inputs == VOCABULARY.mask_id)
    assert torch.equal(inputs[draw.fates["K"]], input_ids[draw.fates["K"]])


def test_a_swap_for_the_same_character_is_still_random() -> None:
    input_ids = VOCABULARY.encode("rain fell on the old umbrella").repeat(4000, 1)
    draw = draw_masks(input_ids, torch.Generator().manual_seed(0))
    swapped = draw.fates["R"]
    same = (draw.inputs == input_ids)[swapped].float().mean().item()
    assert same == pytest.approx(1 / 28, abs=5 * math.sqrt(1 / 28 / int(swapped.sum())))
    for row in closeness(draw.counts):
        assert abs(row.share - row.promised) < 2.5 * row.margin  # five standard errors


def test_counts_add_up_and_close_in() -> None:
    draws = MaskDraws("rain fell on the old umbrella all day", seed=1)
    margins = []
    for times in (1, 10, 1000):
        before = sum(draws.counts.values())
        draws.act("draw", times=str(times))
        assert draws.problem == ""
        assert sum(draws.counts.values()) > before
        rows = closeness(draws.counts)
        assert math.isclose(sum(row.share for row in rows), 1)
        margins.append(rows[0].margin)
    assert draws.draws == 1011
    assert margins == sorted(margins, reverse=True)
    assert repr(draws).startswith("MaskDraws(1011 draws: ")
    n = sum(draws.counts.values())
    assert margins[-1] == pytest.approx(2 * math.sqrt(0.8 * 0.2 / n))
    assert f"{draws.counts['M']:,}" in draws.html


def test_the_strip_shows_the_last_draw() -> None:
    draws = MaskDraws("rain fell on the old umbrella all day", seed=1)
    draws.act("draw", times=10)
    assert draws.last
    [strip] = check(draws).select("[role=img]")
    shown = [sign.get_text() for sign in strip.select("small")]
    counts = draws.last.counts
    assert {fate: shown.count(fate) for fate in PROMISED} == counts
    line = VOCABULARY.decode(draws.last.inputs[0], gap="▒")
    assert strip["aria-label"] == f"The model reads: {line}"
    assert f"{sum(counts.values())} of 37 selected" in draws.html


def test_starting_over_repeats_the_same_draws() -> None:
    draws = MaskDraws("rain fell on the old umbrella")
    fresh = draws.html
    draws.act("draw", times=10)
    first = draws.html
    draws.act("restart")
    assert draws.html == fresh
    assert closeness(draws.counts) == []
    draws.act("draw", times=10)
    assert draws.html == first


@pytest.mark.parametrize("times", [0, -1, 1.5, "many", None, 10**9])
def test_a_number_of_draws_that_cannot_be_is_told(times: object) -> None:
    draws = MaskDraws("rain")
    draws.act("draw", times=times)
    assert draws.problem.startswith("The number of draws is a whole number from 1 to 10000, not")
    assert draws.draws == 0


# Sight


@given(st.integers(1, 64), st.data())
def test_sight_is_the_encoders_mask(length: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, length - 1))
    seen = sight(length, position)
    assert seen["encoder"] == [True] * length
    left = attention_mask(length, "left")
    assert left is not None
    assert seen["causal twin"] == left[position].tolist()
    assert all(row[position] for row in seen.values())
    assert sum(seen["causal twin"]) + sum(seen["right twin"]) == length + 1
    both = zip(seen["causal twin"], seen["right twin"], strict=True)
    assert all(a or b for a, b in both)


def test_a_position_is_picked_and_told() -> None:
    view = Sight("the red fox", position=4)
    assert repr(view) == "Sight(position 4, r: sees 11 | 5 | 7 of 11)"
    view.act("look", at="10")
    assert view.position == 10
    page = check(view)
    [pressed] = page.select('button[aria-pressed="true"]')
    assert accessible_name(pressed) == "position 10, x"
    assert pressed["tabindex"] == "0"
    assert len(page.select('[data-arrows="look"] button')) == 11
    assert said_by(view) == (
        "Position 10, x, sees 11 of 11 in the encoder, 11 of 11 in the causal twin, "
        "1 of 11 in the right twin."
    )
    [right] = page.select(".looks-right")
    assert right.get_text() == "right twin" + "×" * 10 + "x"


@pytest.mark.parametrize("at", [11, -1, "x", None])
def test_a_position_that_is_not_there_is_told(at: object) -> None:
    view = Sight("the red fox")
    view.act("look", at=at)
    assert view.problem.startswith("The position is a whole number from 0 to 10, not")
    assert view.position == 0


@pytest.mark.parametrize("make", [MaskDraws, Sight])
def test_a_line_that_cannot_be_read_is_told(make: Callable[[str], View]) -> None:
    with pytest.raises(TextError, match="The line is empty"):
        make("")
    with pytest.raises(TextError, match="shorten it"):
        make("a" * 65)


@given(st.text(min_size=1, max_size=30))
def test_a_typed_line_is_never_markup(line: str) -> None:
    plain = {tag.name for tag in read(Sight("a").html).select("*")}
    try:
        view = Sight(line)
    except TextError:
        return
    assert {tag.name for tag in check(view).select("*")} == plain
