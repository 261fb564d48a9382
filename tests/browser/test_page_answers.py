"""What answers the page's widgets is what answers those in Python."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from cloze.generation import POLICIES
from cloze.lessons.writing_with_gaps.unmasking import frames
from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.symbols import CHARACTERS
from web import weights

WRITTEN = """async (runs) => {
  const { writing } = await import("./web/twins/generation.js");
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
