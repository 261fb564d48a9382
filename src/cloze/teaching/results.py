"""Results of a function: what is asked for, what a call gave, and whether two are alike."""

from __future__ import annotations

import _thread
import copy
import inspect
import io
import math
import mmap
import numbers as abstract
import reprlib
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

Function = Callable[..., Any]

Probe = tuple[Any, ...]
"""The arguments of one call."""

Probes = Iterable[Probe]

Wants = Callable[[Any], Any]
"""Turns a result into what is compared, or raises :class:`Symptom` if it is of the wrong kind."""


class Symptom(Exception):  # noqa: N818 - of a wrong answer, rather than an error of ours
    """What is wrong with an answer: one sentence, and what to do."""


def kind_of(value: Any) -> str:
    """Name what something is, in words: ``a list of length 3``, ``a tensor of shape (2, 4)``."""
    if isinstance(value, Tensor | np.ndarray):
        name = "tensor" if isinstance(value, Tensor) else "NumPy array"
        return f"a {name} of shape {tuple(value.shape)}"
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of length {len(value)}"
    kinds = {
        bool: "True or False",
        complex: "a complex number",
        str: "a string",
        types.GeneratorType: "a generator",
        type(None): "None",
    }
    if type(value) in kinds:
        return kinds[type(value)]
    if isinstance(value, abstract.Real):
        return "a number"
    if callable(value) and not isinstance(value, torch.nn.Module):
        return "a function"
    return f"an object of type {type(value).__name__}"


def wrong_kind(value: Any, wanted: str) -> Symptom:
    """Say what kind a result is, what kind is wanted, and how to get from one to the other."""
    advice = ""
    if isinstance(value, str):
        advice = " Do you add up characters, or use quotes, an f-string, str() or decode()?"
    elif isinstance(value, complex):
        advice = " A power or a root of a negative number gives one."
    elif isinstance(value, Decimal):
        advice = " float(…) makes one of it."
    elif isinstance(value, Iterator):
        advice = " It has computed nothing yet: use sum(…) or list(…), and `return`, not `yield`."
    elif isinstance(value, dict):
        advice = " Pick one entry, take only the keys, or add up the values."
    elif callable(value):
        advice = " Are the brackets () of a call missing?"
    elif isinstance(value, tuple) and "numbers," not in wanted:
        advice = " A comma after `return` makes a tuple: return just one thing."
    elif wanted == "one number" and isinstance(value, list | Tensor | np.ndarray):
        advice = " Did you forget to take its sum, mean or length, or to pick one entry?"
    return Symptom(f"Your answer is {kind_of(value)}; the exercise asks for {wanted}.{advice}")


def unwrapped(value: Any) -> Any:
    """Unwrap a tensor, an array or a NumPy number that holds a single value."""
    if isinstance(value, Tensor):
        value = value.detach()
    if isinstance(value, Tensor | np.ndarray | np.generic) and math.prod(value.shape) == 1:
        return value.item()
    return value


def number(value: Any) -> float:
    """Read one number: Python's, NumPy's, or a tensor with a single entry."""
    item = unwrapped(value)
    if isinstance(item, bool) or not isinstance(item, abstract.Real):
        raise wrong_kind(value, "one number")
    return float(item)


def number_with_gradient(value: Any) -> float:
    """Read one number from a tensor through which gradients flow back."""
    result = number(value)
    if not isinstance(value, Tensor):
        raise Symptom(
            "Your result is no longer a tensor, so no gradient can flow back: leave out .item(), "
            "float() and NumPy."
        )
    if value.grad_fn is None:  # also a new tensor that asks for a gradient itself
        raise Symptom(
            "No gradient flows back through your tensor: leave out detach(), .data, .item(), "
            "no_grad() and torch.tensor(…) around the result."
        )
    return result


def numbers(*names: str) -> Wants:
    """Read several numbers in a given order, for instance ``nats, bits``."""

    def read(value: Any) -> tuple[float, ...]:
        wanted = f"{len(names)} numbers, {', '.join(names)}, with commas between them"
        if isinstance(value, Tensor | np.ndarray) and value.ndim == 1:
            value = list(value)
        if not isinstance(value, list | tuple) or len(value) != len(names):
            raise wrong_kind(value, wanted)
        return tuple(_part(name, entry) for name, entry in zip(names, value, strict=True))

    return read


def _part(name: str, value: Any) -> float:
    try:
        return number(value)
    except Symptom:
        raise Symptom(f"Your {name} is {kind_of(value)}; it must be one number.") from None


