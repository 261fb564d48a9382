"""The guessing game: what is hidden, and what a guess costs."""

from __future__ import annotations

import math

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
        paid = played["bits"][side]
        assert paid["model"] == pytest.approx(cost / math.log(2), rel=1e-4)
        assert paid["you"] == paid["unigram"]
        assert set(paid) == set(RIVALS)
        assert len(played["guesses"][side]) == 3


def test_the_left_side_is_judged_by_what_stands_on_the_left() -> None:
    bets = {side: Bet("q", 60) for side in SIDES}
    one = judge(PUZZLE, bets)["bits"]
    other = judge(Puzzle("she asked a quick thing", 12), bets)["bits"]
    for rival in RIVALS:
        assert one["left"][rival] == pytest.approx(other["left"][rival], abs=1e-4)
    assert one["both"]["model"] != pytest.approx(other["both"]["model"], abs=1e-4)


def test_the_score_lists_every_gap_and_the_means() -> None:
    bets = {"left": Bet("e", 20), "both": Bet(None)}
    rows = repr(Score([PUZZLE], [judge(PUZZLE, bets)])).split("\n")
    assert rows[0] == " 1  she asked a [q]uestion about the weather"
    assert rows[1].startswith("    from the left e, 20% costs ")
    assert "; from both sides no idea costs " in rows[1]
    assert rows[2].split() == ["mean", "bits", "per", "gap", "left", "both"]
    assert [row[:10].strip() for row in rows[3:]] == ["you", "left twin", "left bigra", "unigram"]
