"""The guessing game by hand: what is shown when."""

from __future__ import annotations

import re

import pytest

from cloze.lessons.the_explorer.guessing_rules import LETTERS, Puzzle
from cloze.lessons.the_explorer.widget import GuessingGame
from tests.browser.conftest import Take
from tests.browser.hand import Hand, state_of
from tests.markup import assert_usable, read


@pytest.fixture
def game() -> GuessingGame:
    return GuessingGame(seed=7, gaps=3)


def status_of(driven: Hand) -> str:
    [line] = assert_usable(driven.html).select('[role="status"]')
    return line.get_text()


def text_of(driven: Hand) -> str:
    return read(driven.html).get_text()


def play_gap(driven: Hand, letter: str = "e", percent: int = 20) -> None:
    for _ in ("left", "both"):
        driven.act("pick", at=str(LETTERS.index(letter)))
        driven.act("guess", percent=str(percent))
        assert driven.problem == ""


def test_nothing_is_shown_before_its_time(hand: Take, game: GuessingGame) -> None:
    driven = hand(game)
    puzzle = Puzzle(**game.puzzles[0])
    # A line without the pieces of another word would prove little, so look for longer parts.
    assert puzzle.before.strip() in driven.html
    assert puzzle.after not in driven.html
    assert puzzle.after.split()[-1] not in text_of(driven)
    driven.act("pick", at="4")
    driven.act("guess", percent="40")
    assert puzzle.after in driven.html
    assert puzzle.line not in text_of(driven)
    assert f"The hidden character was {puzzle.truth}" not in driven.html
    driven.act("guess", percent="40")
    assert puzzle.line in text_of(driven)
    assert f"The hidden character was {puzzle.truth}" in status_of(driven)


def test_a_game_from_beginning_to_end(hand: Take, game: GuessingGame) -> None:
    driven = hand(game)
    play_gap(driven)
    assert re.fullmatch(
        r"GuessingGame\(1 of 3 gaps, you \d\.\d\d bits, encoder \d\.\d\d bits\)", repr(game)
    )
    driven.act("next")
    assert Puzzle(**game.puzzles[1]).before in text_of(driven)
    play_gap(driven, " ", 60)
    driven.act("next")
    play_gap(driven, "t", 0)
    assert "You have played all 3 gaps" in status_of(driven)
    bets = [["e", 20], [" ", 60], [None, 0]]
    assert [played["bets"] for played in game.rounds] == [{"left": b, "both": b} for b in bets]
    driven.act("next")
    assert repr(game) == "GuessingGame(0 of 3 gaps)"
    assert (game.seed, game.puzzles) == (8, GuessingGame(8, 3).puzzles)
    assert "Gap 1, from the left." in status_of(driven)


def test_the_status_has_all_that_is_in_sight(hand: Take) -> None:
    game = GuessingGame(seed=7, gaps=1)
    game.puzzles = [{"line": "we saw the cat on the wall", "at": 11}]
    driven = hand(game)
    assert "from the left. Before the gap: we saw the, then a space." in status_of(driven)
    driven.act("type", at="0", key="C")
    assert "Your letter: c." in status_of(driven)
    assert game.letter == "c"
    driven.act("guess", percent="20")
    assert "Your guess: c, 20%." in status_of(driven)
    assert "Before the gap: we saw the, then a space. After the gap: at on the wall." in status_of(
        driven
    )
    driven.act("guess", percent="20")
    assert "The hidden character was c. From the left you paid 2.32 bits" in status_of(driven)


def test_what_is_missing_is_asked_for_and_changes_nothing(hand: Take, game: GuessingGame) -> None:
    driven = hand(game)
    before = (state_of(driven.widget), status_of(driven))
    for sent, words in (({"percent": "40"}, "choose a letter"), ({}, "Say how sure you are")):
        driven.act("guess", **sent)
        [alert] = assert_usable(driven.html).select('form [role="alert"]')
        assert words in alert.get_text()
        assert (state_of(driven.widget), status_of(driven)) == before
