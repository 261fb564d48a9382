"""A widget of Python and its port to the page, asked the same and doing the same.

Python's predictors write down what they were asked and what they answered; the page's, which
:data:`REPLAYED` makes, answer from that. So both know the same numbers, and what is written must be
the same character for character.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from cloze.prediction import Answer, Baseline, Predictor
from cloze.widgets.view import View

Action = Mapping[str, object]
"""What a view sends: ``{"do": …}`` and what goes along."""


class Noting(Predictor):
    """Asks another predictor and notes each question with its answer."""

    def __init__(self, asked: Predictor, notes: dict[str, object]) -> None:
        super().__init__(asked.model, asked.symbols, asked.max_len, asked.name, asked.baseline)
        self._asked, self._notes = asked, notes
        self.n_layers, self.n_heads = asked.n_layers, asked.n_heads

    def _note(self, question: str, *arguments: Any) -> Any:
        answer = getattr(self._asked, question)(*arguments)
        key = json.dumps([self.name, question, *arguments], separators=(",", ":"))
        if isinstance(answer, Answer):
            costs = [answer.cost(at) for at in answer.positions]
            self._notes[key] = [answer.positions, answer.probabilities.tolist(), costs]
        else:
            self._notes[key] = answer.tolist()
        return answer

    def predict(self, line: Sequence[str], gaps: Iterable[int]) -> Answer:
        answer: Answer = self._note("predict", list(line), list(gaps))
        return answer

    def joint(
        self,
        line: Sequence[str],
        gaps: Iterable[int],
        first: int,
        second: int,
        *,
        likely: Tensor | None = None,
    ) -> Tensor:
        table: Tensor = self._note("joint", list(line), list(gaps), first, second)
        return table if likely is None else table[likely]

    def surprise(self, line: Sequence[str]) -> Tensor:
        costs: Tensor = self._note("surprise", list(line))
        return costs

    def occlusion(self, line: Sequence[str], gaps: Iterable[int], position: int) -> Tensor:
        changes: Tensor = self._note("occlusion", list(line), list(gaps), position)
        return changes

    def attention(
        self, line: Sequence[str], gaps: Iterable[int], position: int, layer: int, head: int
    ) -> Tensor:
        weights: Tensor = self._note("attention", list(line), list(gaps), position, layer, head)
        return weights


# A function of what `described` gives and the notes: predictors that answer as those of Python.
REPLAYED = """
async (described, notes) => {
  const { Answer, Baseline, CHARACTERS } = await import("./predictor.js");
  return Object.fromEntries(described.map(({ baseline, ...rest }) => {
    const look = (question, along) => {
      const asked = along.filter((each) => !each?.signal);
      const key = JSON.stringify([rest.name, question, ...asked]);
      if (!(key in notes)) throw new Error(`Python did not ask ${key}`);
      return notes[key];
    };
    const ask = (question) => (...along) => look(question, along);
    const questions = ["joint", "surprise", "occlusion", "attention"];
    return [rest.name, {
      ...rest,
      symbols: CHARACTERS,
      baseline: baseline && new Baseline(...baseline),
      predict: (...along) => new Answer(...look("predict", along)),
      ...Object.fromEntries(questions.map((each) => [each, ask(each)])),
    }];
  }));
}
"""

# A function that gives the predictors of the page, which compute.
ANSWERING = """
async () => {
  const { loadPredictors } = await import("./predictor.js");
  return loadPredictors(async (name) => (await fetch(name)).arrayBuffer());
}
"""

# A function that shows what a widget of the page shows: at first, and after each action.
PLAYED = """
async (widget, actions) => {
  const shown = [widget.html];
  for (const action of actions) {
    await widget.send(action);
    shown.push(widget.html);
  }
  return shown;
}
"""


def described(predictors: Mapping[str, Predictor]) -> list[dict[str, object]]:
    """Say of each predictor what the page is to know besides its answers."""

    def known(baseline: Baseline | None) -> list[object] | None:
        return None if baseline is None else [list(baseline.probabilities), baseline.text]

    return [
        {
            "name": each.name,
            "maxLen": each.max_len,
            "nLayers": each.n_layers,
            "nHeads": each.n_heads,
            "baseline": known(each.baseline),
        }
        for each in predictors.values()
    ]


class NotingRandom(random.Random):
    """A source of chance that notes what it has given."""

    def __init__(self, seed: int, given: list[float]) -> None:
        super().__init__(seed)
        self._given = given

    def random(self) -> float:
        self._given.append(super().random())
        return self._given[-1]


def shown_by(widget: View, actions: Sequence[Action]) -> list[str]:
    """Do one action after the other, and return what is shown at first and after each."""
    shown = [widget.html]
    for action in actions:
        widget._receive(widget, dict(action), [])
        shown.append(widget.html)
    return shown


def compare(ours: Sequence[str], theirs: Sequence[str], actions: Sequence[Action]) -> None:
    """Fail with the first action after which the two differ, and where they do."""
    assert len(ours) == len(theirs)
    for n, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine != other:
            at = next(
                (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b),
                min(len(mine), len(other)),
            )
            part = slice(max(0, at - 150), at + 150)
            raise AssertionError(
                f"After {list(actions[:n])}\nPython: {mine[part]}\npage:   {other[part]}"
            )


NUMBER = re.compile(r"(?<=--heat: )\d+(?=%)|(?<=[ >])\d+(?=%)|(?<=[ =(>.,:−+/])\d*\.\d+|check=\w+")


@dataclass
class Alike:
    """How two compare that have computed their numbers themselves, in sums of another order.

    They differ by millionths, which rounding may make a last digit of now and then.
    """

    numbers: int = 0
    """How many were compared."""
    differing: int = 0

    def compare(
        self, ours: Sequence[str], theirs: Sequence[str], actions: Sequence[Action]
    ) -> None:
        """Fail where they differ by anything but the last digit of a number."""
        words = [[NUMBER.sub("#", html) for html in each] for each in (ours, theirs)]
        compare(words[0], words[1], actions)
        for mine, other in zip(ours, theirs, strict=True):
            for found, b in zip(NUMBER.finditer(mine), NUMBER.findall(other), strict=True):
                a = found[0]
                self.numbers += 1
                self.differing += a != b
                if a != b and not a.startswith("check="):
                    shade = mine.endswith("--heat: ", 0, found.start())  # in tens
                    step = 10.0 if shade else 10.0 ** -len(a.partition(".")[2])
                    assert abs(float(a) - float(b)) < 1.01 * step, (a, b)
