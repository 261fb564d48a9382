"""Exercises: a reference solution, and mistakes that are recognised because they are solutions too.

An :class:`Exercise` runs the learner's function, the solution and every known mistake on the same
inputs, the probes, and compares. A mistake is a *wrong solution* under the sentence that names its
symptom, so a check never parses an answer and never guesses: it says what gives the same results.
Some probes are drawn at random for every check, so that no answer can be written down beforehand.

What holds for every exercise is said here, once: nothing returned, a result instead of a function,
text instead of a number, rounded, transposed, arguments changed, parameters never used.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import dis
import inspect
import io
import math
import numbers as abstract
import random
import re
import reprlib
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

Function = Callable[..., Any]
Probe = tuple[Any, ...]
"""The arguments of one call."""
Reader = Callable[[Any], Any]
"""Turns a result into what is compared, or raises :class:`Symptom` if it is of the wrong kind."""


class Symptom(Exception):  # noqa: N818 - what is seen in an answer, rather than an error of ours
    """What is seen in an answer that is not right yet: one sentence, and what to do."""


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer; in a notebook it shows as its message."""

    solved: bool
    message: str

    def __repr__(self) -> str:
        return self.message


def correct(message: str) -> Verdict:
    """Say that an answer is right, and what that shows."""
    return Verdict(solved=True, message=f"Correct. {message}")


def not_yet(message: str) -> Verdict:
    """Say that an answer is missing or wrong, and what was seen."""
    return Verdict(solved=False, message=f"Not yet. {message}")


# ── What is asked for: readers ───────────────────────────────────────────────────────────────────


def _kind(value: Any) -> str:
    """Name what something is, in words: ``a list of 3``, ``a tensor of shape (2, 4)``."""
    if isinstance(value, Tensor | np.ndarray):
        name = "tensor" if isinstance(value, Tensor) else "NumPy array"
        return f"a {name} of shape {tuple(value.shape)}"
    if isinstance(value, list | tuple | dict | set):
        return f"a {type(value).__name__} of {len(value)}"
    kinds = {
        bool: "True or False",
        str: "a text",
        types.GeneratorType: "a generator",
        type(None): "None",
    }
    if type(value) in kinds:
        return kinds[type(value)]
    if isinstance(value, abstract.Number):
        return "a number"
    return "a function" if callable(value) else f"an object of type {type(value).__name__}"


def _wrong_kind(value: Any, wanted: str) -> Symptom:
    """Say of what kind a result is, what is asked for, and how one becomes the other."""
    advice = ""
    if isinstance(value, str):
        advice = " Leave out the quotes, f-strings, str(), decode() and signs such as %."
    elif isinstance(value, types.GeneratorType):
        advice = " It has computed nothing yet: use sum(…) or list(…), and `return`, not `yield`."
    elif callable(value):
        advice = " Are the brackets () of a call missing?"
    elif isinstance(value, tuple) and "numbers" not in wanted.split(" ")[:2]:
        advice = " A comma in `return` makes a tuple: hand over one thing alone."
    elif wanted == "one number" and isinstance(value, list | Tensor | np.ndarray):
        advice = " Is its sum, its mean or its length missing, or one entry to be picked?"
    return Symptom(f"Your answer is {_kind(value)}; what is asked for is {wanted}.{advice}")


def _item(value: Any) -> Any:
    """Unwrap a tensor, an array or a NumPy number that holds a single value."""
    if isinstance(value, Tensor):
        value = value.detach()
    if isinstance(value, Tensor | np.ndarray | np.generic) and math.prod(value.shape) == 1:
        return value.item()
    return value


def number(value: Any) -> float:
    """Read one number: Python's, NumPy's, or a tensor with a single entry."""
    item = _item(value)
    if isinstance(item, bool) or not isinstance(item, abstract.Real):
        raise _wrong_kind(value, "one number")
    return float(item)


def number_with_gradient(value: Any) -> float:
    """Read one number from a tensor through which gradients flow back."""
    result = number(value)
    if not isinstance(value, Tensor):
        raise Symptom(
            "It is no longer a tensor, so nothing can be learned from it: leave out .item(), "
            "float() and NumPy."
        )
    if not value.requires_grad:
        raise Symptom(
            "No gradient flows back through your tensor: leave out detach(), .data, .item(), "
            "no_grad() and torch.tensor(…) around the result."
        )
    return result


