"""The page's widgets are Python's: after the same actions they show the same, to the character."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page

from cloze.encoder import DIRECTIONS, Direction
from cloze.prediction import MaskedPredictor, Predictor, unigram
from cloze.vocabulary import counted
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.line import signed
from cloze.widgets.explorer.state import VIEWS
from cloze.widgets.explorer.widget import EXAMPLES
from cloze.widgets.view import in_nats
from tests.browser import replay
from tests.browser.replay import Action, Noting, NotingRandom
from web import weights

EXPLORERS = f"""
async ([described, notes, examples, runs]) => {{
  const {{ Explorer }} = await import("./explorer.js");
  const predictors = notes
    ? await ({replay.REPLAYED})(described, notes)
    : await ({replay.ANSWERING})();
  const shown = [];
  for (const [actions, draws] of runs) {{
    const explorer = await Explorer.of(predictors, examples, () => draws.shift());
    await explorer.settled;
    const seen = [explorer.html];
    for (const action of actions) {{
      await explorer.send(action);
      await explorer.settled;
      seen.push(explorer.html);
    }}
    shown.push(seen);
  }}
  return shown;
}}
"""

LINES = [
    "the old man walked slowly down to the harbour",
    "  Two   spaces\tand a tab  ",
    "naïve café, straße; don’t!",
    "a_b [mask]ing _ _",
    "one line\r\nand\n\n another",
    "x",
    "e" * 64,
    "e" * 65,
    "",
    "1 2 3",
    "日本語",
    "<img src=x onerror=alert(1)> & 'quoted' \"twice\"",
    "\u202eשלום 😀",
    "ﬁne ½ ǆ e\u0301 İstanbul",
    "a\u00a0b\u2003c\x00d",
]
KEYS = [*"abcdefghijklmnopqrstuvwxyz \n", "E", "é", "_", "7", "İ"]
COUNTS = ["0", "1", "12", "10000", "10001", "-1", "", "many", "1.5"]


def runs_of(actions: Sequence[Sequence[Action]], predictors: dict[str, Predictor]) -> list[Any]:
    """Let Python's explorer do it: the runs for the page, with what Python showed."""
    runs = []
    for seed, run in enumerate(actions):
        drawn: list[float] = []
        explorer = MaskExplorer(predictors)
        explorer._random = NotingRandom(seed, drawn)
        runs.append((run, replay.shown_by(explorer, run), drawn))
    return runs


def shown_by_both(
    page: Page,
    actions: Sequence[Sequence[Action]],
    names: Sequence[Direction],
    *,
    noted: bool = True,
) -> Iterator[tuple[Sequence[Action], list[str], list[str]]]:
    """Let both explorers do it, and yield each run with what Python and the page showed.

    Args:
        page: the page.
        actions: what is done, run by run.
        names: whom both ask.
        noted: whether the page answers from Python's numbers, or computes its own.
    """
    notes: dict[str, object] = {}
    predictors: dict[str, Predictor] = {
        name: Noting(MaskedPredictor(weights.rounded(name), name, unigram()), notes)
        for name in names
    }
    runs = runs_of(actions, predictors)
    examples = {name: each._asdict() for name, each in EXAMPLES.items()}
    done = [(run, draws) for run, _, draws in runs]
    kept = notes if noted else None
    shown = page.evaluate(EXPLORERS, [replay.described(predictors), kept, examples, done])
    for (run, ours, _), theirs in zip(runs, shown, strict=True):
        yield run, ours, theirs


def drawn_actions(chance: random.Random, n: int) -> list[Action]:
    """Draw what somebody might do."""

    def position() -> object:
        return str(chance.randrange(24))

    def key() -> object:
        return chance.choice(KEYS)

    draws: dict[str, Any] = {
        "toggle": lambda: {"at": position()},
        "focus": lambda: {"at": position()},
        "span": lambda: {"start": (start := chance.randrange(40)), "end": start + 2},
        "guess": lambda: {"at": position(), "key": key()},
        "take": lambda: {"at": position(), "key": key()},
        "count": lambda: {"at": position(), "key": key(), "value": chance.choice(COUNTS)},
        "fill": lambda: {"at": position(), "symbol": key()},
        "empty": lambda: {"at": position()},
        "line": lambda: {"text": chance.choice(LINES)},
        "example": lambda: {"value": chance.choice([*EXAMPLES])},
        "view": lambda: {"view": chance.choice([*VIEWS])},
        "layer": lambda: {"value": chance.choice(["0", "1", "2"])},
        "head": lambda: {"value": chance.choice(["0", "1", "3"])},
        **dict.fromkeys(["word", "random", "unmask", "guess_first", "reveal"], dict),
        "present": dict,
    }
    often = ["toggle"] * 6 + ["span", "guess", "guess", "fill", "view", "view", "word"]
    chosen = (chance.choice([*draws, *often]) for _ in range(n))
    return [{"do": name, **draws[name]()} for name in chosen]


