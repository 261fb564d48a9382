"""What is said of any answer: nothing returned, an error, a twist, a parameter never read."""

from __future__ import annotations

import builtins
import difflib
import dis
import math
import numbers as abstract
import re
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cloze.teaching.results import (
    Function,
    Outcome,
    Symptom,
    as_plain,
    in_short,
    run,
)

REPLACE = "Replace the ... by your answer and run the cell again."


def unfilled(value: Any) -> bool:
    """Whether a value is ``...``, or a collection that holds it."""
    entries = value.values() if isinstance(value, dict) else value
    inside = isinstance(value, list | tuple | dict) and any(entry is ... for entry in entries)
    return value is ... or inside


def refuse_nothing(outcome: Outcome) -> None:
    """Say why a function that returned nothing did so."""
    if unfilled(outcome.value) or "ellipsis" in str(outcome.error):
        raise Symptom(REPLACE)
    if outcome.value is None and outcome.error is None:
        if outcome.printed.strip():
            raise Symptom(
                f"Your function prints {in_short(outcome.printed.strip())} and returns nothing: "
                "`print` only shows a result, `return` hands it over."
            )
        raise Symptom("Your function returns nothing: is a `return` missing?")


def ask(function: Function, *arguments: Any) -> Any:
    """Call a learner's function on the arguments themselves, for a ``judge`` that looks closer.

    Raises:
        Symptom: it raised, or returned nothing.
    """
    outcome = run(function, arguments)
    if outcome.error is not None:
        raise Symptom(f"Your function raised {error_in_words(outcome.error)}")
    refuse_nothing(outcome)
    return outcome.value


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
        "Python knows nothing by that name. Is it spelled right? Does it need quotes, or a module "
        "before it, as in math.log?",
    ),
    (
        KeyError,
        "",
        "The dictionary has no such key: does the key belong to another entry, or did you put "
        "quotes around the name of a variable?",
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
        "The index in the square brackets does not fit the shape of the tensor: print both shapes.",
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
        "An index is beyond the end: is a length of the notebook written down, or are two things "
        "of different length or meaning indexed alike?",
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
    (TypeError, r"for \^", "Write a power with **. In Python, ^ means something else."),
    (
        TypeError,
        "indices must be integers.*tuple",
        "A comma in the brackets, table[i, c], is for arrays and tensors; lists and dictionaries "
        "take one after the other, table[i][c].",
    ),
    (
        TypeError,
        "slice indices|indices must be integers.*float",
        "Places and counts are whole numbers: // gives one, / does not, even where nothing is left "
        "over.",
    ),
    (
        TypeError,
        "indices must be integers.*list",
        "There is a whole list in the square brackets. Go through it with a loop, and look up one "
        "of its entries at a time.",
    ),
    (
        TypeError,
        "can't assign a str",
        "A tensor of ids holds numbers, so write the id, not the text.",
    ),
    (
        TypeError,
        "unhashable",
        "A list, a set or a dictionary may change, so it can be no key and no member of a set; a "
        "tuple or a frozenset can.",
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
        Exception,
        "unpack",
        "More or fewer things come than there are names for them: each that a function returns "
        "wants a name of its own; going through a dictionary gives its keys alone, .values() its "
        "values, and .items() pairs.",
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
        Exception,
        "only one element|converted to (a )?(Python )?[sS]calar",
        "The functions of math want one number, say the width Q.shape[-1]; for all the entries of "
        "a tensor take torch's, torch.exp or torch.log.",
    ),
    (
        AttributeError,
        "'(list|tuple|dict)' .* '(mean|sum|exp|log|log2|item|clone|shape)'",
        "What belongs to tensors is not in lists and dictionaries: len(…) counts, sum(…) adds up, "
        "and the mean is sum(…) / len(…).",
    ),
    (
        RuntimeError,
        "where expected condition",
        "torch.where takes the condition first: torch.where(condition, if true, if false).",
    ),
    (
        TypeError,
        "must be real number|unsupported operand|bad operand|must be Tensor|can only concat",
        "Two kinds of things are mixed up: math.log takes one number, torch.log takes a tensor, "
        "and numbers cannot be added to text, lists or dictionaries.",
    ),
    (
        RuntimeError,
        "changed size during iteration",
        "What a loop goes through must not shrink or grow meanwhile: put what you keep into a new "
        "list or dictionary.",
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
        "You assign more or fewer values than there are places for them: put the same condition in "
        "the square brackets on both sides of the =.",
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
        "^(logits|labels) (is|has)",
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


def meant(error: BaseException) -> str | None:
    """Find the name most like one that is unknown, among those that were within reach."""
    if not isinstance(error, NameError | AttributeError) or error.name is None:
        return None
    if isinstance(error, AttributeError):
        known = dir(error.obj)
    else:
        frames = traceback.walk_tb(error.__traceback__)
        known = [name for frame, _ in frames for name in (*frame.f_locals, *frame.f_globals)]
    public = [name for name in known if not name.startswith("_")]
    return next(iter(difflib.get_close_matches(error.name, public, 1, 0.7)), None)


def error_in_words(error: BaseException) -> str:
    """Name an error and give the direction out of it, in one or two sentences."""
    text = re.sub(r"\s+", " ", str(error))[:160].rstrip(".")
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    missing = getattr(error, "name", None)
    if type(error) is NameError and missing:
        for module, shown in ((math, "math"), (torch, "torch"), (builtins, "builtins")):
            if hasattr(module, missing):
                return f"{said}. Write {shown}.{missing}."
    near = f" Do you mean `{near}`?" if (near := meant(error)) else ""
    for kind, pattern, direction in ERRORS:
        if isinstance(error, kind) and re.search(pattern, text):
            return f"{said.rstrip('.')}. {direction}{near}"
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


def _inverted(right: Any) -> Any:
    """Exchange 0 and 1; any other number has no opposite."""
    if not np.isin(right, (0, 1)).all():
        raise ValueError("not a boolean tensor")
    return 1 - right


RESHAPED: Mapping[str, Function] = {
    "Your tensor is transposed: rows and columns are exchanged.": lambda right: right.T,
    "Your tensor is inverted: it is True where it should be False.": _inverted,
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


Relation = Callable[[float, float], float]


def _more(n: int) -> Relation:
    return lambda right, size: right + n * size


RELATIONS: Mapping[str, Relation] = {
    "Your result is the right one times {0}.": lambda right, size: right * size,
    "Your result is the right one divided by {0}.": lambda right, size: right / (size or math.nan),
    "Your result is the right one plus {0}: too many.": _more(1),
    "Your result is the right one minus {0}: missing.": _more(-1),
    **{f"Your result is the right one plus {n} · {{0}}: too many.": _more(n) for n in range(2, 13)},
    **{
        f"Your result is the right one minus {n} · {{0}}: missing.": _more(-n) for n in range(2, 13)
    },
    "Your result is the right one plus {0} squared.": lambda right, size: right + size**2,
    "Your result is the right one minus {0} squared.": lambda right, size: right - size**2,
}
"""How a result may differ from the right one by a size that is in the input."""


PLAIN = "rounded|cut off|other sign|per cent;|tensor"
"""Twists that nothing else looks like, so that one is believed beside a mistake as well."""


def after(twist: Function, value: Any) -> Any:
    """Apply a twist to a plain value, to each of several numbers; None where it has no meaning."""
    if isinstance(value, dict):
        named = {name: after(twist, part) for name, part in value.items()}
        return None if any(part is None for part in named.values()) else named
    if isinstance(value, tuple | list):
        parts = type(value)(after(twist, part) for part in value)
        return None if any(part is None for part in parts) else parts
    if isinstance(value, bool) or not isinstance(value, abstract.Real | np.ndarray):
        return None
    try:
        with np.errstate(all="ignore"):
            return as_plain(twist(np.asarray(value) * 1.0))
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None


def codes_of(function: Any) -> Iterator[types.CodeType]:
    """Walk through the code of a function and of what is defined inside it."""
    waiting = [code] if (code := getattr(function, "__code__", None)) else []
    while waiting:
        yield (code := waiting.pop())
        waiting += [const for const in code.co_consts if isinstance(const, types.CodeType)]


def neglected(function: Any) -> list[str]:
    """Find the parameters that a function never reads, or overwrites before it does."""
    code = next(codes_of(function), None)
    if code is None:
        return []
    first: dict[str, str] = {}
    for inner in codes_of(function):
        for step in dis.get_instructions(inner):
            if not re.search("FAST|DEREF|CLOSURE", step.opname):
                continue
            touched = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            verbs = [word for word in step.opname.split("_") if word in ("LOAD", "STORE")]
            for verb, name in zip(verbs, touched, strict=False):
                first.setdefault(str(name), verb)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in parameters if first.get(name) != "LOAD"]


def borrowed_names(function: Any) -> list[str]:
    """Find the variables of the notebook that a function reads, apart from functions and such."""
    world = getattr(function, "__globals__", {})
    steps = [step for code in codes_of(function) for step in dis.get_instructions(code)]
    found = dict.fromkeys(str(s.argval) for s in steps if s.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return [
        name
        for name in found
        if name in world and not hasattr(world[name], "__name__")  # of functions, classes, modules
        if len(name) == 1 or not name.isupper()  # constants
    ]
