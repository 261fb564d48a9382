"""The page's widgets are Python's: after the same actions they show the same, to the character."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page

from cloze.encoder import DIRECTIONS, Direction
from cloze.masked_predictor import MaskedPredictor, unigram
from cloze.predictor import Predictor
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.state import VIEWS
from cloze.widgets.explorer.widget import EXAMPLES
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
NO_POSITIONS = ["-1", "64", "1e1", "1.5", "", "x", "'", None, True, 2.5, "one", "4 4"]
POSITIONS_TOO = [" 3 ", "+2", "1_0", 4, 5.0]
KEYS = [*"abcdefghijklmnopqrstuvwxyz \n", "E", "é", "_", "", "ab", "7", None, 3, "İ"]
COUNTS = ["0", "1", "12", "10000", "10001", "-1", "", "many", "1.5", 3]


def runs_of(actions: list[list[Action]], predictors: dict[str, Predictor]) -> list[Any]:
    """Let Python's explorer do it: the runs for the page, with what Python showed."""
    runs = []
    for seed, run in enumerate(actions):
        drawn: list[float] = []
        explorer = MaskExplorer(predictors)
        explorer._random = NotingRandom(seed, drawn)
        runs.append((run, replay.shown_by(explorer, run), drawn))
    return runs


def shown_by_both(
    page: Page, actions: list[list[Action]], names: Sequence[Direction], *, noted: bool = True
) -> Iterator[tuple[list[Action], list[str], list[str]]]:
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
    """Draw what somebody might do, and what nobody should."""

    def position() -> object:
        if chance.random() < 0.04:
            return chance.choice(NO_POSITIONS + POSITIONS_TOO)
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
        "example": lambda: {"value": chance.choice([*EXAMPLES, "", "none"])},
        "view": lambda: {"view": chance.choice([*VIEWS, "all"])},
        "layer": lambda: {"value": chance.choice(["0", "1", "2", "9"])},
        "head": lambda: {"value": chance.choice(["0", "1", "3", "x"])},
        **dict.fromkeys(["word", "random", "unmask", "guess_first", "reveal"], dict),
        "present": lambda: {},
    }
    often = ["toggle"] * 6 + ["span", "guess", "guess", "fill", "view", "view", "word"]
    chosen = (chance.choice([*draws, *often]) for _ in range(n))
    return [{"do": name, **draws[name]()} for name in chosen]


def ask(*names: str) -> list[Action]:
    return [{"do": name} for name in names]


CHOSEN: list[list[Action]] = [
    *([{"do": "line", "text": text}, *ask("word", "random")] for text in LINES),
    [{"do": "toggle", "at": at} for at in [*NO_POSITIONS, *POSITIONS_TOO, "43", "43", "0"]],
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
    [{"do": "view", "view": view} for view in (*VIEWS, "", None, "x" * 100)],
    [{"do": "view", "view": "attention"}, {"do": "layer", "value": "1"},
     *({"do": "head", "value": head} for head in ("1", "3", "4", "-1", None))],
    [*ask("none", "constructor", "", "toggle"), {"do": "word", "at": "1"},
     {"do": "toggle", "at": "1", "to": "2"}],
    [{"do": "span", "start": "8", "end": "4"}, {"do": "span", "start": "4", "end": "x"},
     {"do": "view", "view": "pair"}, {"do": "fill", "at": "5", "symbol": "q"},
     {"do": "focus", "at": "5"}, {"do": "view", "view": "guesses"}, *ask("present", "unmask")],
    ask(*["word"] * 10),
]  # fmt: skip


@pytest.fixture
def built_page(page: Page, built: str) -> Page:
    """A page of the built folder on which nothing runs yet."""
    page.goto(f"{built}/blank.html")
    return page


def test_chosen_actions_show_the_same(built_page: Page) -> None:
    for run, ours, theirs in shown_by_both(built_page, CHOSEN, DIRECTIONS):
        replay.compare(ours, theirs, run)


@pytest.mark.parametrize("seed", range(4))
def test_drawn_actions_show_the_same(built_page: Page, seed: int) -> None:
    chance = random.Random(seed)
    actions = [drawn_actions(chance, 12) for _ in range(10)]
    names = DIRECTIONS if seed else ("both",)
    for run, ours, theirs in shown_by_both(built_page, actions, names):
        replay.compare(ours, theirs, run)


NUMBER = re.compile(r"(?<=[ =(>.,:−+])\d*\.\d+|(?<=--heat: )\d+")
LEAST_STEP = 10.0
"""What the last digit of a shade stands for, in percent."""


def test_the_pages_own_numbers_are_pythons_but_for_a_last_digit_now_and_then(
    built_page: Page,
) -> None:
    """Sums in another order differ by millionths, which a rounding may make a last digit of."""
    chance = random.Random(5)
    actions = [drawn_actions(chance, 12) for _ in range(12)]
    counted = differing = 0
    for run, ours, theirs in shown_by_both(built_page, actions, DIRECTIONS, noted=False):
        words = [[NUMBER.sub("#", html) for html in shown] for shown in (ours, theirs)]
        replay.compare(*words, run)
        for mine, other in zip(ours, theirs, strict=True):
            pairs = list(zip(NUMBER.findall(mine), NUMBER.findall(other), strict=True))
            counted += len(pairs)
            for a, b in pairs:
                differing += a != b
                step = 10.0 ** -len(a.partition(".")[2]) if "." in a else LEAST_STEP
                assert abs(float(a) - float(b)) < 1.01 * step, (a, b)
    assert counted > 5000
    assert differing <= counted / 1000
