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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from cloze.masking import seeded
from cloze.teaching.mistakes import mistakes_of
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
    first_difference,
    in_short,
    kind_of,
    nearly_alike,
)
from cloze.teaching.symptoms import (
    PLAIN,
    REPLACE,
    RESHAPED,
    TWISTS,
    after,
    borrowed_names,
    codes_of,
    error_in_words,
    neglected,
    nothing_in_words,
    unfilled,
)
from cloze.vocabulary import TextError, counted

SEEDS = range(8)
"""The seeds of the probes. An answer is right if it is right with all of them."""

LONGEST = 58
"""Words of a message after "Not yet."; what is longer is not read."""

LONG_INPUT = 24
"""Words of the arguments that are shown in full."""

OURS = "That is the package's own function; write yours, because the exercise is what it does."

DRAWS = (
    "Your function gives a different answer to the same input each time: it draws random numbers, "
    "or it remembers something between calls, such as a list outside it or a default like x=[]."
)

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
        parameters = list(inspect.signature(self.solution).parameters)
        try:
            inspect.signature(answer).bind(*parameters)
        except TypeError:
            own = list(inspect.signature(answer).parameters)
            return (
                f"Your function takes {counted(len(own), 'parameter')} "
                f"({', '.join(own)}), but it is called with "
                f"{len(parameters)}: {name}({', '.join(parameters)})."
            )
        except ValueError:  # a built-in function without a signature
            pass
        if is_ours(answer):
            return OURS
        used = {name for code in codes_of(answer) for name in code.co_names}
        return next((text for name, text in self.without.items() if name in used), "")

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
        first = attempt.raw[0]
        empty = all(outcome.value is None or unfilled(outcome.value) for outcome in attempt.raw)
        if empty and (nothing := nothing_in_words(first)):
            return nothing
        print(first.printed, end="")  # for those who print to find an error
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
        return [self.read(call(function, probe, ours=True)) for probe in probes]

    def known(self, probes: Sequence[Probe]) -> dict[str, Outcomes]:
        """Return what every mistake gives, under its sentence."""
        mistakes = mistakes_of(self) if self.mistakes is None else self.mistakes
        return {text: self.outcomes(wrong, probes) for text, wrong in mistakes.items()}


def is_ours(function: Any) -> bool:
    """Whether a function comes from the package."""
    return callable(function) and str(getattr(function, "__module__", "")).startswith("cloze.")


def in_words(first: str, *more: str) -> str:
    """Join sentences; leave out those with which the message would be too long."""
    for sentence in filter(None, more):
        if len(f"{first} {sentence}".split()) <= LONGEST:
            first += f" {sentence}"
    return first


# ── What is wrong with an answer ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class View:
    """The results of an answer, of the solution and of every mistake; or one number of each."""

    results: Outcomes
    right: Outcomes
    known: Mapping[str, Outcomes]
    beginning: str = ""
    """Which of several numbers this is about, as the beginning of a sentence."""

    def entry(self, i: int) -> View:
        """Return the view of one of several numbers."""

        def of(outcomes: Outcomes) -> Outcomes:
            return [
                Outcome(outcome.value[i], outcome.error)
                if isinstance(outcome.value, tuple) and i < len(outcome.value)
                else outcome
                for outcome in outcomes
            ]

        known = {symptom: of(outcomes) for symptom, outcomes in self.known.items()}
        return View(of(self.results), of(self.right), known, f"Number {i + 1} of your answer: ")

    def known_mistake(self) -> str:
        """Find the mistake that gives the same results on every probe."""
        wrong = self.results != self.right
        same = (symptom for symptom, outcomes in self.known.items() if outcomes == self.results)
        return next(same, "") if wrong else ""

    def twist(self) -> str:
        """Find what was done to the right results afterwards, or to those of a known mistake."""
        if self.results == self.right or any(outcome.error for outcome in self.results):
            return ""
        whole = any(isinstance(outcome.value, np.ndarray) for outcome in self.right)
        twists = {**(RESHAPED if whole else {}), **TWISTS}
        for symptom, outcomes in {"": self.right, **self.known}.items():
            for twist, function in twists.items():
                if symptom and not re.search(PLAIN, twist):
                    continue
                if [
                    Outcome(after(function, outcome.value)) for outcome in outcomes
                ] == self.results:
                    return in_words(self.beginning + twist, f"And: {symptom}" if symptom else "")
        return ""


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
    def views(self) -> list[View]:
        """All results; and if they are several numbers, each of these alone."""
        whole = View(self.results, self.right, self.exercise.known(self.probes))
        several = self.right[0].value
        if isinstance(several, tuple) and all(
            isinstance(result.value, tuple) and len(result.value) == len(several)
            for result in self.results
        ):
            return [whole, *map(whole.entry, range(len(several)))]
        return [whole]

    @cached_property
    def borrowed(self) -> list[str]:
        """The variables of the notebook that the answer reads."""
        return borrowed_names(self.function)

    @cached_property
    def difference(self) -> list[str]:
        """On which input the answer differs, and how; then what else there is to say."""
        return list(_differences(self))

    def shown(self, i: int) -> str:
        """Write the arguments of a probe; longer ones as what they are."""
        parameters = inspect.signature(self.exercise.solution).parameters
        probe = self.probes[i]
        texts = list(map(in_short, probe))
        if len(" ".join(texts).split()) > LONG_INPUT:
            texts = [text if " " not in text else kind_of(probe[i]) for i, text in enumerate(texts)]
        return ", ".join(f"{n} = {text}" for n, text in zip(parameters, texts, strict=True))


