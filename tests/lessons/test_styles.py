"""Widgets of several lessons may stand on one page, and their styles must not meet there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cloze

HOME = Path(cloze.__file__).parent
SHEETS = {
    path.relative_to(HOME).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(HOME.rglob("*.css"))
}


def selectors(sheet: str) -> list[str]:
    """List the selectors of all rules, those within @media as well."""
    without = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    return [found.strip() for found in re.findall(r"([^{}]+)\{(?=[^{}]*\})", without)]


def classes(text: str) -> set[str]:
    return set(re.findall(r"\.([a-z][\w-]*)", text)) - {"cloze"}


OWN = sorted(set(SHEETS) - {"widgets/browser/view.css"})
"""What styles one widget; the other one styles all of them."""


@pytest.mark.parametrize("name", OWN)
def test_each_rule_names_something_that_no_other_widget_knows(name: str) -> None:
    known = set[str]().union(
        *(
            classes(" ".join(selectors(SHEETS[other])))
            for other in OWN
            if Path(other).parent != Path(name).parent  # the explorer's views share its line
        )
    )
    shared = [each for each in selectors(SHEETS[name]) if not classes(each) - known]
    assert not [each for each in shared if each not in ("from", "to")]  # of an animation