def positions(value: Any) -> list[int]:
    """Read a collection of positions, in any order."""
    if isinstance(value, Tensor | np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple | set | frozenset | range):
        raise wrong_kind(value, "a list of positions, which are whole numbers")
    entries = [unwrapped(entry) for entry in value]
    for entry in entries:
        if not is_number(entry) or entry != int(entry):
            raise Symptom(
                f"Your answer holds {in_short(entry)}, which is {kind_of(entry)}; it should hold "
                "positions, which are whole numbers."
            )
    if len(set(entries)) < len(entries):
        raise Symptom("A position is in your list twice. List each only once.")
    return sorted(map(int, entries))


def tensor(dtype: torch.dtype) -> Wants:
    """Read tensors that are boolean, of whole numbers (ids) or floating point."""
    words, how = {
        "bool": ("True and False", "a comparison such as a <= b gives them, or .bool()"),
        "long": ("ids, which are whole numbers", "leave out float(), / and *, or use .long()"),
        "float": ("floating-point numbers", "use .float()"),
    }["bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "long"]

    def family(of: torch.dtype) -> tuple[bool, bool]:
        return of == torch.bool, of.is_floating_point

    def read(value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            wrap = ": torch.tensor(…) makes one" if isinstance(value, list | np.ndarray) else ""
            if isinstance(value, list) and any(isinstance(part, Tensor) for part in value):
                wrap = ": torch.stack(…) makes one of several"
            raise wrong_kind(value, f"a tensor of {words}{wrap}")
        if family(value.dtype) != family(dtype):
            mask = "a mask only says where; torch.where(mask, a, b) or a[mask] takes values"
            raise Symptom(
                f"Your tensor is of dtype {value.dtype}; it must hold {words} ({dtype}): "
                f"{mask if value.dtype == torch.bool else how}."
            )
        return value

    return read


def anything(value: Any) -> Any:
    """Read a result as it is."""
    return value


def as_plain(value: Any) -> Any:
    """Turn tensors and NumPy values into arrays of doubles and Python numbers."""
    value = unwrapped(value) if getattr(value, "ndim", None) == 0 else value
    if isinstance(value, Tensor):
        value = value.detach().double().numpy() if value.is_floating_point() else value.numpy()
    if isinstance(value, list | tuple):
        return (tuple if isinstance(value, tuple) else list)(map(as_plain, value))
    if isinstance(value, dict):
        return {key: as_plain(entry) for key, entry in value.items()}
    return value


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and not True or False."""
    real = isinstance(value, abstract.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)


def alike(a: Any, b: Any) -> bool:
    """Compare two plain values; numbers within single precision."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        try:
            a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        except (TypeError, ValueError):
            return False
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, abstract.Real) and isinstance(b, abstract.Real):
        both_nan = math.isnan(a) and math.isnan(b)
        return both_nan or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    incomparable = getattr(type(a), "__eq__", None) is getattr(object, "__eq__", None)  # a model
    return type(a) is type(b) and (incomparable or bool(a == b))


def nearly_alike(a: Any, b: Any) -> bool:
    """Whether numbers differ by so little that a rounded constant may be why."""
    try:
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        return bool(np.allclose(a, b, rtol=1e-2) and (b % 1).any())  # a count is not rounded
    except (TypeError, ValueError):
        return False


class _Short(reprlib.Repr):
    """Writes what is long in little space, and numbers with some digits."""

    def __init__(self, digits: int) -> None:
        super().__init__()
        self.maxstring, self.maxother, self.digits = 50, 60, digits

    def repr_float(self, value: float, level: int) -> str:  # noqa: ARG002 - as reprlib calls it
        return f"{value:.0f}" if value.is_integer() else repr(float(f"{value:.{self.digits}g}"))


def in_short(value: Any, digits: int = 4) -> str:
    """Show an argument or a result in little space."""
    value = as_plain(value)
    if isinstance(value, torch.nn.Module):
        return kind_of(value)
    if isinstance(value, np.ndarray):
        if value.size > 12:
            return f"a tensor of shape {value.shape}"
        value = value.tolist()
    return _Short(digits).repr(value)


LONG_INPUT = 24
"""Words of the arguments that are shown in full."""

LONG_RESULT = 14
"""Words of a wrong and a right result that are shown in full."""


def parameters_of(function: Any) -> list[str]:
    """List the parameters of a function; none of what has no signature."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def named(function: Function, arguments: Probe) -> str:
    """Write arguments with the names of the parameters; long ones as what they are."""
    texts = list(map(in_short, arguments))
    if len(" ".join(texts).split()) > LONG_INPUT:
        pairs = zip(texts, arguments, strict=True)
        texts = [text if " " not in text else kind_of(argument) for text, argument in pairs]
    names = parameters_of(function)
    if len(names) != len(texts):
        return f"({', '.join(texts)})"
    return ", ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))


def entries_of(value: Any, at: Probe = ()) -> Iterator[tuple[Probe, Any]]:
    """Walk through what a result holds, with the place of each entry."""
    if isinstance(value, np.ndarray):
        yield from np.ndenumerate(value)
    elif isinstance(value, list | tuple | dict):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from entries_of(entry, (*at, key))
    else:
        yield at, value


def first_difference(a: Any, b: Any) -> tuple[str, str]:
    """Show two values; if they are long or look the same, the first entry that differs."""
    own, right = in_short(a), in_short(b)
    long = len(f"{own} {right}".split()) > LONG_RESULT or getattr(b, "ndim", 0) > 1
    if own != right and not long:
        return own, right
    given = dict(entries_of(a))
    for at, entry in entries_of(b):
        if at in given and not alike(given[at], entry):
            digits = 8 if in_short(given[at]) == in_short(entry) else 4
            place = f" at {[*at]}" if at else ""
            return f"{in_short(given[at], digits)}{place}", in_short(entry, digits)
    if own == right and isinstance(a, list | tuple):
        return f"{len(a)} entries (the last is {in_short(a[-1])})" if a else "no entry", f"{len(b)}"
    return own, right


def text_of(error: BaseException | None) -> str:
    """Return what an error says; a learner's own class may do anything when it is asked."""
    try:
        return str(error)
    except Exception:
        return ""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one call gave."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    given: Probe = ()
    """The arguments as they are after the call."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        if self.error is not None or other.error is not None:
            same_text = text_of(self.error) == text_of(other.error)
            return type(self.error) is type(other.error) and same_text
        return alike(self.value, other.value)


LONGEST = 10.0
"""Seconds of processor time after which a call is stopped."""

LARGEST = 2**30
"""Bytes of memory that a call may add before it is stopped."""


def _memory() -> int:
    """Return the bytes of memory in use; 0 where this is not Linux."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * mmap.PAGESIZE if pages.exists() else 0


def _watch(limit: float, done: threading.Event, reasons: list[str]) -> None:
    """Interrupt the main thread when it takes too long or too much memory."""
    start, most = time.process_time(), _memory() + LARGEST
    while not done.wait(min(0.1, limit)):
        if _memory() > most:
            reasons.append(
                "takes more than a gigabyte of memory, so it was stopped. Does a list grow without "
                "end, or is a tensor far too large?"
            )
        elif time.process_time() - start >= limit:
            reasons.append(
                f"is still computing after {limit:.0f} seconds, so it was stopped: it is slow, or "
                "a loop never ends. What makes the condition of a `while` false in the end, for "
                "this input as well?"
            )
        if reasons and not done.is_set():
            _thread.interrupt_main()
            done.wait(1)  # and then again, because a bare `except:` swallows it


def run(function: Function, arguments: Probe, limit: float | None = None) -> Outcome:
    """Call a function, and record what it returns, raises, prints and changes.

    Time is the processor's, so a busy machine changes no verdict; ``time.sleep`` takes none of it.
    Python is interrupted between two of its own steps: a single long call into C, such as the
    product of two huge matrices, is stopped only when it comes back.

    Args:
        function: an answer, a mistake or a solution.
        arguments: what it is called with.
        limit: how many seconds it may take, by default ``LONGEST``.

    Raises:
        Symptom: it takes longer, or more memory than ``LARGEST``, or something that watches it has
            seen enough.
    """
    value, raised, printed = None, None, io.StringIO()
    done, reasons = threading.Event(), list[str]()
    watching = threading.Thread(target=_watch, args=(limit or LONGEST, done, reasons), daemon=True)
    dtype, streams = torch.get_default_dtype(), (sys.stdout, sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watching.start()
        try:
            try:
                sys.stdout = sys.stderr = printed
                value = function(*arguments)
            finally:
                # First of all, and without a call, before which an interrupt may strike.
                sys.stdout, sys.stderr = streams
                done.set()
                watching.join()  # after it no interrupt comes
        except Symptom:
            raise
        except KeyboardInterrupt:
            if not reasons:
                raise
            raise Symptom(f"With {named(function, arguments)} your function {reasons[0]}") from None
        except (Exception, SystemExit) as error:
            raised = error
        finally:
            done.set()
            torch.set_default_dtype(dtype)
    return Outcome(value, raised, printed.getvalue(), arguments)


def call(function: Function, probe: Probe) -> Outcome:
    """Call a function with copies of the arguments."""
    return run(function, copy.deepcopy(probe))