def numbers(*names: str) -> Reader:
    """Make a reader of several numbers in a given order, for instance ``nats, bits``."""

    def read(value: Any) -> tuple[float, ...]:
        wanted = f"{len(names)} numbers, {', '.join(names)}, with commas between them"
        if isinstance(value, Tensor | np.ndarray) and value.ndim == 1:
            value = list(value)
        if not isinstance(value, list | tuple) or len(value) != len(names):
            raise _wrong_kind(value, wanted)
        return tuple(_part(name, entry) for name, entry in zip(names, value, strict=True))

    return read


def _part(name: str, value: Any) -> float:
    try:
        return number(value)
    except Symptom:
        raise Symptom(f"Your {name} is {_kind(value)}; it must be one number.") from None


def names(value: Any) -> list[str]:
    """Read a collection of names, in any order."""
    if not isinstance(value, list | tuple | set | frozenset | dict | np.ndarray):
        raise _wrong_kind(value, "a list of names")
    for entry in value:
        if not isinstance(entry, str):
            raise Symptom(
                f"Your list holds {_show(entry)}, which is {_kind(entry)}; put names into it."
            )
    return sorted(map(str, value))


def tensor(dtype: torch.dtype) -> Reader:
    """Make a reader of tensors that are boolean, of whole numbers (ids) or floating point."""
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
            raise _wrong_kind(value, f"a tensor of {words}{wrap}")
        if family(value.dtype) != family(dtype):
            mask = "a mask says where; torch.where(mask, a, b) or a[mask] takes what is there"
            raise Symptom(
                f"Your tensor is of dtype {value.dtype}; it must hold {words} ({dtype}): "
                f"{mask if value.dtype == torch.bool else how}."
            )
        return value

    return read


def anything(value: Any) -> Any:
    """Read a result as it is."""
    return value


# ── Comparing ────────────────────────────────────────────────────────────────────────────────────


