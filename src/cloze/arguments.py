"""Arguments: what public functions accept, read at their border and refused in one sentence.

Every refusal is a ``ValueError``, whatever is wrong with the argument, for that is what widgets and
the command line show as a sentence. Inside the border nothing is checked a second time.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")

LARGEST = 2**63 - 1
"""The largest whole number that torch can count to."""
_UNREADABLE = (TypeError, ValueError, ArithmeticError, RuntimeError)
"""What Python, NumPy and torch raise for what they cannot make a number of."""


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


def whole_number(value: object, low: int, high: int | None, what: str) -> int:
    """Read a whole number that came from a browser or a learner's code.

    Args:
        value: anything; a number that came as text, as a NumPy number or as a tensor is read, too.
        low: the least number allowed.
        high: the greatest number allowed; None for the largest that torch can count to.
        what: what the number is, to begin a sentence with.

    Raises:
        ValueError: it is none, or outside ``low`` … ``high``.
    """
    try:
        read = int(value)  # type: ignore[call-overload]
        exact = read == (value if isinstance(value, int) else float(value))  # type: ignore[arg-type]
        most = LARGEST if high is None else high
        if exact and low <= read <= most and not _is_bool(value):
            return int(read)
    except _UNREADABLE:
        pass
    limits = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise ValueError(f"{what} is a whole number {limits}, not {shown(value)}.")


def number(value: object, what: str) -> float:
    """Read a number, which may be infinite.

    Raises:
        ValueError: it is none.
    """
    try:
        read = math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
        if not math.isnan(read) and not _is_bool(value):
            return read
    except _UNREADABLE:
        pass
    raise ValueError(f"{what} is a number, not {shown(value)}.")


def probability(value: object, what: str) -> float:
    """Read a probability.

    Raises:
        ValueError: it is no number from 0 to 1.
    """
    try:
        read = number(value, what)
        if 0 <= read <= 1:
            return read
    except ValueError:
        pass
    raise ValueError(f"{what} is a probability, from 0 to 1, not {shown(value)}.")


def positions(values: object, length: int) -> list[int]:
    """Read positions in a line of ``length`` characters.

    Raises:
        ValueError: they are no whole numbers, or lie outside the line.
    """
    try:
        each: Iterator[object] = iter(None if isinstance(values, str | bytes) else values)  # type: ignore[call-overload]
    except TypeError:
        raise ValueError(
            f"Positions are a list of whole numbers, like [4, 7], not {shown(values)}."
        ) from None
    return [whole_number(value, 0, length - 1, "A position in this line") for value in each]


def one_of(value: object, choices: Collection[str], what: str) -> str:
    """Read a word of a few.

    Raises:
        ValueError: it is none of them.
    """
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{what} is one of {', '.join(choices)}, not {shown(value)}.")


def of_type(value: object, kind: type[T], what: str) -> T:
    """Return a value that is of the type it should be.

    Raises:
        ValueError: it is of another.
    """
    if isinstance(value, kind):
        return value
    name = {"str": "text", "bool": "True or False"}.get(kind.__name__, f"a {kind.__name__}")
    raise ValueError(f"{what} is {name}, not {shown(value)}.")


def path(value: object) -> Path:
    """Return a path that can name something.

    Raises:
        ValueError: it is none, as when a text is given in its place.
    """
    try:
        name = os.fsencode(value)  # type: ignore[arg-type]
        if isinstance(value, str | os.PathLike) and len(name) <= 1000 and b"\0" not in name:
            return Path(value)
    except (TypeError, ValueError):  # a letter that no name of a file can have
        pass
    raise ValueError(f"A path names a file or a folder; {shown(value)} does not.")


def token_ids(value: object, n_symbols: int | None = None, dim: int | None = None) -> Tensor:
    """Return ids that a model with ``n_symbols`` symbols can read.

    Args:
        value: anything.
        n_symbols: ids are below it; None if they may be of any vocabulary.
        dim: 1 for one line ``(length,)``, 2 for windows ``(n, length)``; None for any shape.

    Raises:
        ValueError: it is no tensor of int64 of such a shape, or an id has no symbol.
    """
    import torch

    shape = {None: "any shape", 1: "shape (length,)", 2: "shape (n, length)"}[dim]
    if not (
        isinstance(value, torch.Tensor)
        and value.dtype == torch.int64
        and dim in (None, value.dim())
        and (value.numel() or dim is None)
    ):
        raise ValueError(
            f"Ids are a tensor of int64 and {shape}, as VOCABULARY.encode(text) makes them, not "
            f"{shown(value)}."
        )
    if value.numel():
        low, high = (int(end) for end in value.aminmax())
        if low < 0 or (n_symbols is not None and high >= n_symbols):
            most = "" if n_symbols is None else f" to {n_symbols - 1}"
            raise ValueError(f"Ids run from 0{most}; {low if low < 0 else high} is none.")
    return value


def model(value: T, n_symbols: int = 0) -> T:
    """Return what can be asked as a model can, about so many symbols.

    Raises:
        ValueError: it has no ``logits_at``, or knows fewer symbols.
    """
    if isinstance(value, type) or not callable(getattr(value, "logits_at", None)):
        raise ValueError(f"A model is a MaskedLM, as load_model(path) returns, not {shown(value)}.")
    known = getattr(getattr(value, "config", None), "vocab_size", n_symbols)
    if known < n_symbols:
        raise ValueError(
            f"The model knows {known} symbols and is asked about {n_symbols}; give a model of the "
            "same vocabulary."
        )
    return value


def models(value: Mapping[str, T], n_symbols: int = 0) -> Mapping[str, T]:
    """Return models by name, at least one.

    Raises:
        ValueError: it is no such mapping, or one of them is no such model.
    """
    if not isinstance(value, Mapping) or not value or not all(isinstance(n, str) for n in value):
        raise ValueError(
            f'Models are given by name, at least one, like {{"mine": model}}, not {shown(value)}.'
        )
    for one in value.values():
        model(one, n_symbols)
    return value


def _is_bool(value: object) -> bool:
    """Tell True and False of Python, NumPy and torch, which would pass for 1 and 0."""
    return "bool" in str(getattr(value, "dtype", type(value).__name__))
