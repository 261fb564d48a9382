"""What all checks have in common; what each one recognises is in test_checks_NN.py."""

from collections.abc import Callable
from typing import Any

import pytest

from cloze import checks
from cloze.checks import Verdict

Check = Callable[[Any], Verdict]
CHECKS: list[Check] = [check for name, check in vars(checks).items() if name.startswith("check_")]
OF_VALUES = {"check_culprit", "check_diagnosis", "check_right_finding"}
OF_FUNCTIONS = [check for check in CHECKS if check.__name__ not in OF_VALUES]


def raising(*_: object) -> None:
    raise KeyError("nothing of that name")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("empty", [..., None])
def test_an_empty_cell_is_not_yet(check: Check, empty: Any) -> None:
    verdict = check(empty)
    assert not verdict.solved
    assert repr(verdict).startswith("Not yet. Replace the ...")


@pytest.mark.parametrize("check", OF_FUNCTIONS)
@pytest.mark.parametrize("empty", [lambda *_: None, lambda *_: ...])
def test_a_function_without_an_answer_is_not_yet(check: Check, empty: Any) -> None:
    verdict = check(empty)
    assert not verdict.solved
    assert repr(verdict).startswith("Not yet. ")
    assert "eplace the ..." in repr(verdict)


@pytest.mark.parametrize("check", OF_FUNCTIONS)
def test_a_function_that_raises_is_told_what_it_raised(check: Check) -> None:
    verdict = check(raising)
    assert not verdict.solved
    assert "raised KeyError: 'nothing of that name'" in verdict.message