def _plain(value: Any) -> Any:
    """Turn tensors and NumPy values into arrays of doubles and Python numbers."""
    value = _item(value) if getattr(value, "ndim", None) == 0 else value
    if isinstance(value, Tensor):
        value = value.detach().double().numpy() if value.is_floating_point() else value.numpy()
    if isinstance(value, list | tuple):
        return (tuple if isinstance(value, tuple) else list)(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value


def _is_number(value: Any) -> bool:
    real = isinstance(value, abstract.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)


def _same(a: Any, b: Any) -> bool:
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
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    incomparable = getattr(type(a), "__eq__", None) is getattr(object, "__eq__", None)  # a model
    return type(a) is type(b) and (incomparable or bool(a == b))


def _nearly(a: Any, b: Any) -> bool:
    """Whether numbers differ by so little that a rounded constant may be why."""
    try:
        if isinstance(b, np.ndarray):
            return False
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        return bool(np.allclose(a, b, rtol=1e-2) and (b % 1).any())  # a count is not rounded
    except (TypeError, ValueError):
        return False


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
            return type(self.error) is type(other.error) and str(self.error) == str(other.error)
        return _same(self.value, other.value)


def call(function: Function, probe: Probe) -> Outcome:
    """Call a function with copies of the arguments, and keep everything it leaves behind."""
    given, printed = copy.deepcopy(probe), io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            value = function(*given)
    except (Exception, SystemExit) as error:
        return Outcome(error=error, printed=printed.getvalue())
    return Outcome(value, printed=printed.getvalue(), given=given)


def ask(function: Function, *arguments: Any) -> Any:
    """Call a learner's function on the arguments themselves, for a ``judge`` that looks closer.

    Raises:
        Symptom: it raised, or returned nothing.
    """
    printed = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            value = function(*arguments)
    except (Exception, SystemExit) as error:
        raise Symptom(f"Your function raised {_raised(error)}") from None
    _refuse_nothing(Outcome(value, printed=printed.getvalue()))
    return value


# ── What is said of any answer ───────────────────────────────────────────────────────────────────

REPLACE = "Replace the ... by your answer and run the cell again."


def _unfilled(value: Any) -> bool:
    entries = value.values() if isinstance(value, dict) else value
    inside = isinstance(value, list | tuple | dict) and any(entry is ... for entry in entries)
    return value is ... or inside


def _refuse_nothing(outcome: Outcome) -> None:
    """Say why a function that returned nothing did so."""
    if _unfilled(outcome.value) or "ellipsis" in str(outcome.error):
        raise Symptom(REPLACE)
    if outcome.value is None and outcome.error is None:
        if outcome.printed.strip():
            raise Symptom(
                f"Your function prints {_show(outcome.printed.strip())} and returns nothing: "
                "`print` only shows a result, `return` hands it over."
            )
        raise Symptom("Your function returns nothing: is a `return` missing?")


ERRORS: Sequence[tuple[type[BaseException], str, str]] = (
    (SystemExit, "", "Leave out exit() and quit(); `return` ends a function."),
    (RecursionError, "", "Your function calls itself without end."),
    (
        UnboundLocalError,
        "",
        "A name that is assigned anywhere in a function is its own variable in all of it, so it "
        "hides the function or variable of that name outside: give your variable another name, "
        "or assign it before it is used.",
    ),
    (
        NameError,
        "",
        "Nothing of that name is known: is it spelled right, or does it lack its module?",
    ),
    (
        KeyError,
        "",
        "The dictionary has no such key: does the key belong to this very entry, or to another "
        "position, or do quotes stand around the name of a variable?",
    ),
    (
        Exception,
        "-100|Expected index",
        "A label of -100 says that nothing is asked there, and it was used as an index. Select the "
        "positions with labels != -100 first.",
    ),
    (
        IndexError,
        "shape mismatch|broadcast|too many indices|did not match|does not match",
        "What stands in the square brackets does not fit the shape before them: print both shapes.",
    ),
    (
        IndexError,
        "^axis",
        "The second argument of NumPy's min, max and sum is an axis; the smaller of two numbers is "
        "Python's min(a, b), that of two arrays np.minimum(a, b).",
    ),
    (
        IndexError,
        "out of range in self",
        "The model was given ids that it does not know: it reads the inputs, and the labels, with "
        "their -100, belong to the loss.",
    ),
    (
        IndexError,
        "",
        "An index is beyond the end: are two things of different length or meaning indexed alike?",
    ),
    (
        Exception,
        "ambiguous",
        "An `if` (or and, or, not) needs one True or False, and a tensor holds many: use "
        "torch.where(condition, a, b), a mask in square brackets, or & | ~.",
    ),
    (
        ValueError,
        "math domain error|expected a positive input",
        "There is no logarithm of 0 or of a negative number: is it taken of the right number, or "
        "has a product of many probabilities become 0?",
    ),
    (
        Exception,
        "range error|too large",
        "A number became too large: is exp taken of the right number?",
    ),
    (
        RuntimeError,
        "with a bool tensor|on a bool tensor",
        "A boolean tensor is turned round with ~, not with - or 1 -.",
    ),
    (ZeroDivisionError, "", "What you divide by is 0 for this input."),
    (
        TypeError,
        "'Tensor' object is not callable",
        "A tensor is no function: look up with square brackets, multiply with *, and hand "
        "optimizer.step() nothing.",
    ),
    (
        TypeError,
        "'(SGD|Adam.*)' object is not callable",
        "The optimizer is not called itself; its methods are, optimizer.step().",
    ),
    (
        TypeError,
        "not callable",
        "Round brackets call a function; use square ones to look up, and * to multiply.",
    ),
    (TypeError, r"for \^", "A power is written with **; ^ is something else."),
    (
        TypeError,
        "indices must be integers.*tuple",
        "A comma in the brackets, table[i, c], is for arrays and tensors; lists and dictionaries "
        "take one after the other, table[i][c].",
    ),
    (
        TypeError,
        "indices must be integers",
        "A list is indexed by a position and a dictionary by a key: which comes first?",
    ),
    (
        Exception,
        r"'(builtin_function_or_method|method|function)'",
        "A function stands where its result should: are the brackets () of a call missing?",
    ),
    (
        TypeError,
        "not subscriptable|not iterable",
        "That is a single value, with no entries to take: look at what you have there.",
    ),
    (
        TypeError,
        "interpreted as an integer",
        "range(…) wants a number; to go through a list, write `for i in` and the list itself.",
    ),
    (Exception, "'NoneType'", "Something before it returned None, as list.append and .sort do."),
    (
        TypeError,
        "not supported between",
        "Two different kinds of things are compared. Going through a dictionary gives its keys; "
        ".values() gives the values, .items() pairs.",
    ),
    (
        ValueError,
        "to unpack",
        "More or fewer things come than there are names for them. Going through a dictionary gives "
        "its keys alone; .items() gives pairs.",
    ),
    (
        TypeError,
        r"where.* got \(bool",
        "The condition is one True or False for all: compare the tensor itself, by == or !=, with "
        "a number.",
    ),
    (
        TypeError,
        "positional argument|keyword argument|combination of arguments",
        "Compare the arguments of the call with those that the function expects, in this order.",
    ),
    (
        TypeError,
        "must be real number|unsupported operand|bad operand|must be Tensor|can only concat",
        "Two kinds of things are mixed up: math.log wants one number, torch.log a tensor, and "
        "numbers cannot be added to text, lists or dictionaries.",
    ),
    (
        RuntimeError,
        "in-place|in place",
        "Your function writes into what it was given; work on a copy, .clone().",
    ),
    (
        RuntimeError,
        "numpy\\(\\)",
        "No gradient flows back through NumPy; stay with torch.",
    ),
    (
        RuntimeError,
        "require grad",
        "The way back is cut: leave out detach(), .item() and torch.tensor(…) before backward().",
    ),
    (
        RuntimeError,
        "indexing result",
        "What is written must have as many entries as the places that it goes to: put the same "
        "condition into the square brackets on both sides.",
    ),
    (
        RuntimeError,
        "scalar outputs",
        "backward() starts from one number: mlm_loss averages the costs to one.",
    ),
    (
        RuntimeError,
        "second time",
        "The way back is used up by the first backward(): call it once per loss.",
    ),
    (
        ValueError,
        "^Logits (of shape|are)",
        "mlm_loss takes the logits first and the labels second, and both speak of the same "
        "positions.",
    ),
    (
        ValueError,
        "input_ids need the shape",
        "The model reads a batch of lines at once; give it all of them.",
    ),
    (
        RuntimeError,
        "Expected target size",
        "F.cross_entropy takes one row of logits per label: flatten both, logits.flatten(0, 1) and "
        "labels.flatten(), or use mlm_loss.",
    ),
    (
        RuntimeError,
        "size|shape|dimension|broadcast",
        "The shapes do not fit: print those of both sides. Take sizes from the arguments, not "
        "from the notebook, and mind * (entry by entry) and @ (matrix product).",
    ),
    (
        RuntimeError,
        "type|Float|Long|bool",
        "The dtypes do not fit: ids are whole numbers (long), a mask is boolean, the rest is "
        "floating point.",
    ),
    (AttributeError, "'Tensor' .* 'copy'", "A tensor is copied by .clone()."),
    (
        AttributeError,
        "'backward'",
        "backward() belongs to the loss, a tensor; .item() and float() make a number of it, so "
        "call them afterwards.",
    ),
    (AttributeError, "attribute '(step|zero_grad)'", "step() belongs to the optimizer."),
    (
        Exception,
        "MaskedBatch",
        "mask_tokens returns two tensors: take them apart, inputs, labels = mask_tokens(…).",
    ),
    (AttributeError, "", "What has no such attribute may be of another kind than you think."),
)
"""What to do about what an answer raised: the first row of its type whose pattern is found."""


def _raised(error: BaseException) -> str:
    """Name an error and give the direction out of it, in one or two sentences."""
    text = re.sub(r"\s+", " ", str(error))[:160].rstrip(".")
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    missing = getattr(error, "name", None)
    if type(error) is NameError and missing:
        for module, shown in ((math, "math"), (torch, "torch"), (builtins, "builtins")):
            if hasattr(module, missing):
                return f"{said}. Write {shown}.{missing}."
    for kind, pattern, direction in ERRORS:
        if isinstance(error, kind) and re.search(pattern, text):
            return f"{said.rstrip('.')}. {direction}"
    return f"{said.rstrip('.')}. Try it in a cell of its own."


TWISTS: Mapping[str, Function] = {
    **{
        f"Your result is rounded (to {digits} digit{'s' * (digits != 1)}); return it in full, and "
        "round only where it is shown.": lambda right, digits=digits: np.round(right, digits)
        for digits in range(6)
    },
    **{
        f"Your result is in per cent and rounded (to {digits} digit{'s' * (digits != 1)}); return "
        "the share itself, in full.": lambda right, digits=digits: np.round(right * 100, digits)
        for digits in range(3)
    },
    "Your result is cut off to a whole number; // and int() do that, / does not.": np.trunc,
    "Your result is the right one with the other sign: is a minus missing, or one too many?": (
        lambda right: -right
    ),
    "Your result is the right one in bits (log to the base 2) and not in nats: use the natural "
    "logarithm.": lambda right: right / math.log(2),
    "Your result is the right one in nats and not in bits: use log to the base 2.": (
        lambda right: right * math.log(2)
    ),
    "Your result is right for logarithms to the base 10; they must be natural here (math.log).": (
        lambda right: right / math.log(10)
    ),
    "Your result is in per cent; return the share itself, without the factor 100.": (
        lambda right: right * 100
    ),
    "Your result is a hundredth of the right one: there are no per cent here to convert.": (
        lambda right: right / 100
    ),
    "Your result is twice the right one: is something counted twice?": lambda right: 2 * right,
    "Your result is half of the right one.": lambda right: right / 2,
    "Your result is 1 minus the right one: take the other share.": lambda right: 1 - right,
    "Your result is 1 divided by the right one: the fraction is upside down.": (
        lambda right: 1 / right
    ),
    "Your result is one more than the right one.": lambda right: right + 1,
    "Your result is one less than the right one.": lambda right: right - 1,
    "Your result is e to the power of the right one: leave out exp.": np.exp,
    "Your result is e to the power of minus the right one: that is the probability, not its "
    "cost.": lambda right: np.exp(-right),
    "Your result is the logarithm of the right one: one logarithm too many.": np.log,
    "Your result is the square of the right one.": np.square,
    "Your result is the square root of the right one.": np.sqrt,
}
"""What may become of any right number or array, and what that looks like."""

RESHAPED: Mapping[str, Function] = {
    "Your tensor is transposed: rows and columns are exchanged.": lambda right: right.T,
    "Your tensor is inverted: it is True where it should be False.": (
        lambda right: np.where(np.isin(right, (0, 1)), 1 - right, np.nan)
    ),
    "Your tensor is flattened: keep the rows apart.": np.ravel,
    "Your tensor has one dimension too many in front: leave out unsqueeze(0) or [None], or take "
    "the [0] of it.": lambda right: right[None],
    "Your tensor has one dimension too many at the end.": lambda right: right[..., None],
    "Your tensor is turned round: its entries stand in the opposite order.": (
        lambda right: right[::-1]
    ),
    "Your tensor is shifted by one to the right.": lambda right: np.roll(right, 1, -1),
    "Your tensor is shifted by one to the left.": lambda right: np.roll(right, -1, -1),
}
"""What may become of any right tensor as a whole."""

PLAIN = "rounded|cut off|other sign|per cent;|tensor"
"""Twists that nothing else looks like, so that one is believed beside a mistake as well."""


def _twisted(twist: Function, value: Any) -> Any:
    """Apply a twist to a plain value, to each of several numbers; None where it has no meaning."""
    if isinstance(value, tuple):
        parts = tuple(_twisted(twist, part) for part in value)
        return None if any(part is None for part in parts) else parts
    if isinstance(value, bool) or not isinstance(value, abstract.Real | np.ndarray):
        return None
    try:
        with np.errstate(all="ignore"):
            return _plain(twist(np.asarray(value) * 1.0))
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None


def _codes(function: Any) -> Iterator[types.CodeType]:
    """Walk through the code of a function and of what is defined inside it."""
    waiting = [code] if (code := getattr(function, "__code__", None)) else []
    while waiting:
        yield (code := waiting.pop())
        waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]


