"""The gap by hand: a letter is typed, the readers bet, and a sentence says what happened."""

from __future__ import annotations

import re

import pytest

from cloze.explorer import Gap
from cloze.explorer.gap import LINES, WORD_LINES
from cloze.lessons.the_explorer.checks import bet_price
from cloze.lessons.the_explorer.guessing_rules import frequencies_of_letters
from cloze.lessons.the_explorer.widget import GuessingGame
from cloze.prediction.predictors import compare
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import symbols_of
from tests.browser.conftest import Take
from tests.browser.hand import Hand
from tests.markup import assert_usable, read, said_by


@pytest.fixture
def driven(hand: Take) -> Hand:
    taken = hand(Gap())
    taken.page.emulate_media(reduced_motion="reduce")  # all bets at once
    return taken


def wagers(driven: Hand) -> list[list[str]]:
    assert_usable(driven.html)
    tiles = read(driven.html).select(".wager")
    return [[part.get_text() for part in tile(["b", "span"])] for tile in tiles]


def test_five_lines_are_played_and_each_makes_its_point(driven: Hand) -> None:
    before = repr(driven)
    assert before == "Gap('they put on the_r coats', 5 lines)"
    assert "Type the missing letter." in driven.html
    assert driven.widget.truth[15] not in [field["value"] for field in read(driven.html)("input")]
    driven.act("type", key="E")
    answers = compare("they put on their coats", [15])
    assert wagers(driven) == [
        ["e", "you", "✗ "],
        ["space", "from the left", f"✗ {answers['left'][15].max():.2f}"],
        ["e", "from the right", f"✗ {answers['right'][15].max():.2f}"],
        ["i", "from both sides", f"✓ {answers['both'][15].max():.2f}"],
    ]
    said = "It was i. Left alone is sure of a space, right alone would guess e. "
    assert said_by(driven) == f"{said}Only together do they know."
    driven.act("type", key="x")  # too late
    [field] = read(driven.html)("input")
    assert (field["value"], field.has_attr("readonly")) == ("i", True)
    assert field["aria-label"] == "Missing letter: they put on the…r coats"
    driven.act("go")
    driven.act("type", value="q")
    assert "You have it." in said_by(driven)
    assert "The right side is enough." in said_by(driven)
    driven.act("go")
    driven.act("type", key=" ")
    assert "It was c." in said_by(driven)
    assert "None of the three knows it." in said_by(driven)
    driven.act("go")
    assert "Type the missing word." in driven.html
    driven.act("go", text="<b>Time</b>")
    assert [row[1:2] for row in wagers(driven)][1:3] == [["its first guess"], ["its second guess"]]
    assert "is sure of time; time is its first guess." in said_by(driven)
    assert not read(driven.html)("b", string="Time"), "typed text is text"
    driven.act("go")
    driven.act("go", text=" Water ")
    assert "You have it. The model that reads words" in said_by(driven)
    assert "water is not among its five guesses." in said_by(driven)
    score = [each.get_text() for each in read(driven.html).select(".score span")]
    assert score == ["you 2 of 5", "left 0 of 3", "right 1 of 3", "both 2 of 3", "words 1 of 2"]
    driven.act("go")  # a key too many
    assert read(driven.html).select(".finished [data-do=again]")[0].get_text() == "Play again"
    driven.act("again")
    assert not read(driven.html).select(".score span")
    assert "Type the missing letter." in driven.html
    assert repr(driven) == before


def test_what_is_no_letter_is_answered_in_words(driven: Hand) -> None:
    driven.act("type", key="7")
    assert "Type a letter from a to z, or a space." in driven.problem
    driven.act("go", text=" ")
    assert driven.problem == "Type what is missing first."
    assert wagers(driven) == []


def test_where_nothing_runs_the_line_keeps_its_secret() -> None:
    gap = Gap()
    assert read(str(gap.still())).get_text() == "they put on the_r coats"
    state = gap.alone() or {}
    lines = ["".join(each["truth"]) for each in gap.examples[:3]]
    assert lines == [line for line, _ in LINES.values()]
    assert (state["masked"], state["examples"]) == ([15], gap.examples)
    words = symbols_of(shipped_model("words").vocabulary)
    for each, (line, _) in zip(gap.examples[3:], WORD_LINES.values(), strict=True):
        assert words.read(line, 64)[0] == tuple(each["truth"]), "each word is one piece"


def test_a_game_for_stakes_from_beginning_to_end(hand: Take) -> None:
    game = GuessingGame(seed=7, gaps=2)
    driven = hand(game)
    driven.page.emulate_media(reduced_motion="reduce")
    frequencies = frequencies_of_letters()
    for n, letter in enumerate("e "):
        truth = game.truth[game.focus]
        driven.act("type", key="x")
        driven.act("type", value=f"x{letter}")  # can be changed
        driven.act("sure", value="80")
        assert "80%" in driven.html
        assert not wagers(driven)
        driven.act("go")
        cost = bet_price(letter, 0.8, truth, frequencies)
        assert game.paid[n]["costs"]["you"] == pytest.approx(cost)
        answers = compare(game.line, [game.focus])
        for name, answer in answers.items():
            assert game.paid[n]["costs"][name] == pytest.approx(answer.cost(game.focus))
        assert wagers(driven)[0][2].endswith(f"pays {cost:.2f}")
        assert f"you {game.score.mean('you'):.2f}" in read(driven.html).get_text()
        driven.act("again" if n else "go")
    assert re.fullmatch(
        r"GuessingGame\(2 of 2 gaps, you \d\.\d\d nats, encoder \d\.\d\d nats\)", repr(game)
    )
    driven.act("type", key="e")
    driven.act("go")
    assert len(game.paid) == 1, "another game"
