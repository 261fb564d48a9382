"""The guessing game: what is hidden, what a guess costs, what is shown when, and pooled results."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.corpus import Corpus
from cloze.lessons.the_explorer.guessing_game import GuessingGame
from cloze.lessons.the_explorer.guessing_rules import (
    LETTERS,
    RIVALS,
    SIDES,
    SURENESS,
    Bet,
    Puzzle,
    Tally,
    bits,
    draw_puzzles,
    frequencies_of_letters,
    judge,
    play,
    pool,
    read_result,
    spread,
)
from cloze.prediction import compare
from cloze.vocabulary import ALPHABET
from tests.markup import assert_usable, read

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


def test_honesty_is_cheapest() -> None:
    frequencies = frequencies_of_letters()
    for truly in SURENESS:
        costs = {
            said: truly / 100 * bits(Bet("e", said), "e", frequencies)
            + (1 - truly / 100) * bits(Bet("e", said), "t", frequencies)
            for said in SURENESS
        }
        assert min(costs, key=costs.__getitem__) == truly


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


# ── a whole game played by a function ──


def test_a_player_sees_the_left_side_and_then_both() -> None:
    seen: list[tuple[str, str | None]] = []

    def player(before: str, after: str | None) -> tuple[str, int]:
        seen.append((before, after))
        return "e", 20 if after is None else 40

    puzzles = draw_puzzles(CORPUS, 3, 1)
    tally = play(puzzles, player, seed=1)
    assert seen[::2] == [(puzzle.before, None) for puzzle in puzzles]
    assert seen[1::2] == [(puzzle.before, puzzle.after) for puzzle in puzzles]
    assert [played.puzzle for played in tally.rounds] == puzzles
    assert all(p.bets == {"left": Bet("e", 20), "both": Bet("e", 40)} for p in tally.rounds)
    mean = sum(played.bits["both"]["you"] for played in tally.rounds) / 3
    assert tally.mean("both") == pytest.approx(mean)
    for words in ("[", "e, 20 %", f"{mean:.2f}", "left twin / encoder", "unigram"):
        assert words in repr(tally)


@pytest.mark.parametrize("answer", [None, "e", ("e", 60, 1)])
def test_a_player_that_makes_no_bet_is_told_how(answer: Any) -> None:
    with pytest.raises(ValueError, match="A player returns a letter and how sure it is"):
        play([PUZZLE], lambda *_: answer)


# ── results ──


def tally_of(n: int, seed: int = 7, percent: int = 20) -> Tally:
    return play(draw_puzzles(CORPUS, n, seed), lambda _, __: ("e", percent), seed)


LINE = tally_of(2).result


def test_a_result_is_read_back() -> None:
    tally = tally_of(2)
    for line in (LINE, f"  Anna:  {LINE} ", LINE.upper(), LINE.replace(" ", "   ")):
        result = read_result(line)
        assert result.line == LINE
        assert result.seed == 7
        assert result.gaps == {"left": 2, "both": 2}
        for side in SIDES:
            assert result.you[side] == pytest.approx(tally.mean(side), abs=0.006)
            assert result.model[side] == pytest.approx(tally.mean(side, "model"), abs=0.006)


@given(st.integers(0, len(LINE) - 1), st.sampled_from("0123456789abcdefgx=:/. "))
def test_a_mistyped_line_is_refused(place: int, typed: str) -> None:
    mistyped = LINE[:place] + typed + LINE[place + 1 :]
    if mistyped != LINE:
        with pytest.raises(ValueError, match=r"copy the (whole )?line"):
            read_result(mistyped)


def test_a_class_is_pooled() -> None:
    two, three = tally_of(2), tally_of(3, seed=8, percent=95)
    mistyped = three.result.replace("left=3", "left=4")
    text = f"Anna {two.result}\n\n{three.result}\nhello\n{two.result.upper()}\n{mistyped}\n"
    pooled = pool(text)
    assert [result.line for result in pooled.results] == [two.result, three.result]
    for side in SIDES:
        for who, rival in (("you", "you"), ("model", "model")):
            mean = (2 * two.mean(side, rival) + 3 * three.mean(side, rival)) / 5
            assert pooled.mean(side, who) == pytest.approx(mean, abs=0.006)
    assert [remark.split(":")[0] for remark in pooled.remarks] == ["line 4", "line 5", "line 6"]
    assert "not a result" in pooled.remarks[0]
    assert "the same as line 1" in pooled.remarks[1]
    assert "mistyped" in pooled.remarks[2]
    assert "2 results, 5 gaps" in repr(pooled)
    assert repr(pool(text.splitlines())) == repr(pooled)


# ── the widget ──


@pytest.fixture
def game() -> GuessingGame:
    return GuessingGame(seed=7, gaps=3)


def status_of(game: GuessingGame) -> str:
    [line] = read(game.html).select('[role="status"]')
    return line.get_text()


def send(game: GuessingGame, do: str, **arguments: object) -> None:
    game._receive(game, {"do": do, **arguments}, [])


def play_gap(game: GuessingGame, letter: str = "e", percent: int = 20) -> None:
    for _ in SIDES:
        send(game, "pick", at=str(LETTERS.index(letter)))
        send(game, "guess", percent=str(percent))
        assert game.problem == ""


def test_nothing_is_shown_before_its_time(game: GuessingGame) -> None:
    puzzle = game.puzzle
    # A line without the pieces of another word would prove little, so look for longer parts.
    assert puzzle.before.strip() in game.html
    assert puzzle.after not in game.html
    assert puzzle.after.split()[-1] not in read(game.html).get_text()
    send(game, "pick", at="4")
    send(game, "guess", percent="40")
    assert puzzle.after in game.html
    assert puzzle.line not in read(game.html).get_text()
    assert f"The hidden character was {puzzle.truth}" not in game.html
    send(game, "guess", percent="40")
    assert puzzle.line in read(game.html).get_text()
    assert f"The hidden character was {puzzle.truth}" in status_of(game)


def test_a_game_from_beginning_to_end(game: GuessingGame) -> None:
    assert repr(game) == "GuessingGame(0 of 3 gaps)"
    assert game.result == ""
    first = game.puzzle
    play_gap(game)
    assert re.fullmatch(
        r"GuessingGame\(1 of 3 gaps, you \d\.\d\d bits, encoder \d\.\d\d bits\)", repr(game)
    )
    assert game.puzzle == first
    assert "Next gap" in game.html
    send(game, "next")
    assert game.puzzle != first
    play_gap(game, " ", 60)
    send(game, "next")
    play_gap(game, "t", 0)
    assert game.finished
    assert "You have played all 3 gaps" in status_of(game)
    assert game.tally.rounds[-1].bets == {"left": Bet(None), "both": Bet(None)}
    [field] = read(game.html).select("input[readonly]")
    assert field["value"] == game.result
    assert read_result(game.result).gaps == {"left": 3, "both": 3}
    assert len(repr(game)) < 110
    send(game, "next")
    assert repr(game) == "GuessingGame(0 of 3 gaps)"
    assert game.tally.seed == 8


def test_the_status_says_all_that_is_to_be_seen(game: GuessingGame) -> None:
    game.puzzles = [Puzzle("we saw the cat on the wall", 11), Puzzle("we saw it again today", 6)]
    game._begin_gap()
    game.refresh()
    assert "from the left. Before the gap: we saw the, then a space." in status_of(game)
    send(game, "type", at="0", key="C")
    assert "Your letter: c." in status_of(game)
    send(game, "guess", percent="20")
    said = status_of(game)
    assert "Your guess: c, 20 %." in said
    assert "Before the gap: we saw the, then a space. After the gap: at on the wall." in said
    send(game, "guess", percent="20")
    assert re.search(
        r"The hidden character was c\. From the left you paid 2\.32 bits", status_of(game)
    )
    send(game, "next")
    send(game, "guess", percent="0")
    assert "Before the gap: we saw. After the gap: it again today." in status_of(game)
    send(game, "guess", percent="0")
    assert "The hidden character was space." in status_of(game)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"do": "guess", "percent": "40"}, "choose a letter"),
        ({"do": "type", "at": "0", "key": "<script>"}, "a to z"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    game: GuessingGame, message: dict[str, Any], words: str
) -> None:
    before = (game.bets, game.letter, game.tally, game.announcement)
    game._receive(game, message, [])
    [alert] = assert_usable(game.html).select('[role="alert"]')
    assert words in alert.get_text()
    assert (game.bets, game.letter, game.tally, game.announcement) == before