def neglected(function: Any) -> list[str]:
    """Find the parameters that a function never reads, or overwrites before it does."""
    code = next(_codes(function), None)
    if code is None:
        return []
    first: dict[str, str] = {}
    for inner in _codes(function):
        for step in dis.get_instructions(inner):
            if not re.search("FAST|DEREF|CLOSURE", step.opname):
                continue
            touched = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            verbs = [word for word in step.opname.split("_") if word in ("LOAD", "STORE")]
            for verb, name in zip(verbs, touched, strict=False):
                first.setdefault(str(name), verb)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in parameters if first.get(name) != "LOAD"]


def _borrowed(function: Any) -> list[str]:
    """Find the variables of the notebook that a function reads, apart from functions and such."""
    world = getattr(function, "__globals__", {})
    found = dict.fromkeys(name for code in _codes(function) for name in code.co_names)
    return [
        name
        for name in found
        if name in world and not hasattr(world[name], "__name__")  # of functions, classes, modules
        if len(name) == 1 or not name.isupper()  # constants
    ]


def _apart(a: Any, b: Any) -> tuple[str, str]:
    """Show the first entry in which two arrays of the same shape differ."""
    try:
        at = tuple(np.argwhere(~np.isclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))[0].tolist())
        return f"{_show(a[at])} at {list(at)}", _show(b[at])
    except (IndexError, TypeError):
        return _show(a), _show(b)


