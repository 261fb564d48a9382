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
                "`print` only shows a result; `return` hands it back."
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
    (RecursionError, "", "Your function keeps calling itself and never stops."),
    (
        UnboundLocalError,
        "",
        "A name that is assigned anywhere in a function is local in the whole function, so it "
        "hides a function or variable of the same name outside: choose another name, or assign it "
        "before you use it.",
    ),
    (
        NameError,
        "",
        "Python does not know this name. Is it spelled right? Does it need quotes, or a module "
        "before it, as in math.log?",
    ),
    (
        KeyError,
        "",
        "The dictionary has no such key. Are you looking at the wrong position, or did you put "
        "quotes around the name of a variable?",
    ),
    (
        Exception,
        "-100|Expected index",
        "A label of -100 means that nothing is asked there, but it was used as an index. First "
        "select the positions where labels != -100.",
    ),
    (
        IndexError,
        "shape mismatch|broadcast|too many indices|did not match|does not match",
        "The index in the square brackets does not fit the shape of the tensor: print both shapes.",
    ),
    (
        IndexError,
        "^axis",
        "The second argument of NumPy's min, max and sum is an axis. For the smaller of two "
        "numbers use Python's min(a, b), for two arrays np.minimum(a, b).",
    ),
    (
        ValueError,
        "^Ids run from 0 to",
        "The model was given ids that it does not know. It reads the inputs; the labels, with "
        "their -100, go to the loss.",
    ),
    (
        IndexError,
        "",
        "An index is past the end. Did you copy a length from the notebook, or use the same index "
        "for two things of different lengths?",
    ),
    (
        Exception,
        "ambiguous",
        "An `if` (or and, or, not) needs a single True or False, but a tensor holds many: use "
        "torch.where(condition, a, b), a mask in square brackets, or & | ~.",
    ),
    (
        ValueError,
        "math domain error|expected a positive input",
        "There is no logarithm of 0 or of a negative number. Is this the right number, or has a "
        "product of many probabilities become 0?",
    ),
    (
        Exception,
        "range error|too large",
        "A number became too large. Is it the right number to take exp of?",
    ),
    (
        RuntimeError,
        "with a bool tensor|on a bool tensor",
        "To swap True and False in a boolean tensor, use ~, not - or 1 -.",
    ),
    (ZeroDivisionError, "", "For this input you divide by 0."),
    (
        TypeError,
        "'Tensor' object is not callable",
        "A tensor is not a function: use square brackets to look something up and * to multiply, "
        "and call optimizer.step() without arguments.",
    ),
    (
        TypeError,
        "'(SGD|Adam.*)' object is not callable",
        "Call a method of the optimizer, such as optimizer.step(), not the optimizer itself.",
    ),
    (
        TypeError,
        "not callable",
        "Round brackets call a function. Use square ones to look something up, and * to multiply.",
    ),
    (TypeError, r"for \^", "Write a power with **. In Python, ^ means something else."),
    (
        TypeError,
        r"for [&|]",
        "& and | need two sets, or two boolean tensors; set(…) makes a set of a range or a list.",
    ),
    (
        TypeError,
        "indices must be integers.*tuple",
        "A comma in square brackets, table[i, c], works for arrays and tensors. For lists and "
        "dictionaries write table[i][c].",
    ),
    (
        TypeError,
        "slice indices|indices must be integers.*float",
        "Positions and counts must be whole numbers. // gives one; / does not, even if there is no "
        "remainder.",
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
        "Lists, sets and dictionaries can change, so they cannot be keys of a dictionary or "
        "members of a set. Use a string, a tuple or a frozenset.",
    ),
    (
        TypeError,
        "indices must be integers",
        "A list is indexed by a position, a dictionary by a key. Which of them do you have here?",
    ),
    (
        Exception,
        r"'(builtin_function_or_method|method|function)'",
        "You use a function where its result should be: are the brackets () of a call missing?",
    ),
    (
        TypeError,
        "not subscriptable|not iterable",
        "This is a single value, with no entries to look up or loop over: print it to see.",
    ),
    (
        TypeError,
        "interpreted as an integer",
        "range(…) takes a whole number. To go through a list, write `for i in` and then the list.",
    ),
    (
        Exception,
        "'NoneType'",
        "Something you use here is None, perhaps the result of a list's append or sort, which "
        "change the list and return nothing.",
    ),
    (
        TypeError,
        "not supported between",
        "You compare two different kinds of things. A loop over a dictionary gives its keys; "
        ".values() gives the values, and .items() gives pairs.",
    ),
    (
        Exception,
        "unpack",
        "The number of values differs from the number of names: count what the function returns. A "
        "loop over a dictionary gives only its keys; .values() gives the values, and .items() "
        "gives pairs.",
    ),
    (
        TypeError,
        r"where.* got \(bool",
        "Your condition is a single True or False, not one per entry: compare the tensor itself "
        "with a number, using == or !=.",
    ),
    (
        TypeError,
        "(positional|keyword|required) argument|combination of arguments",
        "Compare the arguments of the call with those the function expects, in the same order.",
    ),
    (
        Exception,
        "only one element|converted to (a )?(Python )?[sS]calar",
        "The functions of math take a single number, such as the width Q.shape[-1]. For all "
        "entries of a tensor use torch.exp or torch.log.",
    ),
    (
        AttributeError,
        "'(list|tuple|dict)' .* '(mean|sum|exp|log|log2|item|clone|shape)'",
        "Lists and dictionaries do not have the methods of tensors: use len(…) to count, sum(…) to "
        "add up, and sum(…) / len(…) for the mean.",
    ),
    (
        RuntimeError,
        "where expected condition",
        "torch.where takes the condition first: torch.where(condition, if true, if false).",
    ),
    (
        TypeError,
        "must be real number|unsupported operand|bad operand|must be Tensor|can only concat",
        "You mix two kinds of things. math.log takes a single number and torch.log a tensor, and a "
        "number cannot be added to a string, a list or a dictionary.",
    ),
    (
        RuntimeError,
        "changed size during iteration",
        "A dictionary or a set must not grow or shrink while you loop over it: put what you keep "
        "into a new one.",
    ),
    (
        RuntimeError,
        "in-place|in place",
        "Your function changes the tensor that it was given; work on a copy, .clone().",
    ),
    (
        RuntimeError,
        "numpy\\(\\)",
        "No gradient flows back through NumPy; use the functions of torch.",
    ),
    (
        RuntimeError,
        "require grad",
        "No gradient can flow back: leave out detach(), .item() and torch.tensor(…) before "
        "backward().",
    ),
    (
        RuntimeError,
        "indexing result",
        "You must assign exactly as many values as there are places: use the same condition in the "
        "square brackets on both sides.",
    ),
    (
        RuntimeError,
        "scalar outputs",
        "backward() starts from a single number: average the costs first, as mlm_loss does.",
    ),
    (
        RuntimeError,
        "second time",
        "backward() works only once per loss: compute the loss again before the next call.",
    ),
    (
        ValueError,
        "^(logits|labels) (is|has)",
        "mlm_loss takes the logits first and the labels second, and both must cover the same "
        "positions.",
    ),
    (
        ValueError,
        "input_ids need the shape",
        "The model reads a batch of lines at once: give it the whole batch.",
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
        "The shapes do not fit: print both. Take sizes from the arguments, not from the notebook, "
        "and remember that * works entry by entry, while @ is the matrix product.",
    ),
    (
        RuntimeError,
        "type|Float|Long|bool",
        "The dtypes do not fit: ids are whole numbers (long), a mask is boolean, the rest is "
        "floating point.",
    ),
    (AttributeError, "'Tensor' .* 'copy'", "Copy a tensor with .clone()."),
    (
        AttributeError,
        "'backward'",
        "backward() is a method of the loss, which is a tensor. .item() and float() turn it into a "
        "plain number, so call them afterwards.",
    ),
    (
        AttributeError,
        "attribute '(step|zero_grad)'",
        "step() and zero_grad() are methods of the optimizer.",
    ),
    (
        Exception,
        "MaskedBatch",
        "mask_tokens returns two tensors: unpack them with inputs, labels = mask_tokens(…).",
    ),
    (
        AttributeError,
        "",
        "It has no such attribute; perhaps it is not what you think. Print it, and its type(…).",
    ),
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
    near = f" Did you mean `{near}`?" if (near := meant(error)) else ""
    for kind, pattern, direction in ERRORS:
        if isinstance(error, kind) and re.search(pattern, text):
            return f"{said.rstrip('.')}. {direction}{near}"
    return f"{said.rstrip('.')}. Try it in a separate cell."


