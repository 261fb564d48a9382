"""What every exercise says of any answer, whatever the exercise is about."""
# ruff: noqa: ARG001, ARG005, RET503 - answers forget arguments, and to return

from __future__ import annotations

import math
import operator
import random
import sys
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import cloze.loss
from cloze.lessons.training.checks import check_train_step
from cloze.loss import mlm_loss
from cloze.tasks.heads import best_span
from cloze.teaching.exercise import Chance, Exercise
from cloze.teaching.results import (
    Probes,
    Symptom,
    anything,
    number,
    number_with_gradient,
    numbers,
    tensor,
)
from cloze.teaching.symptoms import ask


@pytest.fixture(autouse=True)
def one_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw probes once: these exercises are not made for all seeds."""
    monkeypatch.setattr("cloze.teaching.exercise.SEEDS", [0])


def refuses(exercise: Exercise, answer: Any, *words: str) -> None:
    verdict = exercise(answer)
    assert not verdict.solved, verdict
    assert repr(verdict).startswith("Not yet. ")
    for word in words:
        assert word in verdict.message, verdict.message


# ── numbers ──


def rate(part: float, whole: float) -> float:
    return part / whole


def parts(chance: Chance) -> Probes:
    return [(1.0, 3.0), *((chance.uniform(1, 2), chance.uniform(3, 9)) for _ in range(4))]


check_rate = Exercise(
    solution=rate,
    wants=number,
    probes=parts,
    solved="A share.",
    direction="Divide.",
    limits={"It fails for 0.": (0.0, 0.0)},
    without={"truediv": "Write / instead."},
    mistakes={
        "You multiplied.": lambda part, whole: part * whole,
        "You return the whole for small parts.": lambda p, w: p / w if p > 1.2 else w,
    },
)
whole, part = 3.0, 1.0
sought = 2.0


def forgets_a_branch(part: float, whole: float) -> float | None:  # type: ignore[return]
    if whole > 3:
        return part / whole


def returns_in_a_loop(part: float, whole: float) -> float | None:  # type: ignore[return]
    for _ in range(int(whole > 3)):
        return part * whole


def squares(part: float, whole: float) -> float:
    return part / whole**2


def keyword_only(*, part: float, whole: float) -> float:
    return part / whole


async def in_turn(part: float, whole: float) -> float:
    return part / whole


kept: list[float] = []


def remembers(part: float, whole: float) -> float:
    kept.append(part / whole)
    return sum(kept)


def remembers_the_largest(part: float, whole: float, largest: list[float] = [0.0]) -> float:  # noqa: B006
    largest[0] = max(largest[0], part / whole)
    return largest[0]


class Odd(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError


def raises_something_odd(part: float, whole: float) -> float:
    raise Odd(part / whole)


def misspelled(part: float, whole: float) -> float:
    return prt / whole  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    "right",
    [
        lambda a, b: a / b,
        lambda *given: given[0] / given[1],
        lambda a, b: torch.tensor(a) / b,
        lambda a, b: np.float32(a) / np.float32(b),
    ],
)
def test_a_number_is_right_in_any_form(right: Callable[..., Any]) -> None:
    assert check_rate(right).solved


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (..., "Replace the ..."),
        (None, "Replace the ..."),
        (lambda a, b: a / ..., "Replace the ..."),
        (0.333, "You hand in a number (0.333)"),
        (0.333, "without calling it: check_rate(rate)"),
        (lambda a, b: None, "is a `return` missing?"),
        (lambda a, b: print(a / b), "`print` only shows a result"),
        (forgets_a_branch, "With part = 1, whole = 3 your function returns nothing"),
        (lambda a: a, "takes 1 parameter (a), but it is called with 2: rate(part, whole)"),
        (
            lambda a, b: f"{a / b}",
            "a string; the exercise asks for one number. Do you add up characters, or use quotes",
        ),
        (lambda a, b: torch.tensor([a, b]), "a tensor of shape (2,)"),
        (lambda a, b: filter(None, [a, b]), "It has computed nothing yet"),
        (lambda a, b: (a / b).hex, "brackets () of a call missing?"),
        (lambda a, b: [a, b], "Did you forget to take its sum"),
        (lambda a, b: (a / b, b), "A comma after `return` makes a tuple"),
        (lambda a, b: [a].__getitem__((a, b)), "lists and dictionaries write table[i][c]"),  # type: ignore
        (lambda a, b: a.hex[0] / b, "are the brackets () of a call missing?"),
        (returns_in_a_loop, "You multiplied."),
        (lambda a, b: a / b * 1.004, "That is close. Did you round the result"),
        (lambda a, b: a > b, "Your answer is True or False; the exercise asks for one number"),
        (lambda a, b: round(a / b, 2), "rounded (to 2 digits)"),
        (lambda a, b: a // b, "0 for every input. Is it cut off, as by // or int()"),
        (lambda a, b: 100 * a / b, "in per cent"),
        (lambda a, b: -a / b, "the other sign"),
        (lambda a, b: 1 - a / b, "1 minus the right one"),
        (lambda a, b: b / a, "upside down"),
        (lambda a, b: a * b, "You multiplied."),
        (lambda a, b: round(a * b, 1), "rounded (to 1 digit); return it in full"),
        (lambda a, b: a / sought, "never uses its parameter `b`; it reads `sought` from the"),
        (squares, "makes it right: look at `part / whole**2`."),
        (lambda a, b: a / b + math.sqrt(a), "With part = 1, whole = 3 you return 1.333 instead of"),
        (misspelled, "Did you mean `part`?"),
        (lambda a, b: a / b if a == 1 else b + a, "Right for 1 of 5 inputs, but with"),
        (
            lambda a, b: np.min(a, int(b)),
            "The second argument of NumPy's min, max and sum is an axis",
        ),
        (lambda a, b: a ^ b, "Write a power with **"),
        (lambda a, b: a / b * math.nan, "nan instead of 0.3333. NaN comes from"),
        (lambda a, b: a / b + random.random(), "a different answer to the same input each time"),
        (lambda a, b: log(a / b), "NameError: name 'log' is not defined. Write math.log."),  # type: ignore[name-defined]  # noqa: F821
        (lambda a, b: a(b), "Round brackets call a function"),
        (lambda a, b: math.log(-a * b), "There is no logarithm of 0 or of a negative number"),
        (lambda a, b: exit(int(a + b)), "Leave out exit() and quit()"),
        (lambda a, b: (a, quit)[0] / b, "Leave out exit() and quit()"),
        (lambda a, b: a / float(input(b)), "Leave out input()"),
        (lambda whole, part: part / whole, "in another order: the check gives part, whole."),
        (keyword_only, "The check calls rate(part, whole), by position: leave out the `*`"),
        (in_turn, "Leave out `async`"),
        (Symptom, "You hand in a class"),
        (lambda a, b: Decimal(a) / Decimal(b), "an object of type Decimal"),
        (lambda a, b: (a - b) ** 0.5, "a complex number; the exercise asks for one number. A pow"),
        (lambda a, b: a * 0 + b * 0 + 7, "Your result is 7 for every input. Divide."),
        (lambda a, b: float(3 * a > b), "Your result is only ever 0 or 1"),
        (lambda a, b: a / (b + 1e-4), "or add a small number?"),
        (remembers, "it remembers something from call to call"),
        (remembers_the_largest, "it remembers something from call to call"),
        (lambda a, b: a / b * np.random.default_rng().random(), "a generator of its own"),
        (lambda a, b: a / b + int(torch.randint(99, ())), "it draws random numbers."),
        (raises_something_odd, "Your function raised Odd."),
        (lambda a, b: torch.ones(10**13) * a / b, "There is not that much memory"),
        (lambda a, b: torch.tensor([a, b]).sum(dim=1), "does not have so many dimensions"),
        (lambda a, b: torch.ones(1, 3)[int(b)], "The first dimension has a single entry."),
        (lambda a, b: torch.exp(a) / b, "This function of torch takes a tensor."),
        (lambda a, b: mlm_loss(torch.tensor(a), torch.ones(2).long()), "takes the logits first"),
        (lambda a, b: best_span(torch.tensor([a, b])), "A function of the package expects"),
        (lambda a, b: operator.truediv(a, b), "Write / instead."),
        (lambda a, b: a / b if torch.zeros(2) == b else 0, "torch.where(condition, a, b)"),
    ],
)
def test_wrong_numbers(answer: Any, words: str) -> None:
    refuses(check_rate, answer, words)


def test_a_variable_of_the_notebook_comes_before_a_mistake_that_it_leads_to() -> None:
    multiplied = {"You multiplied.": lambda part, whole: part * whole}
    check = Exercise(
        rate, number, "", mistakes=multiplied, probes=lambda _: [(1.0, 3.0), (2.0, 3.0)]
    )
    refuses(
        check, lambda a, b: a * whole, "parameter `b`; it reads `whole` from the notebook instead"
    )


def test_a_limit_follows_correct() -> None:
    assert check_rate(rate).message == "Correct. A share."
    zero: Callable[..., float] = lambda a, b: a / b if b else 0.0  # noqa: E731
    assert check_rate(zero).message == "Correct. A share. It fails for 0."


def test_an_answer_is_right_only_with_the_probes_of_every_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cloze.teaching.exercise.SEEDS", [0, 1])
    first = check_rate.drawn(0)
    assert not check_rate(lambda a, b: a / b if (a, b) in first else 0.0).solved


def test_what_a_learner_prints_is_shown_once_and_cut(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(part: float, whole: float) -> float:
        print("I see", part, file=sys.stderr)
        print("ab" * 9_000)
        return part / whole

    assert check_rate(prints).solved
    out, err = capsys.readouterr()
    assert out.startswith("I see 1.0\nabab")
    assert out.endswith("ab… (and 16,011 more characters)\n")
    assert not err


def test_an_interrupt_is_not_an_answer() -> None:
    def interrupted(part: float, whole: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_rate(interrupted)


def test_a_loop_without_end_is_stopped_and_slow_neighbours_change_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cloze.teaching.results.LONGEST", 0.05)

    def endless(a: float, b: float) -> float:
        while a < b:
            pass
        return a / b

    def stopped_late(a: float, b: float) -> float:
        return sum(chain(repeat(a, 5 * 10**6), "x")) / b  # type: ignore[arg-type]

    def waits_for_its_turn(a: float, b: float) -> float:
        time.sleep(0.1)
        return a / b

    message = check_rate(endless).message
    assert message.startswith("Not yet. With a = 1, b = 3 your function is still computing")
    assert check_rate(waits_for_its_turn).solved
    output = sys.stdout, sys.stderr, list(warnings.filters)
    assert not check_rate(stopped_late).solved
    assert output == (sys.stdout, sys.stderr, list(warnings.filters))


def test_too_much_memory_is_not_called_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cloze.teaching.results.LARGEST", -(2**40))

    def large(a: float, b: float) -> float:
        while a < b:
            pass
        return a / b

    refuses(check_rate, large, "With a = 1, b = 3 your function takes more than a gigabyte")


def test_the_random_numbers_of_the_notebook_are_left_alone() -> None:
    before = random.getstate(), torch.get_rng_state()
    check_rate(lambda a, b: a)
    check_train_step(check_train_step.solution)
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


# ── several numbers ──

check_both = Exercise(
    solution=lambda a, b: (a / b, a + b),
    wants=numbers("ratio", "sum"),
    probes=parts,
    solved="Both.",
    mistakes={"The sum is a difference.": lambda a, b: (a / b, a - b)},
)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda a, b: (a / b, ...), "Replace the ..."),
        (lambda a, b: (a / b, None), "Your sum is None"),
        (lambda a, b: a / b, "2 numbers, ratio, sum, with commas between them"),
        (lambda a, b: (a / b, a - b), "The sum is a difference."),
    ],
)
def test_wrong_pairs_of_numbers(answer: Any, words: str) -> None:
    refuses(check_both, answer, words)


def test_several_numbers_may_be_a_list_or_a_tensor() -> None:
    assert check_both(lambda a, b: [a / b, torch.tensor(a + b)]).solved
    assert check_both(lambda a, b: torch.tensor([a / b, a + b])).solved


# ── tensors ──


def hide(ids: Tensor, at: int) -> Tensor:
    return torch.where(torch.arange(len(ids)) > at, 28, ids)


def rows(chance: Chance) -> Probes:
    return [(torch.tensor([chance.randrange(28) for _ in range(n)]), 2) for n in (6, 5, 9)]


check_hide = Exercise(hide, tensor(torch.long), "Hidden.", probes=rows)
check_square = Exercise(
    lambda n: torch.ones(n, n, dtype=torch.bool).tril(),
    tensor(torch.bool),
    "Square.",
    probes=lambda chance: [(4,), (chance.randint(5, 9),), (3,)],
)
check_gradient = Exercise(
    lambda values: values.square().mean(),
    number_with_gradient,
    "It flows.",
    probes=lambda chance: [(torch.rand(n, requires_grad=True),) for n in (3, 4, 5)],
)


def writes(ids: Tensor, at: int) -> Tensor:
    ids[at + 1 :] = 28
    return ids


def writes_all(ids: Tensor, at: int) -> Tensor:
    hidden = ids.clone()
    hidden[torch.arange(len(ids)) > at] = ids
    return hidden


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (check_square, lambda n: torch.ones(n, 11).bool(), "a size that never changes"),
        (check_hide, writes, "The result is right, but your function changes its argument `ids`"),
        (check_hide, lambda i, at: hide(i, at).float(), "The value is right, but not its form"),
        (check_hide, lambda i, at: hide(i, at).tolist(), "whole numbers: torch.tensor(…) makes"),
        (check_hide, lambda i, at: hide(i, at)[None], "one dimension too many in front"),
        (check_hide, lambda i, at: hide(i, at).flip(0), "in the opposite order"),
        (check_hide, writes_all, "the same condition in the square brackets on both sides"),
        (check_hide, lambda i, at: hide(i, at) + torch.ones(7), "The shapes do not fit"),
        (check_hide, lambda i, at: torch.arange(len(i)) <= at, "a mask only says where"),
        (check_square, lambda n: check_square.solution(n).int(), "a comparison such as a <= b"),
        (check_square, lambda n: ~check_square.solution(n), "inverted"),
        (check_square, lambda n: check_square.solution(n).T, "transposed"),
        (check_gradient, lambda v: v.square().mean().item(), "no longer a tensor"),
        (check_gradient, lambda v: v.detach().square().mean(), "No gradient flows back"),
        (check_gradient, lambda v: np.square(v.numpy()).mean(), "flows back through NumPy"),
    ],
)
def test_wrong_tensors(check: Exercise, answer: Any, words: str) -> None:
    refuses(check, answer, words)


# ── values, and a closer look ──


def test_a_value_is_compared_as_it_is() -> None:
    check = Exercise({"A": 2}, anything, "Found.", mistakes={"That is B's.": {"A": 1}})
    assert check({"A": 2.0}).solved
    refuses(check, {"A": ...}, "Replace the ...")
    refuses(check, {"A": 1}, "That is B's.")
    refuses(check, lambda: {"A": 2}, "You hand in a function")
    refuses(check, {"A": 3}, "one more than the right one")
    refuses(check, {"A": 17}, "Your answer is {'A': 17} instead of")
    refuses(Exercise(2, number, "Two."), lambda: 2, "Are the brackets () of a call missing?")


def test_a_judge_looks_closer() -> None:
    def judge(function: Callable[..., Any]) -> None:
        if ask(function, 3) % 2:
            raise Symptom("That is odd.")

    check = Exercise(lambda n: 2 * n, number, "Even.", judge=judge)
    assert check(lambda n: 4).solved
    refuses(check, lambda n: n, "That is odd.")
    refuses(check, lambda n: print(n), "`print` only shows")
    refuses(check, lambda n: n / 0, "Your function raised ZeroDivisionError")


def test_a_function_of_the_package_is_refused_by_whatever_name() -> None:
    def imports(logits: Tensor, labels: Tensor) -> Tensor:
        from cloze.loss import mlm_loss as ours

        return ours(logits, labels)

    check = Exercise(
        lambda logits, labels: F.cross_entropy(logits, labels),
        number,
        probes=lambda chance: [(torch.rand(n, 5), torch.arange(n)) for n in (2, 3, 5)],
    )
    for answer in (imports, lambda a, b: cloze.loss.mlm_loss(a, b), lambda a, b: mlm_loss(a, b)):
        refuses(check, answer, "`mlm_loss` computes all of it.")


def test_of_two_tables_one_entry_is_shown_and_the_rule_comes_before_the_input() -> None:
    check = Exercise(
        lambda table: table / table.norm(dim=1, keepdim=True),
        tensor(torch.float32),
        direction="Divide each row by its length, and so on, and so on" * 4,
        probes=lambda chance: [(torch.ones(n, 4) * n,) for n in (3, 2)],
    )
    refuses(check, lambda table: 2 * table, "You return 6 at [0, 0] instead of 0.5. Divide")
    refuses(check, lambda table: 0 * table, "Every entry of your tensor is 0, for every input.")


def test_long_lists_that_begin_alike_are_set_apart() -> None:
    long = [*range(20)]
    check = Exercise(lambda n: long[:n], anything, "Counted.", probes=lambda _: [(9,), (12,)])
    refuses(check, lambda n: long[: n + 1], "you return 10 entries (the last is 9) instead of 9")
    refuses(check, lambda n: [*long[: n - 1], 2 * n], "you return 18 at [8] instead of 8")
