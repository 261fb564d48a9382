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
import inspect
import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from torch import Tensor

from cloze.teaching.mistakes import Mistakes
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
    is_number,
    kind_of,
    nearly_alike,
    set_apart,
)
from cloze.teaching.symptoms import (
    PLAIN,
    RELATIONS,
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
        part = f"Number {i + 1} of your answer: "
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
                twisted = [Outcome(after(function, outcome.value)) for outcome in outcomes]
                if twisted == seen:
                    raise Symptom(self.part + (f"{twist} And: {symptom}" if symptom else twist))

    def tell_constant(self) -> None:
        """Tell that the result is the same for every input, though the right one is not."""
        first = self.seen[0]
        constant = len(self.seen) > 2 and all(seen == first for seen in self.seen)
        if constant and self.seen != self.right and is_number(first.value):
            raise Symptom(
                f"{self.part}You return {in_short(first.value)} whatever the input. Is it a fixed "
                "number, is it cut off by // or int(), or is a condition always true or false? "
                f"{self.direction}".rstrip()
            )

    def tell_related(self, sizes: Sequence[Mapping[str, float]]) -> None:
        """Tell by which of the sizes in the input, or by what factor, the result is off."""
        pairs = [(a.value, b.value) for a, b in zip(self.seen, self.right, strict=True)]
        numbers = all(is_number(a) and is_number(b) for a, b in pairs)
        if self.seen == self.right or len(pairs) < 3 or not numbers:
            return

        def tell(words: str) -> None:
            raise Symptom(f"{self.part}{words} {self.direction}".rstrip())

        for words, relation in RELATIONS.items():
            for name in sizes[0]:
                related = [
                    Outcome(relation(b, s[name])) for (_, b), s in zip(pairs, sizes, strict=True)
                ]
                if related == self.seen:
                    tell(words.format(name))
        factors = [seen / right if right else math.nan for seen, right in pairs]
        if abs(factors[0] - 1) > 0.02 and all(alike(factor, factors[0]) for factor in factors):
            tell(
                f"Your result is always {in_short(factors[0])} times the right one: a factor is "
                "missing, or there is one too many."
            )

    def tell_likeliest(self) -> None:
        """Tell the mistake that explains all wrong results or all but one, and four at least."""
        wrong = [i for i, seen in enumerate(self.seen) if seen != self.right[i]]

        def explained(symptom: str) -> int:
            hits = [self.seen[i] for i in wrong if self.seen[i] == self.known[symptom][i]]
            # Errors (shapes that do not fit) and hits that are all alike, say 0, may be accidents.
            hits = [hit for hit in hits if hit.error is None]
            return len(hits) if any(hit != hits[0] for hit in hits) else 0

        best = max(self.known, key=explained, default="")
        if best and explained(best) >= max(4, len(wrong) - 1):
            raise Symptom(f"For some inputs: {best}")
        for twist, function in TWISTS.items():
            twisted = [Outcome(after(function, self.right[i].value)) for i in wrong]
            numbers = all(is_number(outcome.value) for outcome in twisted)
            varied = any(outcome != twisted[0] for outcome in twisted)
            if (
                numbers
                and varied
                and "than the right" not in twist
                and twisted == [self.seen[i] for i in wrong]
            ):
                raise Symptom(f"{self.part}For some inputs: {twist}")


@dataclass(frozen=True)
class Exercise:
    """An exercise that marks an answer when it is called with one.

    Attributes:
        solution: The reference: a function with the names that the notebook uses, or a value.
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
                self.compare(answer, self.probes(self.chance()))
            elif not callable(self.solution) and not self.judge:
                self.compare(lambda: answer, [()])
            seen = self.judge(answer) if self.judge else None
        except (Symptom, TextError) as symptom:
            return not_yet(str(symptom))
        beyond = [
            remark
            for remark, probe in self.limits.items()
            if self._read(call(answer, probe)) != self._read(call(self.solution, probe))
        ]
        return correct(" ".join(filter(None, [seen, self.solved, *beyond])))

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds whose probes are known to tell the solution and all mistakes apart."""
        return self.mistakes.seeds if isinstance(self.mistakes, Mistakes) else ()

    def chance(self) -> random.Random:
        """Take one of the seeds at random, any if there are none."""
        own = random.Random()  # noqa: S311 - the notebook's random numbers are left alone
        return random.Random(own.choice(self.seeds)) if self.seeds else own  # noqa: S311

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
        used = {name for code in codes_of(answer) for name in code.co_names}
        for forbidden, sentence in self.without.items():
            if forbidden in used:
                raise Symptom(sentence)

    def _read(self, outcome: Outcome) -> Outcome:
        """Make an outcome comparable: as what is asked for if it is that, else as it is."""
        value = outcome.value
        with contextlib.suppress(Symptom):
            value = self.wants(value)
        return Outcome(as_plain(value), outcome.error)

    def outcomes(self, answer: Any, probes: Sequence[Probe]) -> list[Outcome]:
        """Return what is compared: what an answer gives on every probe."""
        function = answer if callable(answer) else lambda: answer
        return [self._read(call(function, probe)) for probe in probes]

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
            self._right_but(raw, probes)
            return
        self._exchanged(function)
        views = [View(seen, right, self.known(probes), self.direction)]
        several = right[0].value
        if isinstance(several, tuple) and all(
            isinstance(outcome.value, tuple) and len(outcome.value) == len(several)
            for outcome in seen
        ):
            views += [views[0].entry(i) for i in range(len(several))]
        told = self._first_difference(raw, seen, right, probes)
        borrowed = borrowed_names(function)
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
        self._by_case(views[0], probes)
        sizes = list(map(self._sizes, probes))
        for view in views:
            view.tell_likeliest()
            view.tell_related(sizes)
        again = self._read(call(function, probes[0]))
        if again != seen[0]:
            raise Symptom(
                "Your function gives a different answer to the same input each time, so it draws "
                f"random numbers. The exercise can be answered exactly, without any. {told}"
            )
        beside = (
            f" It reads `{'`, `'.join(borrowed)}` from the notebook: should that be a parameter?"
        )
        raise Symptom(told + beside * bool(borrowed))

    def _exchanged(self, function: Function) -> None:
        """Refuse an answer whose parameters have the right names in another order."""
        asked, own = ([], [])
        with contextlib.suppress(TypeError, ValueError):  # a value, or a built-in function
            asked, own = (list(inspect.signature(f).parameters) for f in (self.solution, function))
        if own != asked and sorted(own) == sorted(asked):
            raise Symptom(
                f"Your parameters are ({', '.join(own)}), but the arguments come in another "
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
                View(seen, self.outcomes(self.solution, some), self.known(some)).tell_known()
            raise Symptom(
                f"With {self._input(probes[nothing[0]])} your function returns nothing: here it "
                "reaches no `return`, or it returns None. Go through it line by line with this "
                "input."
            )
        for outcome in raw if not failed else ():
            refuse_nothing(outcome)

    def _right_but(self, raw: Sequence[Outcome], probes: Sequence[Probe]) -> None:
        """Refuse results that are right but of the wrong kind, or bought by changing arguments."""
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
        self, function: Function, told: str, few: Callable[[Iterable[bool]], bool]
    ) -> None:
        """Refuse an answer that never looks at its parameters, ``all`` or ``any`` of them."""
        if not callable(self.solution):
            return
        unread = neglected(function)
        if not unread or not few(name in unread for name in inspect.signature(function).parameters):
            return
        borrowed = borrowed_names(function)
        instead = f"; it reads `{'`, `'.join(borrowed)}` from the notebook instead" * bool(borrowed)
        raise Symptom(
            f"Your function never uses its parameter{'s' * (len(unread) > 1)} "
            f"`{'` and `'.join(unread)}`{instead}. The check calls it with inputs that you have "
            f"not seen. {told}"
        )

    def _by_case(self, view: View, probes: Sequence[Probe]) -> None:
        """Tell the mistake that explains all results of a kind of input."""
        kinds: dict[str, list[int]] = {}
        for i, probe in enumerate(probes):
            for name, where in self.parts(*probe).items() if self.parts else ():
                if where is ...:
                    kinds.setdefault(name, []).append(i)
        for name, chosen in kinds.items():
            if len(chosen) < 2:
                continue

            def of(outcomes: Outcomes, chosen: Sequence[int] = chosen) -> Outcomes:
                return [outcomes[i] for i in chosen]

            known = {symptom: of(outcomes) for symptom, outcomes in view.known.items()}
            try:
                View(of(view.seen), of(view.right), known).tell_known()
            except Symptom as symptom:
                raise Symptom(f"For {name}: {symptom}") from None

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
        return f" Right: {', '.join(fine)}. Wrong: {', '.join(faulty)}." if fine and faulty else ""

    def _sizes(self, probe: Probe) -> dict[str, float]:
        """Name the numbers of an input, and the lengths of its lists, texts and tensors."""
        sizes = {}
        names = inspect.signature(self.solution).parameters if probe else ()
        for name, value in zip(names, probe, strict=True):
            if is_number(value):
                sizes[f"`{name}`"] = value
            elif hasattr(value, "__len__"):
                sizes[f"`len({name})`"] = len(value)
        return sizes

    def _input(self, probe: Probe) -> str:
        parameters = inspect.signature(self.solution).parameters
        return ", ".join(f"{n} = {in_short(v)}" for n, v in zip(parameters, probe, strict=True))

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
        others = f"Right for {len(raw) - len(wrong)} of {len(raw)} inputs, but " * bool(at)
        if (error := raw[at].error) is not None:
            where = f"{others}this happened" if others else "This happened"
            return f"Your function raised {error_in_words(error)} ({where} with {inputs}.)"
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
                " That is close. Did you round the result, or a constant such as 0.693 for "
                "math.log(2)?"
            )
        elif re.search(r"\bnan\b", got):
            special = " NaN comes from 0/0, inf − inf, 0 · inf or a logarithm of a negative number."
        elif re.search(r"\binf\b", got):
            special = " Infinity comes from the logarithm of 0 or a division by 0."
        special += self._parted(seen, right, probes)
        given = f"{others}with {inputs}" if others else f"With {inputs}"
        where = f"{given} you return" if inputs else "Your answer is"
        return f"{where} {got} instead of {truth}.{special} {self.direction}".rstrip()
