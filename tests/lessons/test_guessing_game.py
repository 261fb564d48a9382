"""The guessing game: what is hidden, and what a guess costs."""

from __future__ import annotations

import pytest

from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_rules import LETTERS, Score, draw_puzzles

CORPUS = Corpus.load()


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


def test_the_score_lists_every_gap_and_the_means() -> None:
    assert repr(Score([])) == "No gap has been played yet."
    line = "she asked a question about the weather"
    costs = {"you": 1.0, "both": 0.02}
    score = Score([{"line": line, "at": 12, "bet": ("e", 0.2), "costs": costs}] * 2)
    first, _, _, *last = repr(score).split("\n")
    assert first == " 1  she asked a [q]uestion about the weather"
    bet = "    your bet: e, 20%; it costs 1.00 nats"
    assert last == [bet, "mean nats per gap: you 1.00, both 0.02"]
