"""The example lesson of CONTRIBUTING.md is a lesson."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import cloze.lessons
from cloze.teaching.figures import Picture
from cloze.teaching.quiz import questions_of

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")


def test_the_example_lesson_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    printed = re.findall(r"`(\w+\.\w+)`[^\n`]*:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    for name, text in [("__init__.py", ""), *printed]:
        (folder / name).write_text(text, "utf-8")
    monkeypatch.setattr(cloze.lessons, "__path__", [*cloze.lessons.__path__, str(tmp_path)])
    checks, figures = (
        import_module(f"cloze.lessons.tiny.{name}") for name in ("checks", "figures")
    )
    assert checks.check_twice(lambda x: x + x).solved
    assert "You squared it" in checks.check_twice(lambda x: x**2).message
    assert isinstance(figures.doubling([1, 2, 3]), Picture)
    monkeypatch.setattr("cloze.teaching.quiz.files", lambda _: tmp_path)
    assert len(questions_of("tiny")) == 1