def unused_parameters(attempt: Attempt, few: Callable[[Iterable[bool]], bool]) -> str:
    """Refuse an answer that never looks at its parameters, ``all`` or ``any`` of them."""
    unread = neglected(attempt.function) if callable(attempt.exercise.solution) else []
    parameters = inspect.signature(attempt.function).parameters if unread else ()
    if not unread or not few(name in unread for name in parameters):
        return ""
    instead = ""
    if attempt.borrowed:
        instead = f"; it reads `{'`, `'.join(attempt.borrowed)}` from the notebook instead"
    return in_words(
        f"Your function never uses its parameter{'s' if len(unread) > 1 else ''} "
        f"`{'` and `'.join(unread)}`{instead}. The check calls it with inputs that you have not "
        "seen.",
        attempt.difference[0],
    )


def notebook_instead_of_parameter(attempt: Attempt) -> str:
    """Refuse a variable of the notebook in the place of a parameter."""
    return unused_parameters(attempt, any) if attempt.borrowed else ""


def known_mistake(attempt: Attempt) -> str:
    """Tell the mistake that gives the same results."""
    return next(filter(None, (view.known_mistake() for view in attempt.views)), "")


def nothing_returned(attempt: Attempt) -> str:
    """Refuse an answer that returns nothing, or nothing for some inputs."""
    if any(outcome.error for outcome in attempt.raw):
        return ""
    exercise, raw = attempt.exercise, attempt.raw
    answered = [i for i, outcome in enumerate(raw) if outcome.value is not None]
    if len(answered) == len(raw) or not callable(exercise.solution):
        return next(filter(None, map(nothing_in_words, raw)), "")
    if len(answered) > 1:
        # A mistake may be why, such as a `return` inside a loop that may run 0 times.
        some = [attempt.probes[i] for i in answered]
        rest = Attempt(exercise, attempt.function, some, [raw[i] for i in answered])
        if mistake := rest.views[0].known_mistake():
            return mistake
    nothing = next(i for i in range(len(raw)) if i not in answered)
    return (
        f"With {attempt.shown(nothing)} your function returns nothing: here it reaches no "
        "`return`, or it returns None. Go through it line by line with this input."
    )


def no_parameter_used(attempt: Attempt) -> str:
    """Refuse an answer that uses none of its parameters."""
    return unused_parameters(attempt, all)


def twisted(attempt: Attempt) -> str:
    """Tell what was done to the right results, such as rounding them."""
    return next(filter(None, (view.twist() for view in attempt.views)), "")


def some_parameter_unused(attempt: Attempt) -> str:
    """Refuse an answer that does not use all its parameters."""
    return unused_parameters(attempt, any)


