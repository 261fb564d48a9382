"""What answers the page's widgets is what answers those in Python."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from cloze.corpus import Corpus
from cloze.lessons.the_explorer import guessing_rules
from cloze.lessons.the_explorer.guessing_rules import Bet, Puzzle, draw_puzzles, judge
from cloze.lessons.writing_with_gaps.unmasking import frames
from cloze.prediction.generation import POLICIES
from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.symbols import CHARACTERS
from web import build, weights

WRITTEN = """async (runs) => {
  const { writing } = await import("./web/generation.js");
  const answers = runs.map(async (chosen) =>
    writing(predictors.both, chosen).ask("frames", { ...chosen, start: 0, count: 100 }));
  return Promise.all(answers);
}"""
LINE = "the ___ __ _____ sat on the ___ and __"


def written(page: Page, runs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Let the page write lines: all frames of each."""
    answers: list[list[dict[str, Any]]] = page.evaluate(WRITTEN, runs)
    return answers


def test_lines_are_written_as_in_python(engine: Page) -> None:
    """At temperature 0; above it the page draws by numbers of its own."""
    policies = [policy for policy in POLICIES if policy not in ("random order", "Gibbs")]
    runs: list[dict[str, Any]]
    runs = [{"line": LINE, "policy": each, "temperature": 0, "seed": 5} for each in policies]
    model = weights.rounded()
    for run, theirs in zip(runs, written(engine, runs), strict=True):
        ours = [*frames(model, **run)]
        assert ["".join(each["line"]) for each in theirs] == ["".join(each.line) for each in ours]
        assert [each["fates"] for each in theirs] == [[*each.fates] for each in ours]
        for mine, other in zip(ours, theirs, strict=True):
            assert other["said"] == pytest.approx(mine.said, abs=1e-3)


def test_an_order_that_is_drawn_comes_to_every_gap(engine: Page) -> None:
    gaps = [at for at, symbol in enumerate(LINE) if symbol == "_"]
    chosen = {"line": LINE, "temperature": 0, "seed": 5}
    runs = [{"policy": policy, **chosen} for policy in ("random order", "Gibbs")]
    for rounds, shown in zip((1, 3), written(engine, runs), strict=True):
        new = [[at for at, fate in enumerate(each["fates"]) if fate == "new"] for each in shown]
        assert new[0] == []
        steps = new[1 if rounds == 1 else 2 :]  # Gibbs fills all in its first step
        for start in range(0, len(steps), len(gaps)):
            order = [at for step in steps[start : start + len(gaps)] for at in step]
            assert sorted(order) == gaps
            assert order != gaps
        assert len(steps) == rounds * len(gaps)


def test_what_is_drawn_is_as_frequent_as_it_is_probable(engine: Page) -> None:
    line, n = "he look_d at __ ship", 200
    temperature = 0.5
    chosen = {"line": line, "policy": "all at once", "temperature": temperature}
    runs = [{"seed": seed, **chosen} for seed in range(n)]
    texts = ["".join(shown[-1]["line"]) for shown in written(engine, runs)]
    assert texts[:5] == ["".join(shown[-1]["line"]) for shown in written(engine, runs[:5])]
    gaps = [at for at, symbol in enumerate(line) if symbol == "_"]
    answer = MaskedPredictor(weights.rounded()).predict([*line], gaps)
    for at in gaps:
        bent = answer[at].double() ** (1 / temperature)
        bent /= bent.sum()
        for symbol, p in zip(CHARACTERS.known, bent.tolist(), strict=True):
            drawn = sum(text[at] == symbol for text in texts)
            assert abs(drawn - n * p) < 4.5 * (n * p * (1 - p)) ** 0.5 + 1, (at, symbol)


PLAYED = """async ([game, seeds, bets]) => {
  const { playing } = await import("./web/judge.js");
  const model = playing(predictors, game, { seed: 0 });
  const answers = seeds.map(async (seed) => {
    const drawn = await model.ask("puzzles", { seed, gaps: 10 });
    const asked = drawn.puzzles.map((puzzle) => model.ask("judge", { ...puzzle, bets }));
    return { ...drawn, rounds: await Promise.all(asked) };
  });
  return Promise.all(answers);
}"""


def test_games_are_those_of_python_and_paid_as_there(
    engine: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guessing_rules, "shipped_model", weights.rounded)
    bets = {"left": Bet(None), "both": Bet("e", 60)}
    seeds = [0, 7, 399]
    sent = {side: list(bet) for side, bet in bets.items()}
    theirs = engine.evaluate(PLAYED, [build.game(), [*seeds, 400], sent])
    assert [game["seed"] for game in theirs] == [*seeds, 0]  # after the last comes the first
    for seed, game in zip(seeds, theirs, strict=False):
        assert [Puzzle(**each) for each in game["puzzles"]] == draw_puzzles(Corpus.load(), 10, seed)
    for puzzle, theirs_paid in zip(theirs[1]["puzzles"], theirs[1]["rounds"], strict=True):
        ours = judge(Puzzle(**puzzle), bets)
        for side in bets:
            assert theirs_paid["bits"][side] == pytest.approx(ours.bits[side], abs=1e-3)
            best = ours.guesses[side][0]
            assert theirs_paid["guesses"][side][0] == [
                best.character,
                pytest.approx(best.probability, abs=1e-3),
            ]


DAYS = """async ([game, days]) => {
  const { playing } = await import("./web/judge.js");
  const of = (day) => playing(predictors, game, { address: "", now: new Date(day) });
  return days.map(of).map((model) => [model.get("seed"), model.get("today")]);
}"""


def test_each_day_has_its_own_gaps_and_the_next_seed_is_of_the_day_before(engine: Page) -> None:
    days = [f"2026-11-{day}T{time}" for day in (23, 24) for time in ("00:00:01", "23:59:59")]
    (seed, today), second, (after, _), fourth = engine.evaluate(DAYS, [build.game(), days])
    assert today == {"seed": seed, "date": "23 November 2026", "address": ""}
    assert second == [seed, today]
    assert after == fourth[0] == seed - 1
