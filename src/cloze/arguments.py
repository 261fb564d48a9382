"""Border: what public functions accept, said by their annotations and refused in one sentence.

A function that a notebook or the command line calls is marked ``@checked``. Its annotations then
hold: types (checked by beartype), dtypes and shapes of tensors (jaxtyping; a dimension of one name
has one size in all arguments), and ranges, which stand here once per kind of value. Whatever is
wrong with an argument is a ``ValueError``, since that is what widgets and the command line show as
a sentence. Inside the border nothing is checked a second time.
"""

from __future__ import annotations

import functools
import inspect
import math
import reprlib
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    SupportsIndex,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

import numpy as np
from beartype import BeartypeConf
from beartype.door import is_bearable
from beartype.vale import Is
from jaxtyping import AbstractArray, Bool, Float, Int64, jaxtyped
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")

_NUMBERS = BeartypeConf(is_pep484_tower=True)
"""A whole number will do where a number is wanted."""
_wordings: dict[Any, str] = {}
"""What a range says of itself, after "a number"."""


MOST = 2**63 - 1
"""The largest whole number that torch can count to."""


def _such(test: Callable[[Any], bool], wording: str) -> Any:
    """Make a condition for ``Annotated[…, …]`` that says of itself what it asks for."""
    held = Is[test]
    _wordings[held] = wording
    return held


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
NotNegative = _such(lambda x: bool((x >= 0).all()), "of numbers of at least 0")

Probability = Annotated[float, between(0, 1)]
Temperature = Annotated[float, between(0, 100)]
Positive = Annotated[float, between(1e-9)]
"""A number above 0."""
Count = Annotated[int, between(1, MOST)]
"""How many there are of something that there must be."""
EvenCount = Annotated[Count, _such(lambda n: n % 2 == 0, "and even")]
"""How many there are of what comes in pairs."""
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
Together = Bool[Tensor, "length length"]
"""For each position of one line (row), which others go with it."""
Lines = Int64[Tensor, "batch length"]
"""The ids of several lines of equal length."""
Selected = Bool[Tensor, "batch length"]
"""True at the selected positions of several lines."""
Logits = Float[Tensor, "*positions symbols"]
"""Unnormalised log-probabilities, a row of |V| for each position."""
Distributions = Annotated[
    Logits,
    _such(
        lambda p: bool(p.isfinite().all() and (p >= 0).all() and (p.sum(-1) > 0).all()),
        "of probabilities",
    ),
]
"""Probabilities, a row of |V| for each position; a row need not sum to 1."""
Probabilities = Annotated[
    Logits, _such(lambda p: bool(((p >= 0) & (p <= 1 + 1e-6)).all()), "of numbers from 0 to 1")
]
"""Probabilities that each lie between 0 and 1, a row for each position."""
Positions = Iterable[SupportsIndex]
"""Positions in a line, in any collection; :func:`positions` reads them."""
Values = Float[Tensor, "*positions"]
"""A number for each position, in any shape."""
Labels = Int64[Tensor, "*positions"]
"""For each position the id that is asked for, −100 where nothing is."""


@overload
def checked(function: type[R]) -> type[R]: ...


@overload
def checked(function: Callable[P, R]) -> Callable[P, R]: ...


