"""Exercises: a reference solution, and mistakes that are recognised because they are solutions too.

An :class:`Exercise` runs the learner's function, the solution and every known mistake on the same
inputs, the probes, and compares. A mistake is a *wrong solution* under the sentence that names its
symptom (``mistakes.md`` of a lesson has them), so a check never parses an answer and never guesses:
it says what gives the same results. The probes are other ones at every check, so that no answer can
be written down beforehand; they are drawn from seeds that are known to tell all mistakes apart.

What holds for every exercise is said once, in ``symptoms``: nothing returned, a result instead of a
function, text instead of a number, rounded, transposed, arguments changed, parameters never used.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from torch import Tensor

from cloze.teaching.mistakes import Mistakes
from cloze.teaching.one_change import one_change
from cloze.teaching.results import (
    Function,
    Outcome,
    Probe,
    Symptom,
    Wants,
    alike,
    as_plain,
    call,
    in_short,
    kind_of,
    nearly_alike,
    set_apart,
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
    refuse_nothing,
    unfilled,
)
from cloze.vocabulary import TextError


@dataclass(frozen=True)
class Verdict:
    """What a check says of an answer; in a notebook it shows as its message.

    It is true for a right answer alone, so that a cell which is graded can say
    ``assert verdict, verdict`` and fails with the symptom.
    """

    solved: bool
    message: str

    def __repr__(self) -> str:
        return self.message

    def __bool__(self) -> bool:
        return self.solved


def correct(message: str) -> Verdict:
    """Say that an answer is right, and what that shows."""
    return Verdict(solved=True, message=f"Correct. {message}")


def not_yet(message: str) -> Verdict:
    """Say that an answer is missing or wrong, and what was seen."""
    return Verdict(solved=False, message=f"Not yet. {message}")


Outcomes = Sequence[Outcome]

CHEAP = 0.3
"""Seconds in which a right answer is tried with more seeds."""

LONGEST = 58
"""Words of a message after "Not yet."; what is longer is not read."""

LONG_INPUT = 24
"""Words of the arguments that are shown in full."""

OURS = "That is the package's own function; write yours, because the exercise is what it does."

DRAWS = (
    "Your function gives a different answer to the same input each time, so it draws random "
    "numbers. The exercise can be answered exactly, without any."
)


def is_ours(function: Any) -> bool:
    """Whether a function comes from the package."""
    return callable(function) and str(getattr(function, "__module__", "")).startswith("cloze.")


def in_words(first: str, *more: str) -> str:
    """Join sentences; leave out those with which the message would be too long."""
    for sentence in filter(None, more):
        if len(f"{first} {sentence}".split()) <= LONGEST:
            first += f" {sentence}"
    return first


@dataclass(frozen=True)
class View:
    """What an answer, the solution and every known mistake gave on the same probes."""

    seen: Outcomes
    right: Outcomes
    known: Mapping[str, Outcomes]
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
        part = f"Number {i + 1} of your answer: "
        return View(of(self.seen), of(self.right), known, part)

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
                twisted = [Outcome(after(function, outcome.value)) for outcome in outcomes]
                if twisted == seen:
                    raise Symptom(in_words(self.part + twist, f"And: {symptom}" * bool(symptom)))

    def tell_partly(self) -> None:
        """Tell the mistake that gives every result that is wrong, while others are right."""
        wrong = [i for i, seen in enumerate(self.seen) if seen != self.right[i]]
        seen = [self.seen[i] for i in wrong]
        # Errors, and results that are all alike, say 0, may be accidents.
        if any(outcome.error for outcome in seen) or all(outcome == seen[0] for outcome in seen):
            return
        for symptom, outcomes in self.known.items():
            if [outcomes[i] for i in wrong] == seen:
                raise Symptom(f"{self.part}For some inputs: {symptom}")


@dataclass(frozen=True)
class Exercise:
    """An exercise that marks an answer when it is called with one.

    Attributes:
        solution: The reference: a function with the names that the notebook uses, or a value.
        minutes: What a beginner takes with the text, the hints and a mistake or two: a reader's
            estimate.
        wants: Reads a result, and says so if it is of the wrong kind.
        solved: What is said of a right answer, after "Correct."
        mistakes: Wrong solutions under the sentence that names their symptom, run only if an answer
            is wrong. Of two that fit, the first is told.
        probes: Makes the arguments of every call, from a generator with one of the ``seeds``. Not
            needed for a value, nor if ``judge`` does all the looking.
        direction: What the formula is, for an answer that nothing else fits.
        limits: Right in principle, but not for these arguments: said beside "Correct."
        without: Names that the exercise asks not to use, and what to say to who does.
        parts: Names the parts of the result, given the arguments, and where in it they are (... is
            all of it): for an answer that nothing else fits, which are right and which are not.
        judge: Looks closer at an answer that is right so far; raises :class:`Symptom`, or returns
            what is to be said of a right one besides.
    """

    solution: Any
    wants: Wants
    solved: str
    minutes: int = 5
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    probes: Callable[[random.Random], Sequence[Probe]] | None = None
    direction: str = ""
    limits: Mapping[str, Probe] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    parts: Callable[..., Mapping[str, Any]] | None = None
    judge: Callable[[Any], str | None] | None = None

    def __call__(self, answer: Any) -> Verdict:
        """Mark an answer: the function itself, or the value that is asked for."""
        try:
            self._look_at(answer)
            if callable(self.solution) and self.probes:
                self._try(answer, self.probes)
            elif not callable(self.solution) and not self.judge:
                self.compare(lambda: answer, [()])
            remark = self.judge(answer) if self.judge else None
        except (Symptom, TextError) as symptom:
            return not_yet(str(symptom))
        beyond = [
            limit
            for limit, probe in self.limits.items()
            if self._read(call(answer, probe)) != self._read(call(self.solution, probe))
        ]
        return correct(" ".join(filter(None, [remark, self.solved, *beyond])))

    def _try(self, answer: Function, probes: Callable[[random.Random], Sequence[Probe]]) -> None:
        """Compare an answer with the solution, with as many seeds as there is time for."""
        start = time.monotonic()
        for again, chance in enumerate(self.chances()):
            # What an answer prints is shown once.
            with contextlib.redirect_stdout(io.StringIO()) if again else contextlib.nullcontext():
                self.compare(answer, probes(chance))
            if time.monotonic() - start > CHEAP:
                return

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds whose probes are known to tell the solution and all mistakes apart."""
        return self.mistakes.seeds if isinstance(self.mistakes, Mistakes) else ()

    def chances(self) -> list[random.Random]:
        """Return generators with the seeds, in any order; without seeds, two with any."""
        own = random.Random()  # noqa: S311 - the notebook's random numbers are left alone
        seeds = self.seeds or [own.getrandbits(31) for _ in range(2)]
        return [random.Random(seed) for seed in own.sample(seeds, len(seeds))]  # noqa: S311

    def look_alike(self, seed: int) -> list[str]:
        """Find what the probes of a seed do not tell apart: pairs of mistakes, or the solution."""
        if not self.probes:
            return []
        probes = self.probes(random.Random(seed))  # noqa: S311 - no secret
        seen = {"the solution": self.outcomes(self.solution, probes), **self.known(probes)}
        return [f"{a} = {b}" for a, b in combinations(seen, 2) if seen[a] == seen[b]]

    def _look_at(self, answer: Any) -> None:
        """Refuse what can be seen without running anything."""
        if answer is None or unfilled(answer):
            raise Symptom(REPLACE)
        if not callable(self.solution):
            if callable(answer):
                self.wants(answer)
                raise Symptom("You hand in a function; hand in the value itself.")
            return
        name = self.solution.__name__
        if not callable(answer):
            raise Symptom(
                f"You hand in {kind_of(answer)} ({in_short(answer)}), perhaps what your function "
                f"returned; hand in the function itself, without calling it: check_{name}({name})."
            )
        parameters = list(inspect.signature(self.solution).parameters)
        try:
            inspect.signature(answer).bind(*parameters)
        except TypeError:
            own = list(inspect.signature(answer).parameters)
            raise Symptom(
                f"Your function takes {len(own)} parameter{'s' * (len(own) != 1)} "
                f"({', '.join(own)}), but it is called with "
                f"{len(parameters)}: {name}({', '.join(parameters)})."
            ) from None
        except ValueError:  # a built-in function that does not say what it takes
            pass
        if is_ours(answer):
            raise Symptom(OURS)
        used = {name for code in codes_of(answer) for name in code.co_names}
        for forbidden, sentence in self.without.items():
            if forbidden in used:
                raise Symptom(sentence)

    def _read(self, outcome: Outcome) -> Outcome:
        """Make an outcome comparable: as what is asked for if it is that, else as it is."""
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

    def outcomes(self, answer: Any, probes: Sequence[Probe]) -> list[Outcome]:
        """Return what is compared: what the solution or a mistake gives on every probe."""
        function = answer if callable(answer) else lambda: answer
        return [self._read(call(function, probe, ours=True)) for probe in probes]

    def known(self, probes: Sequence[Probe]) -> dict[str, Outcomes]:
        """Return what every mistake gives, under its sentence."""
        return {text: self.outcomes(wrong, probes) for text, wrong in self.mistakes.items()}

    def compare(self, function: Function, probes: Sequence[Probe]) -> None:
        """Compare an answer with the solution, and if it differs say what it looks like."""
        raw = [call(function, probe) for probe in probes]
        right = self.outcomes(self.solution, probes)
        seen = [self._read(outcome) for outcome in raw]
        if all(outcome.value is None or unfilled(outcome.value) for outcome in raw):
            refuse_nothing(raw[0])
        print(raw[0].printed, end="")  # somebody who prints to find an error wants to see it
        if seen == right:
            self._right_but(function, raw, probes)
            return
        views = [View(seen, right, self.known(probes))]
        several = right[0].value
        if isinstance(several, tuple) and all(
            isinstance(outcome.value, tuple) and len(outcome.value) == len(several)
            for outcome in seen
        ):
            views += [views[0].entry(i) for i in range(len(several))]
        difference, *more = self._first_difference(raw, seen, right, probes)
        borrowed = borrowed_names(function)
        if borrowed:  # instead of a parameter
            self._own_parameters(function, difference, any)
        for view in views:
            view.tell_known()
        self._returned(raw, probes)
        self._own_parameters(function, difference, all)
        for view in views:
            view.tell_twisted()
        self._own_parameters(function, difference, any)
        for outcome in raw:
            if outcome.error is None and outcome.value is not None:
                self.wants(outcome.value)
        for view in views:
            view.tell_partly()
        again = self._read(call(function, probes[0]))
        if again != seen[0]:
            raise Symptom(in_words(DRAWS, difference))
        if change := self._one_change(function, seen, right, probes):
            raise Symptom(in_words(difference, more[0], change))
        if borrowed:
            more.append(
                f"It reads `{'`, `'.join(borrowed)}` from the notebook: should that be a parameter?"
            )
        raise Symptom(in_words(difference, *more))

    def _one_change(
        self, function: Function, seen: Outcomes, right: Outcomes, probes: Sequence[Probe]
    ) -> str:
        """Tell the place where one change would make an answer right on two sets of probes."""
        wrong = [i for i, outcome in enumerate(seen) if outcome != right[i]]
        if not self.probes or all(right[i] == right[wrong[0]] for i in wrong):
            return ""  # too little to go by
        tries = [probes[i] for i in wrong] + [*probes] + [*self.probes(self.chances()[-1])]
        asked = self.outcomes(self.solution, tries)

        def is_right(candidate: Function) -> bool:
            return all(
                self._read(Outcome(candidate(*copy.deepcopy(probe)))) == outcome
                for probe, outcome in zip(tries, asked, strict=True)
            )

        return one_change(function, is_right)

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
                View(seen, self.outcomes(self.solution, some), self.known(some)).tell_known()
            raise Symptom(
                f"With {self._input(probes[nothing[0]])} your function returns nothing: here it "
                "reaches no `return`, or it returns None. Go through it line by line with this "
                "input."
            )
        for outcome in raw if not failed else ():
            refuse_nothing(outcome)

    def _right_but(
        self, function: Function, raw: Sequence[Outcome], probes: Sequence[Probe]
    ) -> None:
        """Refuse results that are right but of the wrong kind, or that somebody else computed."""
        for name in {name for code in codes_of(function) for name in code.co_names}:
            known = getattr(function, "__globals__", {}).get(name)
            if (
                callable(known)
                and is_ours(known)
                and all(
                    self._read(call(known, probe)) == self._read(outcome)
                    for probe, outcome in zip(probes, raw, strict=True)
                )
            ):
                raise Symptom(f"`{name}` computes all of it. {OURS}")
        for outcome, probe in zip(raw, probes, strict=True):
            try:
                self.wants(outcome.value)
            except Symptom as symptom:
                raise Symptom(f"The value is right, but not its form. {symptom}") from None
            names = list(inspect.signature(self.solution).parameters) if probe else []
            for name, now, before in zip(names, outcome.given, probe, strict=True):
                if not alike(as_plain(now), as_plain(before)):
                    raise Symptom(
                        f"The result is right, but your function changes its argument `{name}`, "
                        "which is still needed elsewhere: work on a copy (.clone() of a tensor, "
                        ".copy() of a list or dict)."
                    )

    def _own_parameters(
        self, function: Function, difference: str, few: Callable[[Iterable[bool]], bool]
    ) -> None:
        """Refuse an answer that never looks at its parameters, ``all`` or ``any`` of them."""
        if not callable(self.solution):
            return
        unread = neglected(function)
        if not unread or not few(name in unread for name in inspect.signature(function).parameters):
            return
        borrowed = borrowed_names(function)
        instead = f"; it reads `{'`, `'.join(borrowed)}` from the notebook instead" * bool(borrowed)
        plural = "s" * (len(unread) > 1)
        raise Symptom(
            in_words(
                f"Your function never uses its parameter{plural} `{'` and `'.join(unread)}`"
                f"{instead}. The check calls it with inputs that you have not seen.",
                difference,
            )
        )

    def _parted(self, seen: Outcomes, right: Outcomes, probes: Sequence[Probe]) -> str:
        """Say which parts of the results are right, and which are not."""
        wrong: dict[str, bool] = {}
        for a, b, probe in zip(seen, right, probes, strict=True):
            if kind_of(a.value) != kind_of(b.value):
                return ""
            parts = self.parts(*probe) if self.parts else {}
            for name, where in parts.items():
                if where is ... and len(parts) > 1:  # said by the others
                    continue
                at = np.asarray(where) if isinstance(where, Tensor) else where
                x, y = (v if at is ... else v[at] for v in (a.value, b.value))
                if np.size(y):
                    wrong[name] = wrong.get(name, False) or not alike(x, y)
        fine, faulty = ([n for n, bad in wrong.items() if bad == kind] for kind in (False, True))
        return f"Right: {', '.join(fine)}. Wrong: {', '.join(faulty)}." if fine and faulty else ""

    def _input(self, probe: Probe) -> str:
        parameters = inspect.signature(self.solution).parameters
        shown = list(map(in_short, probe))
        if len(" ".join(shown).split()) > LONG_INPUT:
            shown = [text if " " not in text else kind_of(probe[i]) for i, text in enumerate(shown)]
        return ", ".join(f"{n} = {text}" for n, text in zip(parameters, shown, strict=True))

    def _first_difference(
        self, raw: Outcomes, seen: Outcomes, right: Outcomes, probes: Sequence[Probe]
    ) -> list[str]:
        """Say on which input the answer differs, and how; then what else there is to say."""
        wrong = [i for i, (a, b) in enumerate(zip(seen, right, strict=True)) if a != b]
        at = wrong[0]
        inputs = self._input(probes[at]) if probes[at] else ""
        others = f"Right for {len(raw) - len(wrong)} of {len(raw)} inputs, but " * bool(at)
        if (error := raw[at].error) is not None:
            where = f"{others}this happened" if others else "This happened"
            return [f"Your function raised {error_in_words(error)}", f"({where} with {inputs}.)"]
        shapes = [getattr(outcome.value, "shape", ()) for outcome in (seen[at], right[at])]
        got, truth = (in_short(outcome.value) for outcome in (seen[at], right[at]))
        if shapes[0] != shapes[1]:
            got, truth = (
                f"the shape {tuple(shape)}" if shape else kind_of(outcome.value)
                for shape, outcome in zip(shapes, (raw[at], right[at]), strict=True)
            )
            made, asked = ([getattr(o[i].value, "shape", ()) for i in wrong] for o in (seen, right))
            sizes = [set(size) for size in zip(*made, strict=False)]
            varied = len(set(asked)) > 1
            if varied and any(len(size) == 1 and not size & {1, *shapes[1]} for size in sizes):
                got += ", with a size that never changes (is it a fixed number?),"
        elif got == truth:  # too large to be shown
            got, truth = set_apart(seen[at].value, right[at].value)
        special = ""
        if all(nearly_alike(seen[i].value, right[i].value) for i in wrong):
            got, truth = (repr(outcome.value) for outcome in (seen[at], right[at]))
            special = (
                "That is close. Did you round the result, or a constant such as 0.693 for "
                "math.log(2)?"
            )
        elif re.search(r"\bnan\b", got):
            special = "NaN comes from 0/0, inf − inf, 0 · inf or a logarithm of a negative number."
        elif re.search(r"\binf\b", got):
            special = "Infinity comes from the logarithm of 0 or a division by 0."
        given = f"{others}with {inputs}" if others else f"With {inputs}"
        where = f"{given} you return" if inputs else "Your answer is"
        parted = self._parted(seen, right, probes)
        return [f"{where} {got} instead of {truth}.", special, self.direction, parted]