_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother = 50, 60


def _show(value: Any) -> str:
    """Show an argument or a result in little space."""
    value = _plain(value)
    if isinstance(value, np.ndarray):
        if value.size > 12:
            return f"a tensor of shape {value.shape}"
        value = value.tolist()

    def shortened(part: Any) -> Any:
        if isinstance(part, float) and math.isfinite(part):
            return int(part) if part.is_integer() else float(f"{part:.4g}")
        if isinstance(part, list | tuple):
            return type(part)(map(shortened, part))
        return part

    return _SHORT.repr(shortened(value))


# ── Recognising mistakes ─────────────────────────────────────────────────────────────────────────

Outcomes = Sequence[Outcome]


@dataclass(frozen=True)
class View:
    """What an answer, the solution and every known mistake gave on the same probes."""

    seen: Outcomes
    right: Outcomes
    known: Mapping[str, Outcomes]
    direction: str = ""
    part: str = ""
    """Which of several numbers this is about, as the beginning of a sentence."""

    def entry(self, i: int) -> View:
        """Look at one of several numbers alone."""

        def of(outcomes: Outcomes) -> Outcomes:
            return [
                Outcome(seen.value[i], seen.error)
                if isinstance(seen.value, tuple) and i < len(seen.value)
                else seen
                for seen in outcomes
            ]

        known = {symptom: of(outcomes) for symptom, outcomes in self.known.items()}
        part = f"Number {i + 1} of yours: "
        return View(of(self.seen), of(self.right), known, self.direction, part)

    def tell_known(self) -> None:
        """Tell the mistake that gives the same results on every probe."""
        if self.seen != self.right:
            for symptom, outcomes in self.known.items():
                if outcomes == self.seen:
                    raise Symptom(symptom)

    def tell_twisted(self) -> None:
        """Tell what became of the right result on its way, or of that of a known mistake."""
        seen, right = self.seen, self.right
        if seen == right or any(outcome.error for outcome in seen):
            return
        whole = any(isinstance(outcome.value, np.ndarray) for outcome in right)
        twists = {**(RESHAPED if whole else {}), **TWISTS}
        for symptom, outcomes in {"": right, **self.known}.items():
            for twist, function in twists.items():
                if symptom and not re.search(PLAIN, twist):
                    continue
                twisted = [Outcome(_twisted(function, outcome.value)) for outcome in outcomes]
                if twisted == seen:
                    raise Symptom(self.part + (f"{twist} And: {symptom}" if symptom else twist))

    def tell_constant(self) -> None:
        """Tell that the result is the same for every input, though the right one is not."""
        first = self.seen[0]
        constant = len(self.seen) > 2 and all(seen == first for seen in self.seen)
        if constant and self.seen != self.right and _is_number(first.value):
            raise Symptom(
                f"{self.part}You return {_show(first.value)} whatever the input: is it written "
                "down, or cut off by // or int(), or does a condition always go the same way? "
                f"{self.direction}".rstrip()
            )

    def tell_likeliest(self) -> None:
        """Tell the mistake that explains all of the wrong results, or all but one."""
        wrong = [i for i, seen in enumerate(self.seen) if seen != self.right[i]]

        def explained(symptom: str) -> int:
            hits = [self.seen[i] for i in wrong if self.seen[i] == self.known[symptom][i]]
            # Errors (shapes that do not fit) and hits that are all alike, say 0, may be accidents.
            hits = [hit for hit in hits if hit.error is None]
            return len(hits) if any(hit != hits[0] for hit in hits) else 0

        best = max(self.known, key=explained, default="")
        if best and explained(best) >= max(2, len(wrong) - 1):
            raise Symptom(f"For some inputs: {best}")
        for twist, function in TWISTS.items():
            twisted = [Outcome(_twisted(function, self.right[i].value)) for i in wrong]
            single = all(_is_number(outcome.value) for outcome in twisted)
            if (
                single
                and "than the right" not in twist
                and len(wrong) > 1
                and twisted == [self.seen[i] for i in wrong]
            ):
                raise Symptom(f"{self.part}For some inputs: {twist}")