def checked(function: Any) -> Any:
    """Hold the arguments of a function, or the fields of a dataclass, to their annotations.

    A number that comes from NumPy or torch becomes Python's. A wrong number of arguments stays the
    ``TypeError`` that Python words itself.

    Raises:
        ValueError: an argument is not what its annotation says; the sentence names it.
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def at_the_border(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        hints = _hints(function)
        with jaxtyped("context"):
            for name, value in given.arguments.items():
                if name in hints:
                    given.arguments[name] = _read(name, value, hints[name])
        return function(*given.args, **given.kwargs)

    return at_the_border


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in hints and parameter.kind is parameter.VAR_POSITIONAL:
            hints[name] = tuple[hints[name], ...]  # type: ignore[valid-type]
        elif name in hints and parameter.kind is parameter.VAR_KEYWORD:
            hints[name] = dict[str, hints[name]]  # type: ignore[valid-type]
    return hints


def _read(name: str, value: Any, hint: Any) -> Any:
    """Return what an annotation allows, and refuse everything else."""
    plain = value.item() if isinstance(value, np.generic | Tensor) and not value.ndim else value
    for each in (value, plain):
        if _fits(each, hint):
            return each
    with jaxtyped("context"):
        if _fits(value, hint):
            raise ValueError(
                f"{name} has the shape {tuple(value.shape)}, which does not fit the other "
                f"arguments: it is {in_words(hint)}."
            )
    raise ValueError(f"{name} is {in_words(hint)}, not {shown(value)}.")


def _fits(value: object, hint: Any) -> bool:
    if isinstance(value, bool) and not {bool, Any, object} & set(_alternatives(hint)):
        return any(
            get_origin(one) is Literal and value in get_args(one) for one in _alternatives(hint)
        )
    with suppress(TypeError):  # a tensor without dimensions passes for a sequence and has no length
        return is_bearable(value, hint, conf=_NUMBERS)
    return False


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


NAMES: dict[Any, str] = {
    int: "a whole number",
    SupportsIndex: "a whole number",
    float: "a number",
    str: "text",
    bool: "True or False",
    type(None): "None",
    Tensor: "a tensor",
    Path: "a path",
    Any: "anything",
}


def in_words(hint: Any) -> str:
    """Say what an annotation allows: ``a number from 0 to 1``."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in NAMES:
        return NAMES[hint]
    if origin is Annotated:
        ranges = [_wordings[part] for part in parts[1:] if part in _wordings]
        return " ".join([in_words(parts[0]), *ranges])
    if origin in (Union, UnionType):
        return " or ".join(map(in_words, parts))
    if origin is Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin and issubclass(origin, Mapping):
        return f"a dict from {in_words(parts[0])} to {in_words(parts[1])}"
    if origin and issubclass(origin, Iterable):
        return f"a list, each of it {in_words(parts[0])}"
    if origin and issubclass(origin, Callable):  # type: ignore[arg-type]
        return "a function"
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        kinds = {"Int64": "int64", "Bool": "bool", "Float": "floating point"}
        shape = ", ".join(hint.dim_str.replace("*positions", "…").split())
        kind = kinds.get(hint.__name__.partition("[")[0], "numbers")
        return f"a tensor of {kind} and shape ({shape})"
    name = getattr(origin or hint, "__name__", str(hint))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


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
    try:
        each: Iterator[object] = iter(None if isinstance(values, str | bytes) else values)  # type: ignore[call-overload]
    except TypeError:
        raise ValueError(
            f"Positions are a list of whole numbers, like [4, 7], not {shown(values)}."
        ) from None
    return [whole_number(value, 0, length - 1, "A position in this line") for value in each]


def whole_number(value: object, low: int, high: int | None, what: str) -> int:
    """Read a whole number that came from a browser or a learner's code.

    Args:
        value: anything; a number that came as text, as a NumPy number or as a tensor is read, too.
        low: the least number allowed.
        high: the greatest number allowed; None for the largest that torch can count to.
        what: what the number is, to begin a sentence with.

    Raises:
        ValueError: it is not a whole number, or lies outside ``low`` … ``high``.
    """
    most = MOST if high is None else high
    with suppress(TypeError, ValueError, ArithmeticError, RuntimeError):  # no number can be made
        read = int(value)  # type: ignore[call-overload]
        exact = isinstance(value, int) or read == float(value)  # type: ignore[arg-type]
        if (
            exact
            and low <= read <= most
            and "bool" not in str(getattr(value, "dtype", type(value)))
        ):
            return int(read)
    limits = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise ValueError(f"{what} is a whole number {limits}, not {shown(value)}.")


class _Shortened(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_Tensor(self, tensor: Tensor, level: int) -> str:  # noqa: ARG002, N802 - reprlib's name
        if not tensor.dim():
            return f"a tensor of {tensor.item()}"
        dtype = str(tensor.dtype).removeprefix("torch.")
        return f"a tensor of {dtype} and shape {tuple(tensor.shape)}"

    def repr_int(self, number: int, level: int) -> str:
        # Python refuses to write a number of thousands of digits.
        long = number.bit_length() > 1000
        return "a number of hundreds of digits" if long else super().repr_int(number, level)


def shown(value: object) -> str:
    """Write a value as a message repeats it: on one line, and shortened if it is long."""
    return " ".join(_Shortened().repr(value).split())
