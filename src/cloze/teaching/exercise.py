"""Exercises: a reference solution, and mistakes that are recognised because they are solutions too.

An :class:`Exercise` runs the learner's function, the solution and every known mistake on the same
inputs, the probes, and compares. A mistake is a *wrong solution* under the sentence that names its
symptom (``mistakes.md`` of a lesson has them), so a check never parses an answer and never guesses:
it says what gives the same results. Probes are drawn with each of ``SEEDS`` in turn, and every
seed's probes tell all mistakes apart.

What any exercise may say is in ``symptoms``: nothing returned, a result instead of a function, text
instead of a number, rounded, transposed, arguments changed, parameters never used.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from cloze.masking import seeded
from cloze.teaching.mistakes import mistakes_of, pairs_of
from cloze.teaching.one_change import one_change
from cloze.teaching.results import (
    Function,
    Outcome,
    Probe,
    Probes,
    Symptom,
    Wants,
    alike,
    anything,
    as_plain,
    call,
    entries_of,
    first_difference,
    in_short,
    is_number,
    kind_of,
    named,
    nearly_alike,
    parameters_of,
)
from cloze.teaching.symptoms import (
    PLAIN,
    REPLACE,
    after,
    borrowed_names,
    codes_of,
    error_in_words,
    neglected,
    nothing_in_words,
    twists,
    unfilled,
)
from cloze.vocabulary import TextError, counted

SEEDS = range(8)
"""The seeds of the probes. An answer is right if it is right with all of them."""

LONGEST = 58
"""Words of a message after "Not yet."; what is longer is not read."""

LONG_PRINT = 2000
"""Characters of what an answer prints that are shown."""

OURS = "That is the package's own function; write yours, because the exercise is what it does."

AGAIN = "Your function gives a different answer to the same input each time: it "
REMEMBERS = (
    "remembers something from call to call, such as a list or a number outside it, or a default "
    "like x=[]; or it draws from a generator of its own."
)

STOPS = dict.fromkeys(
    ("exit", "quit"), "Leave out exit() and quit(), which end Python; `return` ends a function."
) | {"input": "Leave out input(): the check calls your function with arguments of its own."}
"""Names that no answer may use, each with what is said about it."""

Outcomes = Sequence[Outcome]


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the message for it, which is what a notebook shows.

    It is true for a right answer alone, so that a cell which is graded can say
    ``assert verdict, verdict`` and fails with the symptom.
    """

    solved: bool
    message: str

    def __repr__(self) -> str:
        return self.message

    def __bool__(self) -> bool:
        return self.solved


