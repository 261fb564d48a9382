"""Random calls: a wrong argument gets a sentence, and NaN is never hidden in a number.

Every public function and class that is ``@checked`` is called with arguments that fit, but for one.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

import cloze
from cloze import arguments
from cloze.corpus import Corpus
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY

CALLS = 100
"""How often each function is called."""
WRITES_OR_OPENS = ("cloze.checkpoint.", "cloze.handover.")
"""What takes paths, and has tests with damaged files of its own."""


def checked_functions() -> Iterator[Any]:
    for module in pkgutil.walk_packages(cloze.__path__, "cloze."):
        if module.name.endswith("__main__") or module.name.startswith(WRITES_OR_OPENS):
            continue
        for name, each in vars(importlib.import_module(module.name)).items():
            function = each.__init__ if inspect.isclass(each) else each
            code = getattr(function, "__code__", None)
            own = getattr(function, "__module__", None) == module.name
            is_checked = own and code and code.co_name == "checked_call"
            if is_checked and not name.startswith("_"):
                yield pytest.param(each, id=f"{module.name}.{name}")


def values() -> list[Any]:
    ids, some = torch.randint(0, 28, (3, 4)), torch.rand(3, 4) < 0.5
    tensors = [
        *(torch.rand(shape) - 0.1 for shape in ((), (4,), (0, 4), (4, 4), (3, 4), (4, 29))),
        *(torch.full(shape, math.nan) for shape in ((), (4,), (4, 4), (3, 4), (4, 29))),
        *(ids, ids[0], ids - 9, ids.to(torch.uint8), ids + 1000),
        *(some, some[0], torch.rand(4, 4) < 0.5),
    ]
    plain = [None, -1, 0, 1, 3, 0.3, math.nan, math.inf, -0.5, "", "the cat", "_ook"]
    several = [[], [1, 2], ("a", "b"), {}, {"a": 1.0}, {"a": math.nan}, object()]
    return [*tensors, *plain, *several, Corpus.load(), VOCABULARY, Path("nowhere")]


def fits(value: Any, name: str, hints: dict[str, Any]) -> bool:
    try:
        arguments.read(name, value, hints[name])
    except ValueError:
        return False
    return True


def has_nan(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() and bool(value.isnan().any())
    if isinstance(value, list | tuple):
        return any(map(has_nan, value))
    return isinstance(value, float) and math.isnan(value)


@pytest.mark.slow
@pytest.mark.parametrize("call", [*checked_functions()])
def test_one_wrong_argument_gets_a_sentence_or_a_true_answer(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function: Any = inspect.unwrap(call.__init__ if inspect.isclass(call) else call)
    hints = arguments.parameter_hints(function)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name in hints]
    places = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
    anything = values()
    fitting = {p.name: [x for x in anything if fits(x, p.name, hints)] for p in parameters}
    fitting |= {"model": [shipped_model()]}
    for _ in range(CALLS):
        wrong = random.choice(parameters)
        sent = {
            p.name: random.choice(anything if p is wrong else fitting[p.name] or anything)
            for p in parameters
            if p is wrong or p.default is p.empty or random.random() < 0.3
        }
        by_place = [sent.pop(name) for name in places if name in sent]
        try:
            answer = call(*by_place, **sent)
            answer = list(islice(answer, 3)) if inspect.isgenerator(answer) else answer
        except (ValueError, IndexError, FileNotFoundError):
            continue  # a sentence, though torch's own for a label that is out of range
        assert has_nan(answer) or not any(map(has_nan, [*by_place, *sent.values()])), sent
