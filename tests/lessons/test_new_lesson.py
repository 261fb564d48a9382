"""A new lesson is one notebook, one folder and its tests: nothing that is there is edited.

A copy of the project gets a tiny lesson, and what every lesson is tested with is run on it there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
STEM = f"{len(list((ROOT / 'notebooks').glob('*.ipynb'))):02}_tiny"

FILES = {
    "__init__.py": '"""Tiny: a lesson that shows what a lesson is made of."""\n',
    "checks.py": '''"""The exercise of this lesson."""

from cloze.teaching.exercise import Exercise
from cloze.teaching.mistakes import Mistakes
from cloze.teaching.results import number


def twice(x):
    """Return two times x."""
    return 2 * x


check_twice = Exercise(
    solution=twice,
    wants=number,
    probes=lambda rng: [(rng.randint(3, 99),) for _ in range(5)],
    mistakes=Mistakes(__name__, "twice"),
    solved="Two of them.",
)
''',
    "mistakes.md": """# twice

## You squared it; add it to itself.

`2 * x` → `x * x`
""",
    "seeds.json": '{"twice": [0, 1, 2, 3, 4, 5, 6, 7]}\n',
    "figures.py": '''"""The figure of this lesson."""

from matplotlib.figure import Figure

from cloze.teaching.figures import new_figure, picture
from cloze.teaching.palette import BLUE


@picture
def doubling(values: list[float]) -> tuple[Figure, str]:
    """Draw values beside their doubles."""
    figure, axes = new_figure()
    axes.plot(values, [2 * value for value in values], color=BLUE)
    return figure, f"A line of values and their doubles, which ends at {2 * values[-1]}."
''',
    "quiz.md": "\n".join(
        f"""## Question {n}: what is two times {n}?

- [{"x" if n % 2 else " "}] It is {2 * n if n % 2 else n * n + 1}.

  {"That is what adding it to itself gives." if n % 2 else "That is the square and one."}

- [{" " if n % 2 else "x"}] It is {n * n + 1 if n % 2 else 2 * n}.

  {"That is the square and one." if n % 2 else "That is what adding it to itself gives."}
"""
        for n in range(1, 5)
    ),
}

pytestmark = [pytest.mark.long, pytest.mark.slow]

CELLS = [
    """# Tiny

**You will be able to** double a number.

**You need** nothing.

**Time** about 1 minutes.""",
    """>from cloze.lessons.tiny import figures
from cloze.lessons.tiny.checks import check_twice
from cloze.teaching.quiz import AnswerSheet
from cloze.widgets import Quiz""",
    ">print([2, 4, 6])\nfigures.doubling([1, 2, 3])",
    "## Exercise 1 · Twice\n\nReturn two times x.",
    ">def twice(x):\n    return ...\n\n\ncheck_twice(twice)",
    """<details><summary>Solution</summary>

```python
def twice(x):
    return 2 * x
```

</details>

## Checkpoint""",
    '>Quiz("tiny")',
    '>AnswerSheet("tiny")',
    "## What comes next\n\nNothing.",
]


def project(*command: str, root: Path) -> str:
    """Run a command in a copy of the project and return what it printed."""
    result = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "CLOZE_DATA": str(ROOT / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return result.stdout


def test_nothing_but_the_lesson_is_needed_for_it_to_be_tested(tmp_path: Path) -> None:
    junk = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for folder in ("src", "tests", "notebooks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=junk)
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    lesson = tmp_path / "src" / "cloze" / "lessons" / "tiny"
    lesson.mkdir()
    for name, text in FILES.items():
        (lesson / name).write_text(text, encoding="utf-8")
    cells = [
        nbformat.v4.new_code_cell(text[1:])
        if text.startswith(">")
        else nbformat.v4.new_markdown_cell(text)
        for text in CELLS
    ]
    notebook = f"notebooks/{STEM}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / notebook)
    project(sys.executable, "notebooks/execute.py", notebook, root=tmp_path)

    suites = ["tests/lessons/test_exercises.py", "tests/lessons/test_figures.py"]
    suites += ["tests/teaching/test_quiz.py", "tests/notebooks/test_notebooks.py", notebook]
    options = ["-q", "-n", "0", "-k", "tiny or twice", "--verbosity=1"]
    said = project(sys.executable, "-m", "pytest", *options, *suites, root=tmp_path)
    assert " failed" not in said, said
    assert " error" not in said, said
    for suite in suites:
        assert f"{suite.removesuffix('.ipynb')}::" in said, f"{suite} tests nothing of it:\n{said}"

    figures = lesson / "figures.py"
    figures.write_text("import cloze.lessons.the_mask.figures\n", encoding="utf-8")
    linter = str(Path(sys.executable).with_name("lint-imports"))
    said = project(linter, "--no-cache", root=tmp_path)
    assert "cloze.lessons.tiny is not allowed to import cloze.lessons.the_mask" in said