def ask(*names: str) -> list[Action]:
    return [{"do": name} for name in names]


CHOSEN: list[Sequence[Action]] = [
    *([{"do": "line", "text": text}, *ask("word", "random")] for text in LINES),
    [{"do": "toggle", "at": at} for at in ("43", "43", "0")],
    [{"do": "fill", "at": "13", "symbol": key} for key in KEYS],
    [*ask("guess_first"), *({"do": "guess", "at": "13", "key": key} for key in KEYS)],
    *([*ask("guess_first"), *({"do": "guess", "at": "13", "key": key} for key in keys),
       *ask("reveal"), {"do": "toggle", "at": "14"}, {"do": "guess", "at": "14", "key": "m"},
       *ask("reveal", "guess_first")] for keys in ("u", "a", "aauuuu u", "e" * 12)),
    [*ask("guess_first"), *({"do": "count", "at": "13", "key": "u", "value": n} for n in COUNTS),
     {"do": "guess", "at": "13", "key": "u", "n": "10"}, {"do": "take", "at": "13", "key": "a"},
     {"do": "guess", "at": "13", "key": "u", "n": "0"}, {"do": "take", "at": "13", "key": "u"}],
    *([{"do": "example", "value": name}, *ask("guess_first", "unmask", "reveal")]
      for name in EXAMPLES),
    [{"do": "view", "view": view} for view in VIEWS],
    [{"do": "view", "view": "attention"}, {"do": "layer", "value": "1"},
     *({"do": "head", "value": head} for head in ("1", "3", "4"))],
    [{"do": "span", "start": "8", "end": "4"},
     {"do": "view", "view": "pair"}, {"do": "fill", "at": "5", "symbol": "q"},
     {"do": "focus", "at": "5"}, {"do": "view", "view": "guesses"}, *ask("present", "unmask")],
    ask(*["word"] * 10),
    [{"do": "line", "text": "abc"}, *ask(*["random"] * 12)],
]  # fmt: skip


@pytest.fixture
def built_page(page: Page, built: str) -> Page:
    """A page of the built folder on which nothing runs yet."""
    page.goto(f"{built}/blank.html")
    return page


def test_chosen_actions_show_the_same(built_page: Page) -> None:
    for run, ours, theirs in shown_by_both(built_page, CHOSEN, DIRECTIONS):
        replay.compare(ours, theirs, run)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2, 3))])
def test_drawn_actions_show_the_same(built_page: Page, seed: int) -> None:
    chance = random.Random(seed)
    actions = [drawn_actions(chance, 12) for _ in range(10)]
    names = DIRECTIONS if seed else ("both",)
    for run, ours, theirs in shown_by_both(built_page, actions, names):
        replay.compare(ours, theirs, run)


@pytest.mark.slow
def test_the_pages_own_numbers_are_pythons_but_for_a_last_digit_now_and_then(
    built_page: Page,
) -> None:
    """Sums in another order differ by millionths, which a rounding may make a last digit of."""
    chance = random.Random(5)
    actions = [drawn_actions(chance, 12) for _ in range(8)]
    alike = replay.Alike()
    for run, ours, theirs in shown_by_both(built_page, actions, DIRECTIONS, noted=False):
        alike.compare(ours, theirs, run)
    assert alike.numbers > 3000
    assert alike.differing <= alike.numbers / 1000


NUMBERS = """async (numbers) => {
  const { counted, fixed, inNats, oneDigit, percent, signed } = await import("./words.js");
  return JSON.parse(numbers).map((number) => {
    const whole = Math.trunc(number);
    return [
      ...[0, 1, 2, 3].map((decimals) => fixed(number, decimals)),
      percent(number), inNats(number), signed(number), counted(whole, "gap"),
      oneDigit(1 / 28 / (1 + Math.abs(whole))),
    ];
  });
}"""


def test_numbers_are_written_as_python_writes_them(built_page: Page) -> None:
    """Ties go to even in Python, and away from zero in JavaScript."""
    chance = random.Random(0)
    eighths = [n / 8 for n in range(-40, 41)]
    drawn = [chance.uniform(-1, 1) * 10 ** chance.randint(-9, 5) for _ in range(500)]
    numbers = [0.0, -0.0, 0.005, 0.015, 0.285, 1.005, 1e-9, 12345.5, *eighths, *drawn]
    # As text, for Playwright sends 0.0 as -0.0; JSON reads what is too large as infinite.
    theirs = built_page.evaluate(NUMBERS, json.dumps(numbers))
    for number, row in zip(numbers, theirs, strict=True):
        whole = int(number)
        ours = [f"{number:.{decimals}f}" for decimals in range(4)]
        ours += [f"{number:.0%}", in_nats(number), signed(number), counted(whole, "gap")]
        assert row == [*ours, f"{1 / 28 / (1 + abs(whole)):.1g}"], number
    *_, nats, change, _, _ = built_page.evaluate(NUMBERS, "[1e999]")[0]
    assert [nats, change] == [in_nats(math.inf), signed(math.inf)]