def wrong_kind(attempt: Attempt) -> str:
    """Refuse results that are not of the kind that the exercise asks for."""
    for outcome in attempt.raw:
        if outcome.error is None and outcome.value is not None:
            attempt.exercise.wants(outcome.value)
    return ""


def random_numbers(attempt: Attempt) -> str:
    """Refuse an answer that differs from call to call."""
    again = attempt.exercise.read(call(attempt.function, attempt.probes[0]))
    return in_words(DRAWS, attempt.difference[0]) if again != attempt.results[0] else ""


def shown_difference(attempt: Attempt) -> str:
    """Show the first wrong result beside the right one, and what else helps."""
    first, special, *more = attempt.difference
    if change := place_of_one_change(attempt):
        return in_words(first, special, change)
    if attempt.borrowed:
        more.append(
            f"It reads `{'`, `'.join(attempt.borrowed)}` from the notebook: should that be a "
            "parameter?"
        )
    return in_words(first, special, *more)


RULES: Sequence[Callable[[Attempt], str]] = (
    notebook_instead_of_parameter,
    known_mistake,
    nothing_returned,
    no_parameter_used,
    twisted,
    some_parameter_unused,
    wrong_kind,
    random_numbers,
    shown_difference,
)
"""What is looked for in a wrong answer, in this order: the first sentence is told."""


def the_package_s_own(attempt: Attempt) -> str:
    """Refuse an answer that calls a function of the package which computes all of it."""
    read = attempt.exercise.read
    for name in {name for code in codes_of(attempt.function) for name in code.co_names}:
        known = getattr(attempt.function, "__globals__", {}).get(name)
        if (
            known
            and is_ours(known)
            and all(
                read(call(known, probe)) == result
                for probe, result in zip(attempt.probes, attempt.results, strict=True)
            )
        ):
            return f"`{name}` computes all of it. {OURS}"
    return ""


def right_but_for_its_form(attempt: Attempt) -> str:
    """Refuse right values of the wrong kind."""
    for outcome in attempt.raw:
        try:
            attempt.exercise.wants(outcome.value)
        except Symptom as symptom:
            return f"The value is right, but not its form. {symptom}"
    return ""


def changed_argument(attempt: Attempt) -> str:
    """Refuse an answer that changes what it is given."""
    for outcome, probe in zip(attempt.raw, attempt.probes, strict=True):
        names = inspect.signature(attempt.exercise.solution).parameters if probe else ()
        for name, now, before in zip(names, outcome.given, probe, strict=True):
            if not alike(as_plain(now), as_plain(before)):
                return (
                    f"The result is right, but your function changes its argument `{name}`, "
                    "which is still needed elsewhere: work on a copy (.clone() of a tensor, "
                    ".copy() of a list or dict)."
                )
    return ""


RULES_FOR_RIGHT_RESULTS = the_package_s_own, right_but_for_its_form, changed_argument
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


def _differences(attempt: Attempt) -> Iterator[str]:
    raw, results, right, wrong = attempt.raw, attempt.results, attempt.right, attempt.wrong
    at = wrong[0]
    inputs = attempt.shown(at) if attempt.probes[at] else ""
    others = f"Right for {len(raw) - len(wrong)} of {len(raw)} inputs, but " if at else ""
    if (error := raw[at].error) is not None:
        where = f"{others}this happened" if others else "This happened"
        yield f"Your function raised {error_in_words(error)}"
        yield f"({where} with {inputs}.)"
        return
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
        got, truth = (repr(outcome.value) for outcome in (results[at], right[at]))
        special = (
            "That is close. Did you round the result, or a constant such as 0.693 for math.log(2)?"
        )
    elif re.search(r"\bnan\b", got):
        special = "NaN comes from 0/0, inf − inf, 0 · inf or a logarithm of a negative number."
    elif re.search(r"\binf\b", got):
        special = "Infinity comes from the logarithm of 0 or a division by 0."
    given = f"{others}with {inputs}" if others else f"With {inputs}"
    where = f"{given} you return" if inputs else "Your answer is"
    yield f"{where} {got} instead of {truth}."
    yield special
    yield attempt.exercise.direction
