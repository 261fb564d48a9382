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
from cloze.teaching.results import number


def twice(x):
    """Return two times x."""
    return 2 * x


check_twice = Exercise(
    solution=twice,
    wants=number,
    probes=lambda rng: [(rng.randint(3, 99),) for _ in range(5)],
    mistakes={"You squared it; add it to itself.": lambda x: x * x},
    solved="Two of them.",
)
''',
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
    "doubler.py": '''"""A number that doubles at every click."""

from markupsafe import Markup

from cloze.widgets.view import View, button, element, style


class Doubler(View):
    """Click, and the number doubles."""

    _css = style(__file__)

    def __init__(self) -> None:
        self.n = 1
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        return f"Doubler({self.n})"

    def markup(self) -> Markup:
        """Write the number and the button."""
        return element("p", button("double it", "double"), self.n, class_="doubled")

    def do_double(self) -> None:
        """Double the number."""
        self.n *= 2
''',
    "doubler.css": ".cloze .doubled { font-weight: 700; }\n",
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

OPENING = """# Tiny

**You will be able to** double a number.

**You need** nothing.

**Time** about 1 minutes."""

CELLS = [
    OPENING,
    """>from cloze.lessons.tiny import figures
from cloze.lessons.tiny.checks import check_twice
from cloze.lessons.tiny.doubler import Doubler
from cloze.teaching.quiz import AnswerSheet
from cloze.widgets import Quiz""",
    ">print([2, 4, 6])\nfigures.doubling([1, 2, 3])",
    """>doubler = Doubler()
doubler.act("double")
assert doubler._css.endswith(".doubled { font-weight: 700; }\\n")
doubler""",
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
    """Run Python in a copy of the project and return what it printed; it must end well."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "CLOZE_DATA": str(ROOT / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the project without its data, and add a lesson to it."""
    root = tmp_path_factory.mktemp("copy")
    junk = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for folder in ("src", "tests", "notebooks"):
        shutil.copytree(ROOT / folder, root / folder, ignore=junk)
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, root)
    lesson = root / "src" / "cloze" / "lessons" / "tiny"
    lesson.mkdir()
    for name, text in FILES.items():
        (lesson / name).write_text(text, encoding="utf-8")
    cells = [
        nbformat.v4.new_code_cell(text[1:])
        if text.startswith(">")
        else nbformat.v4.new_markdown_cell(text)
        for text in CELLS
    ]
    path = root / "notebooks" / f"{STEM}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    project("notebooks/execute.py", str(path), root=root)
    return root


def test_the_checks_the_quiz_and_the_notebook_are_tested_with_all_others(copy: Path) -> None:
    suites = ["tests/lessons/test_exercises.py", "tests/lessons/test_figures.py"]
    suites += ["tests/teaching/test_quiz.py", "tests/notebooks/test_notebooks.py"]
    options = ["-q", "-n", "0", "-k", "tiny or twice", "--verbosity=1"]
    said = project("-m", "pytest", *options, *suites, root=copy)
    for suite in suites:
        assert f"{suite}::" in said, f"{suite} has no test of a new lesson:\n{said}"


def test_its_notebook_is_compared_cell_by_cell(copy: Path) -> None:
    said = project("-m", "pytest", "-q", "-n", "0", f"notebooks/{STEM}.ipynb", root=copy)
    assert f"{sum(text.startswith('>') for text in CELLS)} passed" in said


def test_its_imports_are_held_to_the_same_direction(copy: Path) -> None:
    (copy / "src/cloze/lessons/tiny/figures.py").write_text(
        "import cloze.lessons.the_mask.figures\n"
    )
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [linter, "--no-cache"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src")},
        capture_output=True,
        text=True,
    )
    assert "cloze.lessons.tiny is not allowed to import cloze.lessons.the_mask" in result.stdout
