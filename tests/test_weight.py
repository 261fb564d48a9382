"""The project stays small: what is counted, and that its sums keep to their limits."""

from __future__ import annotations

import pytest

from tests.weight import LIMITS, other_lines, python_lines, sums, weights


def test_only_code_is_counted() -> None:
    python = '"""About it."""\n\n# a comment\nx = """two\nlines"""\n'
    python += 'def f():\n    "why"\n    return x\n'
    assert python_lines(python) == 4
    script = '/* about\n   it */\nconst url = "http://a"; // said\n\n// no code\nf(`\n//code`);\n'
    assert other_lines(script) == 3


@pytest.mark.parametrize("name", LIMITS)
def test_the_sums_keep_to_their_limits(name: str) -> None:
    assert sums(weights())[name] <= LIMITS[name], "python -m tests.weight shows what grew"