TWISTS: Mapping[str, Function] = {
    **{
        f"Your result is rounded (to {digits} digit{'s' * (digits != 1)}); return it in full, and "
        "round only when you show it.": lambda right, digits=digits: np.round(right, digits)
        for digits in range(6)
    },
    **{
        f"Your result is in per cent and rounded (to {digits} digit{'s' * (digits != 1)}); return "
        "the share itself, in full.": lambda right, digits=digits: np.round(right * 100, digits)
        for digits in range(3)
    },
    "Your result is cut off to a whole number; // and int() do that, and / does not.": np.trunc,
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
    "Your result is a hundredth of the right one: leave out the division by 100.": (
        lambda right: right / 100
    ),
    "Your result is twice the right one: is something counted twice?": lambda right: 2 * right,
    "Your result is half of the right one.": lambda right: right / 2,
    "Your result is 1 minus the right one: did you take the opposite share?": lambda right: (
        1 - right
    ),
    "Your result is 1 divided by the right one: the fraction is upside down.": (
        lambda right: 1 / right
    ),
    "Your result is one more than the right one.": lambda right: right + 1,
    "Your result is one less than the right one.": lambda right: right - 1,
    "Your result is e to the power of the right one: leave out exp.": np.exp,
    "Your result is e to the power of minus the right one: that is the probability, not the "
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
    "Your tensor is transposed: rows and columns are swapped.": lambda right: right.T,
    "Your tensor is inverted: it is True where it should be False.": _inverted,
    "Your tensor is flattened: keep the rows apart.": np.ravel,
    "Your tensor has one dimension too many in front: leave out unsqueeze(0) or [None], or take "
    "the [0] of it.": lambda right: right[None],
    "Your tensor has one dimension too many at the end.": lambda right: right[..., None],
    "Your tensor is reversed: its entries are in the opposite order.": (lambda right: right[::-1]),
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
    "Your result is too large by {0}.": _more(1),
    "Your result is too small by {0}.": _more(-1),
    **{f"Your result is too large by {n} · {{0}}.": _more(n) for n in range(2, 13)},
    **{f"Your result is too small by {n} · {{0}}.": _more(-n) for n in range(2, 13)},
    "Your result is too large by {0} squared.": lambda right, size: right + size**2,
    "Your result is too small by {0} squared.": lambda right, size: right - size**2,
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
