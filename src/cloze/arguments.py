"""Arguments: what functions that learners call accept, as their annotations say.

A function that a notebook, a widget or the command line calls is marked ``@checked``. Its
annotations then hold: types (checked by beartype), dtypes and shapes of tensors (jaxtyping; a
dimension of one name has one size in all arguments), and ranges, which stand here once per kind of
value. Whatever is wrong with an argument is a ``ValueError`` of one sentence, which widgets and the
command line show as it is.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import reprlib
import typing
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, SupportsIndex, TypeVar, Union, cast

import numpy as np
from beartype import BeartypeConf
from beartype.door import is_bearable
from beartype.vale import Is
from jaxtyping import Bool, Float, Int64, jaxtyped
from torch import Tensor

F = TypeVar("F", bound=Callable[..., Any])

MOST = 2**63 - 1
"""The largest whole number that torch can count to."""

_NUMBERS = BeartypeConf(is_pep484_tower=True)
"""A whole number will do where a number is wanted."""
_wordings: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "None",
}
"""How a type or a range is called in a sentence."""


def _such(test: Callable[[Any], bool], wording: str) -> Any:
    """Make a condition for ``Annotated[…, …]``, with the words for it."""
    condition = Is[test]
    _wordings[condition] = wording
    return condition


def between(low: float, high: float = math.inf) -> Any:
    """Make a range for ``Annotated[int, …]`` or ``Annotated[float, …]``; NaN is in none."""
    wording = f"of at least {low:g}" if high >= MOST else f"from {low:g} to {high:g}"
    return _such(lambda value: low <= value <= high, wording)


def among(names: Collection[str]) -> Any:
    """Make a range of words for ``Annotated[str, …]``."""
    return _such(lambda value: value in names, "among " + ", ".join(map(repr, names)))


Finite = _such(lambda x: x.numel() > 0 and bool(x.isfinite().all()), "of finite numbers")
"""For tensors that are measured: NaN would be answered with a number."""
NotNaN = _such(lambda x: not x.isnan().any(), "without NaN")
Some = _such(lambda several: len(several) > 0, "with at least one")

Probability = Annotated[float, between(0, 1)]
Temperature = Annotated[float, between(0, 100)]
Count = Annotated[int, between(1, MOST)]
"""How many there are of something that there must be."""
Whole = Annotated[int, between(0, MOST)]
"""A whole number that may be zero: a seed, an epoch, a position."""

FilePath = Path | str
"""Where a file or a folder is."""

Ids = Int64[Tensor, "*positions"]
"""Ids of symbols, in any shape."""
Where = Bool[Tensor, "*positions"]
"""True at some positions, of the same shape as their ids."""
Line = Int64[Tensor, "length"]
"""The ids of one line."""
Choice = Int64[Tensor, "choice"]
"""Ids of some symbols, whatever the length of a line."""
Lines = Int64[Tensor, "batch length"]
"""The ids of several lines of equal length."""
Selected = Bool[Tensor, "batch length"]
"""True at the selected positions of several lines."""
Logits = Float[Tensor, "*positions symbols"]
"""Unnormalised log-probabilities, a row of |V| for each position."""
Probabilities = Annotated[
    Logits, _such(lambda p: bool(((p >= 0) & (p <= 1 + 1e-6)).all()), "of numbers from 0 to 1")
]
"""Probabilities that each lie between 0 and 1, a row for each position."""
Positions = Iterable[SupportsIndex]
"""Positions in a line, in any collection; :func:`positions` reads them."""
Labels = Int64[Tensor, "*positions"]
"""For each position the id that is asked for, −100 where nothing is."""


def checked(function: F) -> F:
    """Check the arguments of a function, or the fields of a dataclass, by their annotations.

    A number that comes from NumPy or torch becomes Python's. A wrong number of arguments stays the
    ``TypeError`` that Python words itself.

    Raises:
        ValueError: an argument is not what its annotation says; the sentence names it.
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return cast(F, function)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked_call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        with jaxtyped("context"):
            for name, hint in parameter_hints(function).items():
                if name in given.arguments:
                    given.arguments[name] = read(name, given.arguments[name], hint)
        return function(*given.args, **given.kwargs)

    return cast(F, checked_call)