# ── The exercise ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Exercise:
    """An exercise that marks an answer when it is called with one.

    Attributes:
        solution: The reference: a function with the names that the notebook uses, or a value.
        wants: Reads a result, and says so if it is of the wrong kind.
        solved: What is said of a right answer, after "Correct."
        mistakes: Wrong solutions under the sentence that names their symptom. Of two that fit, the
            first is told.
        probes: Makes the arguments of every call; what is drawn from the generator is new every
            time. Not needed for a value, nor if ``judge`` does all the looking.
        direction: What the formula is, for an answer that nothing else fits.
        limits: Right in principle, but not for these arguments: said beside "Correct."
        without: Names that the exercise asks not to use, and what to say to who does.
        judge: Looks closer at an answer that is right so far; raises :class:`Symptom`, or returns
            what is to be said of a right one besides.
    """

    solution: Any
    wants: Reader
    solved: str
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    probes: Callable[[random.Random], Sequence[Probe]] | None = None
    direction: str = ""
    limits: Mapping[str, Probe] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    judge: Callable[[Any], str | None] | None = None

    def __call__(self, answer: Any) -> Verdict:
        """Mark an answer: the function itself, or the value that is asked for."""
        try:
            self._look_at(answer)
            if callable(self.solution) and self.probes:
                self._compare(answer, self.probes(random.Random()))  # noqa: S311 - no secret
            elif not callable(self.solution) and not self.judge:
                self._compare(lambda: answer, [()])
            seen = self.judge(answer) if self.judge else None
        except Symptom as symptom:
            return not_yet(str(symptom))
        beyond = [
            remark
            for remark, probe in self.limits.items()
            if self._read(call(answer, probe)) != self._read(call(self.solution, probe))
        ]
        return correct(" ".join(filter(None, [seen, self.solved, *beyond])))

    def _look_at(self, answer: Any) -> None:
        """Refuse what can be seen without running anything."""
        if answer is None or _unfilled(answer):
            raise Symptom(REPLACE)
        if not callable(self.solution):
            if callable(answer):
                self.wants(answer)
                raise Symptom("You hand in a function; hand in the value that is asked for.")
            return
        name = self.solution.__name__
        if not callable(answer):
            raise Symptom(
                f"You hand in {_kind(answer)} ({_show(answer)}), perhaps what your function "
                f"returned; hand in the function itself, without calling it: check_{name}({name})."
            )
        parameters = list(inspect.signature(self.solution).parameters)
        try:
            inspect.signature(answer).bind(*parameters)
        except TypeError:
            own = list(inspect.signature(answer).parameters)
            raise Symptom(
                f"Your function takes {len(own)} parameters ({', '.join(own)}) and is called with "
                f"{len(parameters)}: {name}({', '.join(parameters)})."
            ) from None
        except ValueError:  # a built-in function that does not say what it takes
            pass
        used = {name for code in _codes(answer) for name in code.co_names}
        for forbidden, sentence in self.without.items():
            if forbidden in used:
                raise Symptom(sentence)

    def _read(self, outcome: Outcome) -> Outcome:
        """Make an outcome comparable: as what is asked for if it is that, else as it is."""
        value = outcome.value
        with contextlib.suppress(Symptom):
            value = self.wants(value)
        return Outcome(_plain(value), outcome.error)

    def _outcomes(self, answer: Any, probes: Sequence[Probe]) -> list[Outcome]:
        function = answer if callable(answer) else lambda: answer
        return [self._read(call(function, probe)) for probe in probes]

    def _known(self, probes: Sequence[Probe]) -> dict[str, Outcomes]:
        return {text: self._outcomes(wrong, probes) for text, wrong in self.mistakes.items()}

    def _compare(self, function: Function, probes: Sequence[Probe]) -> None:
        """Compare an answer with the solution, and if it differs say what it looks like."""
        raw = [call(function, probe) for probe in probes]
        right = self._outcomes(self.solution, probes)
        seen = [self._read(outcome) for outcome in raw]
        if all(outcome.value is None or _unfilled(outcome.value) for outcome in raw):
            _refuse_nothing(raw[0])
        print(raw[0].printed, end="")  # somebody who prints to find an error wants to see it
        if seen == right:
            self._right_but(raw, probes)
            return
        self._exchanged(function)
        views = [View(seen, right, self._known(probes), self.direction)]
        several = right[0].value
        if isinstance(several, tuple) and all(
            isinstance(outcome.value, tuple) and len(outcome.value) == len(several)
            for outcome in seen
        ):
            views += [views[0].entry(i) for i in range(len(several))]
        told = self._first_difference(raw, seen, right, probes)
        borrowed = _borrowed(function)
        if borrowed:  # instead of a parameter
            self._own_parameters(function, told, any)
        for view in views:
            view.tell_known()
        self._returned(raw, probes)
        self._own_parameters(function, told, all)
        for view in views:
            view.tell_constant()
            view.tell_twisted()
        self._own_parameters(function, told, any)
        for outcome in raw:
            if outcome.error is None and outcome.value is not None:
                self.wants(outcome.value)
        for view in views:
            view.tell_likeliest()
        again = self._read(call(function, probes[0]))
        if again != seen[0]:
            raise Symptom(
                f"Your function answers the same input differently each time ({told}): there is "
                "chance in it, and what is asked for can be computed exactly."
            )
        beside = (
            f" It reads `{'`, `'.join(borrowed)}` of the notebook: does that belong to the input?"
        )
        raise Symptom(told + beside * bool(borrowed))

    def _exchanged(self, function: Function) -> None:
        """Refuse an answer whose parameters have the right names in another order."""
        asked, own = ([], [])
        with contextlib.suppress(TypeError, ValueError):  # a value, or a built-in function
            asked, own = (list(inspect.signature(f).parameters) for f in (self.solution, function))
        if own != asked and sorted(own) == sorted(asked):
            raise Symptom(
                f"Your parameters are ({', '.join(own)}), and they are handed over in another "
                f"order: {self.solution.__name__}({', '.join(asked)})."
            )

    def _returned(self, raw: Sequence[Outcome], probes: Sequence[Probe]) -> None:
        """Refuse an answer that returns nothing, or nothing for some inputs."""
        nothing = [i for i, seen in enumerate(raw) if seen.error is None and seen.value is None]
        failed = any(outcome.error for outcome in raw)
        if nothing and len(nothing) < len(raw) and callable(self.solution) and not failed:
            # A mistake may be why, such as a `return` inside a loop that may run 0 times.
            answered = [i for i in range(len(raw)) if i not in nothing]
            if len(answered) > 1:
                some = [probes[i] for i in answered]
                seen = [self._read(raw[i]) for i in answered]
                View(seen, self._outcomes(self.solution, some), self._known(some)).tell_known()
            raise Symptom(
                f"With {self._input(probes[nothing[0]])} your function returns nothing: one way "
                "through it ends without a `return`, or with None. Follow it with this input."
            )
        for outcome in raw if not failed else ():
            _refuse_nothing(outcome)

    def _right_but(self, raw: Sequence[Outcome], probes: Sequence[Probe]) -> None:
        """Refuse results that are right but of the wrong kind, or bought by changing arguments."""
        for outcome, probe in zip(raw, probes, strict=True):
            try:
                self.wants(outcome.value)
            except Symptom as symptom:
                raise Symptom(f"The value is right, its form is not yet. {symptom}") from None
            names = list(inspect.signature(self.solution).parameters) if probe else []
            for name, now, before in zip(names, outcome.given, probe, strict=True):
                if not _same(_plain(now), _plain(before)):
                    raise Symptom(
                        f"The result is right, but your function changes its argument `{name}`, "
                        "which others still need: work on a copy (.clone() of a tensor, .copy() of "
                        "a list or dict)."
                    )

    def _own_parameters(
        self, function: Function, told: str, few: Callable[[Iterable[bool]], bool]
    ) -> None:
        """Refuse an answer that never looks at its parameters, ``all`` or ``any`` of them."""
        if not callable(self.solution):
            return
        unread = neglected(function)
        if not unread or not few(name in unread for name in inspect.signature(function).parameters):
            return
        borrowed = _borrowed(function)
        instead = f"; it reads `{'`, `'.join(borrowed)}` of the notebook instead" * bool(borrowed)
        raise Symptom(
            f"Your function never uses what it is given as `{'` and `'.join(unread)}`{instead}. "
            f"It is called with other inputs than those you see. {told}"
        )

    def _input(self, probe: Probe) -> str:
        parameters = inspect.signature(self.solution).parameters
        return ", ".join(f"{n} = {_show(v)}" for n, v in zip(parameters, probe, strict=True))

    def _first_difference(
        self,
        raw: Sequence[Outcome],
        seen: Sequence[Outcome],
        right: Sequence[Outcome],
        probes: Sequence[Probe],
    ) -> str:
        """Say on which input the answer differs, and how."""
        wrong = [i for i, (a, b) in enumerate(zip(seen, right, strict=True)) if a != b]
        at = wrong[0]
        inputs = self._input(probes[at]) if probes[at] else ""
        others = f"Right for {len(raw) - len(wrong)} of {len(raw)} inputs, but w" if at else "W"
        if (error := raw[at].error) is not None:
            return f"Your function raised {_raised(error)} ({others}ith {inputs}.)"
        shapes = [getattr(outcome.value, "shape", ()) for outcome in (seen[at], right[at])]
        got, truth = (_show(outcome.value) for outcome in (seen[at], right[at]))
        if shapes[0] != shapes[1]:
            got, truth = (
                f"the shape {tuple(shape)}" if shape else _kind(outcome.value)
                for shape, outcome in zip(shapes, (raw[at], right[at]), strict=True)
            )
        elif got == truth:  # too large to be shown
            got, truth = _apart(seen[at].value, right[at].value)
        special = ""
        if all(_nearly(seen[i].value, right[i].value) for i in wrong):
            got, truth = (repr(outcome.value) for outcome in (seen[at], right[at]))
            special = (
                " That is close: is a constant in it rounded, such as 0.693 for math.log(2), or "
                "the result itself?"
            )
        elif re.search(r"\bnan\b", got):
            special = " NaN comes from a logarithm of a negative number, 0/0 or inf − inf."
        elif re.search(r"\binf\b", got):
            special = " Infinity comes from the logarithm of 0 or a division by 0."
        where = f"{others}ith {inputs} you return" if inputs else "You answer"
        return f"{where} {got} instead of {truth}.{special} {self.direction}".rstrip()
