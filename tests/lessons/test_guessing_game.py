"""The guessing game: what is hidden, what a guess costs, and what a cell sees of it."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_rules import (
    LETTERS,
    RIVALS,
    SIDES,
    Bet,
    Puzzle,
    Score,
    bits,
    draw_puzzles,
    frequencies_of_letters,
    judge,
    spread,
)
from cloze.lessons.the_explorer.widget import GuessingGame
from cloze.prediction.predictors import compare
from cloze.vocabulary import ALPHABET

SURENESS = (20, 40, 60, 80, 95)
CORPUS = Corpus.load()
PUZZLE = Puzzle("she asked a question about the weather", 12)


# ── what is hidden ──


def test_the_same_seed_hides_the_same_letters() -> None:
    assert draw_puzzles(CORPUS, 40, 7) == draw_puzzles(CORPUS, 40, 7)
    assert draw_puzzles(CORPUS, 10, 7) == draw_puzzles(CORPUS, 40, 7)[:10]
    assert draw_puzzles(CORPUS, 10, 7) != draw_puzzles(CORPUS, 10, 8)


@pytest.mark.parametrize("seed", range(3))
def test_lines_are_held_out_whole_words_with_text_on_both_sides(seed: int) -> None:
    texts = [f" {piece.text} ".replace("\n", " \n ") for piece in CORPUS.held_out]
    for puzzle in draw_puzzles(CORPUS, 40, seed):
        assert any(f" {puzzle.line} " in text for text in texts), puzzle.line
        assert 20 <= len(puzzle.line) <= 60
        assert puzzle.before + puzzle.truth + puzzle.after == puzzle.line
        assert puzzle.truth in LETTERS
        assert min(len(puzzle.before), len(puzzle.after)) >= len(puzzle.line) // 4 - 1


# ── what a guess costs ──


@given(st.sampled_from([None, *LETTERS]), st.sampled_from(SURENESS))
def test_a_bet_is_a_distribution_without_zeros(letter: str | None, percent: int) -> None:
    frequencies = frequencies_of_letters()
    probabilities = spread(Bet(letter, percent), frequencies)
    assert math.isclose(sum(probabilities.values()), 1, abs_tol=1e-6)
    assert set(probabilities) == set(ALPHABET)
    assert min(probabilities.values()) > 0
    if letter:
        assert probabilities[letter] == percent / 100


def test_what_bets_cost() -> None:
    frequencies = frequencies_of_letters()
    assert bits(Bet("e", 80), "e", frequencies) == pytest.approx(-math.log2(0.8))
    missed = 0.2 * frequencies["q"] / (1 - frequencies["e"])
    assert bits(Bet("e", 80), "q", frequencies) == pytest.approx(-math.log2(missed))
    assert bits(Bet(None), "q", frequencies) == pytest.approx(-math.log2(frequencies["q"]))


def test_the_rivals_are_the_models_and_the_baselines() -> None:
    played = judge(PUZZLE, {side: Bet(None) for side in SIDES})
    answers = compare(PUZZLE.line, [PUZZLE.at])
    for side in SIDES:
        cost = answers[side].cost(PUZZLE.at)
        assert cost is not None
        assert played.bits[side]["model"] == pytest.approx(cost / math.log(2), rel=1e-4)
        assert played.bits[side]["you"] == played.bits[side]["unigram"]
        assert set(played.bits[side]) == set(RIVALS)
        assert len(played.guesses[side]) == 3


def test_the_left_side_is_judged_by_what_stands_on_the_left() -> None:
    bets = {side: Bet("q", 60) for side in SIDES}
    one, other = judge(PUZZLE, bets), judge(Puzzle("she asked a quick thing", 12), bets)
    for rival in RIVALS:
        assert one.bits["left"][rival] == pytest.approx(other.bits["left"][rival], abs=1e-4)
    assert one.bits["both"]["model"] != pytest.approx(other.bits["both"]["model"], abs=1e-4)


# ── the widget ──


def play_gap(game: GuessingGame, letter: str | None = "e", percent: int = 20) -> None:
    """Play a gap as the browser does: it asks what everybody pays, and notes it."""
    bets = {side: [letter, percent] for side in SIDES}
    asked = json.loads(json.dumps(game.answer_judge(**game.puzzles[len(game.rounds)], bets=bets)))
    game.bets, game.rounds = bets, [*game.rounds, {"bets": bets, **asked}]


def test_a_cell_sees_the_game_as_it_goes() -> None:
    game = GuessingGame(seed=7, gaps=3)
    assert repr(game) == "GuessingGame(0 of 3 gaps)"
    play_gap(game)
    assert re.fullmatch(
        r"GuessingGame\(1 of 3 gaps, you \d\.\d\d bits, encoder \d\.\d\d bits\)", repr(game)
    )
    play_gap(game)
    bets = {side: Bet("e", 20) for side in SIDES}
    assert repr(game.score) == repr(
        Score([judge(each, bets) for each in draw_puzzles(CORPUS, 2, 7)])
    )
    play_gap(game, None, 0)
    assert game.score.rounds[-1].bets == {"left": Bet(None), "both": Bet(None)}
    assert len(repr(game)) < 110
