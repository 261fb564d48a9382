"""INSTRUCTORS.md says what the notebooks, the checks and the lectures say."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cloze.teaching.mistakes import mistakes_of
from tests.lessons.answers import exercises
from tests.series import NOTEBOOKS, ROOT, code_cells, each_notebook, prose, read

TEXT = (ROOT / "INSTRUCTORS.md").read_text(encoding="utf-8")
PARTS = ["Questions", "Objectives", "Key points", "In class", "Mistakes", "Skip"]


def sections() -> dict[str, str]:
    """Find the section of each notebook, by file: the text from its heading to the next."""
    found = re.findall(
        r"^## \[.+?\]\(notebooks/(\w+)\.ipynb\)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE
    )
    return dict(found)


def part(stem: str, name: str) -> str:
    [text] = re.findall(rf"^\*\*{name}\*\*(.*?)(?=^\*\*|\Z)", sections()[stem], re.M | re.S)
    return str(text).strip()


def headings(path: Path) -> set[str]:
    return set(re.findall(r"^##+ (.+)$", prose(path), re.M))


def checks(path: Path) -> dict[str, str]:
    """Find the check of every exercise of a notebook, by the number of the exercise."""
    numbers = re.findall(r"^### Exercise (\d+\.\d+)", prose(path), re.M)
    calls = [c.source.splitlines()[-1] for c in code_cells(path)]
    names = [call[1] for line in calls if (call := re.fullmatch(r"check_(\w+)\(\w+\)", line))]
    return dict(zip(numbers, names, strict=True))


def sentences_of_checks(path: Path) -> list[str]:
    """Find the sentences of a lesson's checks that are not in mistakes.md."""
    source = ROOT / "src" / "cloze" / "lessons" / path.stem[3:] / "checks.py"
    nodes = ast.walk(ast.parse(source.read_text("utf-8")))
    return [str(node.value) for node in nodes if isinstance(node, ast.Constant)]


def test_every_notebook_has_a_section_under_its_name() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| (\[\d\d · .+?\]\(notebooks/\w+\.ipynb\)) \|", readme, re.M)
    assert re.findall(r"^## (\[\d\d · .+)$", TEXT, re.M) == named
    assert list(sections()) == [path.stem for path in NOTEBOOKS]


@each_notebook
def test_a_section_has_all_parts(path: Path) -> None:
    section = sections()[path.stem]
    assert re.findall(r"^\*\*(.+?)\*\*", section, re.M) == ["Teaching", *PARTS]
    for name in ("Questions", "Key points"):
        lines = part(path.stem, name).splitlines()
        assert len(lines) >= 3
        assert all(re.match(r"- .+[?.]$", line) for line in lines)


@each_notebook
def test_the_objectives_are_the_notebook_s(path: Path) -> None:
    [own] = re.findall(r"\*\*You will be able to\*\* (.+)", prose(path))
    assert part(path.stem, "Objectives") == f"- {own}"


@each_notebook
def test_every_mistake_is_one_that_its_check_knows(path: Path) -> None:
    listed = re.findall(
        r"^- \*\*(\d+\.\d+)\*\* “(.+?)” — .+[.?!]$", part(path.stem, "Mistakes"), re.M
    )
    assert len(listed) == len(part(path.stem, "Mistakes").splitlines())
    for number, quote in listed:
        mistakes = mistakes_of(exercises()[checks(path)[number]])
        known = [*mistakes, *sentences_of_checks(path)]
        assert any(quote in symptom for symptom in known), f"{number}: {quote}"


@each_notebook
def test_what_may_be_skipped_is_there(path: Path) -> None:
    skipped = re.findall(r"\*([^*]+)\*", part(path.stem, "Skip"))
    assert skipped
    assert set(skipped) <= headings(path)


@each_notebook
def test_numbers_are_those_of_the_notebook(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    numbers = re.findall(r"(?<![\d.*])\d+\.\d+(?![\d*])", part(path.stem, "Key points"))
    assert [number for number in numbers if number not in text] == []


def plan(title: str) -> str:
    [text] = re.findall(rf"^### {title}\n(.*?)(?=^##)", TEXT, re.M | re.S)
    return str(text)


@pytest.mark.parametrize("minutes", [60, 90])
def test_a_plan_follows_its_lecture(minutes: int) -> None:
    lecture = read(ROOT / "lecture" / f"{minutes}_minutes.ipynb")
    notes = [cell.source for cell in lecture.cells if "notes" in cell.metadata.get("tags", ())]
    times = [int(re.match(r"\*\*(\d+) min\.", note)[1]) for note in notes]  # type: ignore[index]
    rows = re.findall(r"^\| (\d+)(?:–(\d+))? \| (\d+) \|", plan(f"{minutes} minutes"), re.M)
    ranges = [(int(first), int(last or first), int(n)) for first, last, n in rows]
    screens = [screen for first, last, _ in ranges for screen in range(first, last + 1)]
    assert screens == list(range(1, len(times) + 1))
    for first, last, n in ranges:
        assert n == sum(times[first - 1 : last]), f"screens {first} to {last}"
    assert sum(n for *_, n in ranges) == minutes


def test_the_plan_of_three_names_what_there_is() -> None:
    text = plan("Three times 90 minutes")
    there = {number for path in NOTEBOOKS for number in checks(path)}
    assert set(re.findall(r"\d+\.\d+", text)) <= there
    every = set().union(*map(headings, NOTEBOOKS))
    assert set(re.findall(r"\*([^*]+)\*", text)) <= every