@functools.cache
def parameter_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of the parameters that are checked: all but ``*args, **kwargs``."""
    hints = typing.get_type_hints(function, include_extras=True)
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return {p.name: hints[p.name] for p in parameters if p.kind not in several and p.name in hints}


def read(name: str, value: Any, hint: Any) -> Any:
    """Return a value that an annotation allows, a number of NumPy or torch as Python's.

    Raises:
        ValueError: the annotation does not allow it.
    """
    plain = value.item() if isinstance(value, np.generic | Tensor) and not value.ndim else value
    for each in (value, plain):
        with suppress(TypeError):  # a tensor without dimensions passes for a sequence of no length
            if is_bearable(each, hint, conf=_NUMBERS):
                return each
    shaped = isinstance(value, Tensor) and value.dim()
    sizes = "; a dimension has the same size in all arguments" if shaped else ""
    raise ValueError(f"{name} is {_in_words(hint)}, not {shown(value)}{sizes}.")


def _in_words(hint: Any) -> str:
    """Say what an annotation allows: ``a number from 0 to 1``."""
    if typing.get_origin(hint) in (Union, UnionType):
        return " or ".join(map(_in_words, typing.get_args(hint)))
    if typing.get_origin(hint) is Annotated:
        kind, *conditions = typing.get_args(hint)
        return " ".join([_in_words(kind), *(_wordings[each] for each in conditions)])
    name = re.sub(r"\b\w+\.", "", inspect.formatannotation(hint))  # without its modules
    name = re.sub(r"Annotated\[(\w+), Is\[.*?\]\]", r"\1", name)  # and without ranges
    return _wordings.get(hint) or f"of type {name}"


# What annotations cannot say, because it depends on another argument or comes from a browser


def known_symbols(ids: Tensor, n_symbols: int, what: str = "Ids") -> Tensor:
    """Return ids that are all below ``n_symbols``.

    Raises:
        ValueError: an id has no symbol.
    """
    low, high = (int(end) for end in ids.aminmax()) if ids.numel() else (0, 0)
    if low < 0 or high >= n_symbols:
        raise ValueError(
            f"{what} run from 0 to {n_symbols - 1}, not to {low if low < 0 else high}."
        )
    return ids


def positions(values: object, length: int) -> list[int]:
    """Read positions in a line of ``length`` characters.

    Raises:
        ValueError: they are not whole numbers, or lie outside the line.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(
            f"Positions are a list of whole numbers, like [4, 7], not {shown(values)}."
        )
    return [whole_number(value, 0, length - 1, "A position in this line") for value in values]


def whole_number(value: object, low: int, high: int, what: str) -> int:
    """Read a whole number that came from a browser or a learner's code.

    Args:
        value: anything; a number that came as text, as a NumPy number or as a tensor is read, too.
        low: the least number allowed.
        high: the greatest number allowed.
        what: what the number is, to begin a sentence with.

    Raises:
        ValueError: it is not a whole number, or lies outside ``low`` … ``high``.
    """
    with suppress(TypeError, ValueError, ArithmeticError):  # it is no number
        number = int(value)  # type: ignore[call-overload]
        exact = isinstance(value, int) or number == float(value)  # type: ignore[arg-type]
        if exact and low <= number <= high:
            return int(number)
    raise ValueError(f"{what} is a whole number from {low} to {high}, not {shown(value)}.")


_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxother = 60


def shown(value: Any) -> str:
    """Write a value as a message repeats it: on one line, and shortened if it is long."""
    if isinstance(value, Tensor) and value.dim():
        dtype = str(value.dtype).removeprefix("torch.")
        return f"a tensor of {dtype} and shape {tuple(value.shape)}"
    return " ".join(_shortened.repr(value).split())
