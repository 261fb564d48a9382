"""Mistakes: wrong answers to the exercises of a lesson, which stand in its ``mistakes.md``.

A heading of the first level names an exercise, one of the second level is the sentence that is said
of a mistake, and below it stands the mistake as a learner would write it::

    # summed_loss

    ## Your loss is negative: did you forget the minus?

    ```python
    def summed_loss(P, x, M):
        return sum(math.log(P[i][x[i]]) for i in M)
    ```

The code has ``math``, ``np``, ``torch`` and ``F`` at hand, and what the lesson's ``checks.py`` has.
It is read and run only if an answer is wrong.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

AT_HAND = {"math": math, "np": np, "torch": torch, "F": F}
"""What the code of every mistake may use, as the notebooks import it."""

ENTRY = re.compile(
    r"^# (?P<exercise>.+)\n|^## (?P<sentence>.+)\n\s*^```python\n(?P<code>(?s:.*?))^```$", re.M
)


def parse_mistakes(text: str) -> dict[str, dict[str, str]]:
    """Read the code of every mistake, by exercise and by sentence.

    Raises:
        ValueError: something is not in the form of a mistake; the message says what.
    """
    found: dict[str, dict[str, str]] = {}
    rest = ENTRY.sub(lambda entry: "\n" * entry[0].count("\n"), text).split("\n")
    for number, stray in enumerate(rest, 1):
        if stray.strip():
            raise ValueError(
                f"Line {number}, {stray!r}, belongs to no mistake: a mistake is a heading '## ' "
                "with its sentence on one line, and one ```python block below it."
            )
    for entry in ENTRY.finditer(text):
        if entry["exercise"]:
            known = found.setdefault(entry["exercise"].strip(), {})
        elif not found:
            raise ValueError(
                f"{entry['sentence']!r} belongs to no exercise: a heading '# ' with the name of "
                "its function comes first."
            )
        elif entry["sentence"].strip() in known:
            raise ValueError(f"{entry['sentence']!r} stands there twice.")
        else:
            known[entry["sentence"].strip()] = entry["code"]
    return found


@dataclass(frozen=True)
class Mistakes(Mapping[str, Any]):
    """The mistakes of one exercise: each sentence with the wrong function, or the wrong value.

    Args:
        module: The module that defines the exercise, ``__name__``; its folder has the file.
        exercise: What the check is called without ``check_``.

    Raises:
        ValueError: when it is first looked at: the file, or a mistake in it, is malformed.
    """

    module: str
    exercise: str

    @property
    def _lesson(self) -> str:
        return self.module.rpartition(".")[0]

    @cached_property
    def _mistakes(self) -> dict[str, Any]:
        try:
            known = parse_mistakes(files(self._lesson).joinpath("mistakes.md").read_text("utf-8"))
            if self.exercise not in known:
                raise ValueError(f"There is no heading '# {self.exercise}'; add it.")
            return {
                sentence: self._run(sentence, code)
                for sentence, code in known[self.exercise].items()
            }
        except ValueError as error:
            raise ValueError(f"mistakes.md of {self._lesson}: {error}") from None

    def _run(self, sentence: str, code: str) -> Any:
        """Run the code of a mistake where it sees what the checks see, but not the solution."""
        names = {**AT_HAND, **vars(sys.modules[self.module])}
        names.pop(self.exercise, None)
        try:
            exec(code, names)  # noqa: S102 - a file of the package, as trusted as its modules
        except Exception as error:
            raise ValueError(f"The code under {sentence!r} does not run: {error!r}.") from None
        if self.exercise not in names:
            raise ValueError(f"The code under {sentence!r} defines no `{self.exercise}`.")
        return names[self.exercise]

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds whose probes tell the solution and all mistakes apart; any, if there are none."""
        stored = files(self._lesson).joinpath("seeds.json")
        found: dict[str, list[int]] = {}
        if stored.is_file():
            found = json.loads(stored.read_text("utf-8"))
        return found.get(self.exercise, [])

    def __getitem__(self, sentence: str) -> Any:
        return self._mistakes[sentence]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mistakes)

    def __len__(self) -> int:
        return len(self._mistakes)