class Chance(random.Random):
    """Draws what is random in probes."""

    @cached_property
    def torch(self) -> torch.Generator:
        """The same for tensors."""
        return seeded(self.getrandbits(31))


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise that marks an answer when it is called with one.

    Attributes:
        solution: The reference: a function with the names that the notebook uses, or a value.
        wants: Reads a result, and says so if it is of the wrong kind.
        solved: The message for a right answer, after "Correct."
        minutes: What a beginner takes with the text, the hints and a mistake or two: a reader's
            estimate.
        mistakes: Wrong solutions under the sentence that names their symptom, run only if an answer
            is wrong; by default those in ``mistakes.md``. Of two that fit, the first is told.
        probes: Makes the arguments of every call, from a generator with one of ``SEEDS``. Not
            needed for a value, nor if ``judge`` does all the looking.
        direction: What the formula is, for an answer that nothing else fits.
        limits: Arguments for which some right answers fail, each under the remark for them, which
            follows "Correct."
        without: Forbidden names, each with the message for using it.
        judge: Looks closer at an answer that is right so far; raises :class:`Symptom`, or returns a
            remark on a right one.
    """

    solution: Any
    wants: Wants = anything
    solved: str = ""
    minutes: int = 5
    mistakes: Mapping[str, Any] | None = None
    probes: Callable[[Chance], Probes] | None = None
    direction: str = ""
    limits: Mapping[str, Probe] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    judge: Callable[[Any], str | None] | None = None

    def __call__(self, answer: Any) -> Verdict:
        """Mark an answer: the function itself, or the value that is asked for."""
        try:
            wrong = self.refusal(answer) or self.first_complaint(answer)
            remark = self.judge(answer) if self.judge and not wrong else None
        except (Symptom, TextError) as symptom:
            wrong = str(symptom)
        if wrong:
            wrong = self.in_another_order(answer) or wrong
            return Verdict(solved=False, message=f"Not yet. {wrong}")
        beyond = [
            limit
            for limit, probe in self.limits.items()
            if self.read(call(answer, probe)) != self.read(call(self.solution, probe))
        ]
        message = " ".join(filter(None, ["Correct.", remark, self.solved, *beyond]))
        return Verdict(solved=True, message=message)

    def refusal(self, answer: Any) -> str:
        """Say what can be seen to be wrong without running anything."""
        if answer is None or unfilled(answer):
            return REPLACE
        if not callable(self.solution):
            if callable(answer):
                self.wants(answer)
                return "You hand in a function; hand in the value itself."
            return ""
        name = self.solution.__name__
        if not callable(answer):
            return (
                f"You hand in {kind_of(answer)} ({in_short(answer)}), perhaps what your function "
                f"returned; hand in the function itself, without calling it: check_{name}({name})."
            )
        if inspect.isclass(answer) and answer.__module__ != "builtins":
            return "You hand in a class; hand in a function, which begins with `def`."
        if inspect.iscoroutinefunction(answer):
            return "Leave out `async` before `def`: your function is called as any other is."
        wanted, own = parameters_of(self.solution), parameters_of(answer)
        called = f"{name}({', '.join(wanted)})"
        try:
            inspect.signature(answer).bind(*wanted)
        except TypeError:
            if len(own) == len(wanted):
                return f"The check calls {called}, by position: leave out the `*` in your `def`."
            return (
                f"Your function takes {counted(len(own), 'parameter')} ({', '.join(own)}), but it "
                f"is called with {len(wanted)}: {called}."
            )
        except ValueError:  # a built-in function without a signature
            pass
        if is_ours(answer):
            return OURS
        used = {name for code in codes_of(answer) for name in code.co_names}
        forbidden = {**self.without, **STOPS}
        return next((text for name, text in forbidden.items() if name in used), "")

    def in_another_order(self, answer: Any) -> str:
        """Say that a function has the right parameters in another order."""
        wanted, own = parameters_of(self.solution), parameters_of(answer)
        if own == wanted or sorted(own) != sorted(wanted):
            return ""
        return f"Your parameters are in another order: the check gives {', '.join(wanted)}."

    def first_complaint(self, answer: Any) -> str:
        """Compare an answer with the solution, with one seed after the other."""
        if not callable(self.solution):
            return "" if self.judge else self.compare(lambda: answer, [()])
        for seed in SEEDS if self.probes else ():
            # What an answer prints is shown once.
            with contextlib.redirect_stdout(io.StringIO()) if seed else contextlib.nullcontext():
                if complaint := self.compare(answer, self.drawn(seed)):
                    return complaint
        return ""

    def drawn(self, seed: int) -> Sequence[Probe]:
        """Draw the probes of a seed."""
        return [*self.probes(Chance(seed))] if self.probes else [()]

    def compare(self, function: Function, probes: Sequence[Probe]) -> str:
        """Return what is wrong with an answer on some probes; nothing if it is right."""
        attempt = Attempt(self, function, probes, [call(function, probe) for probe in probes])
        printed = attempt.raw[0].printed  # by those who print to find an error
        rest = len(printed) - LONG_PRINT
        print(printed[:LONG_PRINT] + f"… (and {rest:,} more characters)\n" * (rest > 0), end="")
        rules = RULES if attempt.wrong else RULES_FOR_RIGHT_RESULTS
        return next(filter(None, (rule(attempt) for rule in rules)), "")

    def read(self, outcome: Outcome) -> Outcome:
        """Make an outcome comparable: converted with ``wants`` if possible, else unchanged."""
        value = outcome.value
        try:
            with contextlib.suppress(Symptom):
                value = self.wants(value)
            return Outcome(as_plain(value), outcome.error)
        except (Exception, RecursionError) as error:  # a learner's own class may do anything
            raise Symptom(
                f"Your answer is {kind_of(outcome.value)} that cannot be compared "
                f"({type(error).__name__}): does it contain itself, or is it far too large?"
            ) from None

    def outcomes(self, answer: Any, probes: Sequence[Probe]) -> Outcomes:
        """Return what the solution or a mistake gives on every probe."""
        function = answer if callable(answer) else lambda: answer
        return [self.read(call(function, probe)) for probe in probes]

    def known(self, probes: Sequence[Probe]) -> dict[str, Outcomes]:
        """Return what every mistake gives, under its sentence."""
        mistakes = mistakes_of(self) if self.mistakes is None else self.mistakes
        return {text: self.outcomes(wrong, probes) for text, wrong in mistakes.items()}


def is_ours(function: Any) -> bool:
    """Whether a function comes from the package."""
    return str(getattr(function, "__module__", "")).startswith("cloze.")


def numbers_of(outcomes: Outcomes) -> set[float]:
    """Collect the numbers in results."""
    return {entry for o in outcomes for _, entry in entries_of(o.value) if is_number(entry)}


def in_words(first: str, *more: str) -> str:
    """Join sentences; leave out those with which the message would be too long."""
    for sentence in filter(None, more):
        if len(f"{first} {sentence}".split()) <= LONGEST:
            first += f" {sentence}"
    return first


# ── What is wrong with an answer ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Attempt:
    """An answer, what its calls gave, and how that compares with the solution."""

    exercise: Exercise
    function: Function
    probes: Sequence[Probe]
    raw: Outcomes

    @cached_property
    def results(self) -> Outcomes:
        """The outcomes in the form in which they are compared."""
        return [self.exercise.read(outcome) for outcome in self.raw]

    @cached_property
    def right(self) -> Outcomes:
        """What the solution gives."""
        return self.exercise.outcomes(self.exercise.solution, self.probes)

    @cached_property
    def wrong(self) -> list[int]:
        """The numbers of the probes on which the answer differs from the solution."""
        return [i for i, result in enumerate(self.results) if result != self.right[i]]

    @cached_property
    def known(self) -> Mapping[str, Outcomes]:
        """What every mistake gives, under its sentence."""
        return self.exercise.known(self.probes)


def unused_parameters(attempt: Attempt, few: Callable[[Iterable[bool]], bool]) -> str:
    """Refuse an answer that never looks at its parameters, ``all`` or ``any`` of them."""
    unread = neglected(attempt.function) if callable(attempt.exercise.solution) else []
    parameters = parameters_of(attempt.function) if unread else ()
    if not unread or not few(name in unread for name in parameters):
        return ""
    instead = ""
    if borrowed := borrowed_names(attempt.function):
        instead = f"; it reads `{'`, `'.join(borrowed)}` from the notebook instead"
    return in_words(
        f"Your function never uses its parameter{'s' if len(unread) > 1 else ''} "
        f"`{'` and `'.join(unread)}`{instead}. The check calls it with inputs that you have not "
        "seen.",
        differences(attempt)[2],
    )


def notebook_instead_of_parameter(attempt: Attempt) -> str:
    """Refuse a variable of the notebook in the place of a parameter."""
    return unused_parameters(attempt, any) if borrowed_names(attempt.function) else ""


def another_answer_each_time(attempt: Attempt) -> str:
    """Refuse an answer that differs from call to call."""
    calm = [i for i, o in enumerate(attempt.raw) if o.error is None and not callable(o.value)]

    def again() -> Outcomes:
        return attempt.exercise.outcomes(attempt.function, [attempt.probes[i] for i in calm])

    if again() == [attempt.results[i] for i in calm]:
        return ""
    numbers = random.getstate(), np.random.get_state(), torch.get_rng_state()
    equally = []
    for _ in range(2):  # with equal random numbers
        equally.append(again())
        random.setstate(numbers[0])
        np.random.set_state(numbers[1])
        torch.set_rng_state(numbers[2])
    draws = equally[0] == equally[1] and any(again() != equally[0] for _ in range(3))
    how = "draws random numbers." if draws else REMEMBERS
    return in_words(AGAIN + how, attempt.exercise.direction)


def known_mistake(attempt: Attempt) -> str:
    """Tell the mistake that gives the same results on every probe."""
    known = attempt.known.items()
    return next((symptom for symptom, outcomes in known if outcomes == attempt.results), "")


def nothing_returned(attempt: Attempt) -> str:
    """Refuse an answer that returns nothing, or nothing for some inputs."""
    exercise, raw = attempt.exercise, attempt.raw
    answered = [i for i, o in enumerate(raw) if o.value is not None and not unfilled(o.value)]
    if not answered or not callable(exercise.solution):
        return nothing_in_words(raw[0])
    if len(answered) == len(raw) or any(outcome.error for outcome in raw):
        return ""
    if len(answered) > 1:
        # A mistake may be why, such as a `return` inside a loop that may run 0 times.
        some = [attempt.probes[i] for i in answered]
        rest = Attempt(exercise, attempt.function, some, [raw[i] for i in answered])
        if rest.wrong and (mistake := known_mistake(rest)):
            return mistake
    nothing = next(i for i in range(len(raw)) if i not in answered)
    return (
        f"With {named(exercise.solution, attempt.probes[nothing])} your function returns nothing: "
        "here it reaches no `return`, or it returns None. Go through it line by line with this "
        "input."
    )


def twisted(attempt: Attempt) -> str:
    """Tell what was done to the right results afterwards, or to those of a known mistake."""
    if any(outcome.error for outcome in attempt.results):
        return ""
    whole = any(isinstance(outcome.value, np.ndarray) for outcome in attempt.right)
    fitting = {text: f for text, f in twists().items() if whole or "tensor" not in text}
    entries = numbers_of(attempt.results)
    round_enough = all(abs(x - round(x, 5)) <= 1e-7 * max(1, abs(x)) for x in entries)
    for symptom, outcomes in {"": attempt.right, **attempt.known}.items():
        for twist, function in fitting.items():
            with contextlib.suppress(ArithmeticError, IndexError, TypeError, ValueError):
                results = [Outcome(after(function, outcome.value)) for outcome in outcomes]
                plain = not symptom or re.search(PLAIN, twist)
                if plain and results == attempt.results and ("digit" not in twist or round_enough):
                    return in_words(twist, f"And: {symptom}" if symptom else "")
    return ""


def two_mistakes(attempt: Attempt) -> str:
    """Tell the two mistakes that together give the same results on every probe."""
    exercise, probes, results = attempt.exercise, attempt.probes, attempt.results
    for (one, other), wrong in pairs_of(exercise).items() if len(attempt.wrong) > 1 else ():
        # Most pairs differ on the first of the probes.
        if all(exercise.outcomes(wrong, probes[:n]) == results[:n] for n in (1, len(probes))):
            return in_words(one, f"And: {other}")
    return ""


def always_alike(attempt: Attempt) -> str:
    """Tell a result that is always the same, or only ever 0 or 1."""
    values = [outcome.value for outcome in attempt.results]
    own, first = numbers_of(attempt.results), values[0]
    both = attempt.results, attempt.right
    shapes = [[getattr(o.value, "shape", ()) for o in outcomes] for outcomes in both]
    failed = any(outcome.error for outcome in attempt.results) or not attempt.exercise.probes
    if failed or not (own or isinstance(first, list | tuple)):
        return ""
    if all(alike(value, first) for value in values):
        text = f"Your result is {in_short(first)} for every input."
        if first == 0:
            text += " Is it cut off, as by // or int(), or is there a line that never runs?"
    elif len(own) == 1 and isinstance(first, np.ndarray) and shapes[0] == shapes[1]:
        text = f"Every entry of your tensor is {in_short(min(own))}, for every input."
    elif own <= {0, 1} and any(number % 1 for number in numbers_of(attempt.right)):
        text = (
            "Your result is only ever 0 or 1, and the right one is in between: is it rounded or "
            "cut off, a comparison, or the best one alone?"
        )
    else:
        return ""
    return in_words(text, place_of_one_change(attempt) or attempt.exercise.direction)


def wrong_form(attempt: Attempt) -> str:
    """Refuse results that are not of the kind that the exercise asks for, even if right."""
    for outcome in attempt.raw:
        try:
            if outcome.value is not None:
                attempt.exercise.wants(outcome.value)
        except Symptom as symptom:
            right = "" if attempt.wrong else "The value is right, but not its form. "
            return f"{right}{symptom}"
    return ""


def shown_difference(attempt: Attempt) -> str:
    """Show the first wrong result beside the right one, and what else helps."""
    first, special, brief = differences(attempt)
    rule = place_of_one_change(attempt) or attempt.exercise.direction
    if len(f"{first} {special} {rule}".split()) > LONGEST:  # the rule helps more than the input
        first = brief
    borrowed = "`, `".join(borrowed_names(attempt.function))
    question = f"It reads `{borrowed}` from the notebook: should that be a parameter?"
    return in_words(first, special, rule, question if borrowed else "")


RULES: Sequence[Callable[[Attempt], str]] = (
    notebook_instead_of_parameter,
    another_answer_each_time,
    known_mistake,
    nothing_returned,
    partial(unused_parameters, few=all),
    always_alike,
    twisted,
    two_mistakes,
    partial(unused_parameters, few=any),
    wrong_form,
    shown_difference,
)
"""What is looked for in a wrong answer, in this order: the first sentence is told."""


def the_package_s_own(attempt: Attempt) -> str:
    """Refuse an answer that calls a function of the package which computes all of it."""
    exercise, own = attempt.exercise, getattr(attempt.function, "__globals__", {})
    scopes = [vars(m) for name, m in [*sys.modules.items()] if name.startswith("cloze.")]
    for name in {name for code in codes_of(attempt.function) for name in code.co_names}:
        # A name of the notebook, or else an attribute, or what the function imports.
        known = [scope.get(name) for scope in ([own] if name in own else scopes)]
        for function in filter(is_ours, known):
            if exercise.outcomes(function, attempt.probes) == attempt.results:
                return f"`{name}` computes all of it. {OURS}"
    return ""


def changed_argument(attempt: Attempt) -> str:
    """Refuse an answer that changes what it is given."""
    for outcome, probe in zip(attempt.raw, attempt.probes, strict=True):
        names = parameters_of(attempt.exercise.solution) if probe else ()
        for name, now, before in zip(names, outcome.given, probe, strict=True):
            if not alike(as_plain(now), as_plain(before)):
                return (
                    f"The result is right, but your function changes its argument `{name}`, "
                    "which is still needed elsewhere: work on a copy (.clone() of a tensor, "
                    ".copy() of a list or dict)."
                )
    return ""


RULES_FOR_RIGHT_RESULTS = the_package_s_own, wrong_form, changed_argument
"""What is looked for in an answer whose results are right."""


def place_of_one_change(attempt: Attempt) -> str:
    """Tell the place where one change makes an answer right, on the probes of two seeds."""
    exercise, right = attempt.exercise, attempt.right
    first, *others = (right[i] for i in attempt.wrong)
    if not exercise.probes or all(other == first for other in others):
        return ""  # too little to go by
    tries = [attempt.probes[i] for i in attempt.wrong] + [*attempt.probes]
    tries += exercise.drawn(SEEDS[-1])
    wanted = exercise.outcomes(exercise.solution, tries)

    def is_right(candidate: Function) -> bool:
        return all(
            exercise.read(Outcome(candidate(*copy.deepcopy(probe)))) == outcome
            for probe, outcome in zip(tries, wanted, strict=True)
        )

    return one_change(attempt.function, is_right)


def differences(attempt: Attempt) -> tuple[str, str, str]:
    """Say on which input an answer differs, and how; what else helps; and how without the input."""
    raw, results, right, wrong = attempt.raw, attempt.results, attempt.right, attempt.wrong
    at = wrong[0]
    inputs = named(attempt.exercise.solution, attempt.probes[at]) if attempt.probes[at] else ""
    others = f"Right for {len(raw) - len(wrong)} of {len(raw)} inputs, but " if at else ""
    if (error := raw[at].error) is not None:
        where = f"{others}this happened" if others else "This happened"
        raised = f"Your function raised {error_in_words(error)}"
        return f"{raised} ({where} with {inputs}.)", "", raised
    got, truth = first_difference(results[at].value, right[at].value)
    shapes = [getattr(outcome.value, "shape", ()) for outcome in (results[at], right[at])]
    if shapes[0] != shapes[1]:
        got, truth = (
            f"the shape {tuple(shape)}" if shape else kind_of(outcome.value)
            for shape, outcome in zip(shapes, (raw[at], right[at]), strict=True)
        )
        own, wanted = ([getattr(o[i].value, "shape", ()) for i in wrong] for o in (results, right))
        sizes = [set(size) for size in zip(*own, strict=False)]
        varied = len(set(wanted)) > 1
        if varied and any(len(size) == 1 and not size & {1, *shapes[1]} for size in sizes):
            got += ", with a size that never changes (is it a fixed number?),"
    special = ""
    if all(nearly_alike(results[i].value, right[i].value) for i in wrong):
        special = (
            "That is close. Did you round the result or a constant, such as 0.693 for "
            "math.log(2), or add a small number?"
        )
    elif re.search(r"\bnan\b", got):
        special = "NaN comes from 0/0, inf − inf, 0 · inf or a logarithm of a negative number."
    elif re.search(r"\binf\b", got):
        special = "Infinity comes from the logarithm of 0 or a division by 0."
    given = f"{others}with {inputs}" if others else f"With {inputs}"
    result = f"you return {got} instead of {truth}."
    if not inputs:
        return f"Your answer is {got} instead of {truth}.", special, ""
    brief = f"{others}elsewhere {result}" if others else f"Y{result[1:]}"
    return f"{given} {result}", special, brief
