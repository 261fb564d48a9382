"""The README and its like: links lead somewhere, pictures have words, counts are right."""

import re
from pathlib import Path

import nbformat
import pytest

from cloze.encoder import EncoderConfig
from cloze.ledger import parameter_ledger
from notebooks.minutes import exercises_of, reading

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve_and_pictures_have_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for words, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", text):
        assert words.strip(), target
        if target.startswith("#"):
            headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            assert target[1:] in [name.lower().replace(" ", "-") for name in headings], target
        else:
            assert target.startswith("http") or (path.parent / target).exists(), target


def test_the_readme_counts_the_parameters() -> None:
    config = EncoderConfig()
    total = sum(
        parameter_ledger(config.vocab_size, config.d_model, config.n_layers, config.d_ff).values()
    )
    assert f"{total:,} parameters" in (ROOT / "README.md").read_text("utf-8")


def test_the_minutes_are_those_that_are_counted() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\((notebooks/\w+\.ipynb)\) \| .+ \| (\d+) \| (\d+) \|", readme)
    assert len(rows) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    for name, to_read, working in rows:
        first = nbformat.read(ROOT / name, as_version=4).cells[0].source
        stated = (
            f"**Time** about {to_read} minutes to read and run, {working} more for the exercises."
        )
        assert stated in first, name
        assert (int(to_read), int(working)) == reading(ROOT / name).stated, name
    assert all(int(to_read) <= 45 for _, to_read, _ in rows)
    assert sum(int(to_read) for _, to_read, _ in rows) <= 8.5 * 60


def test_every_exercise_says_how_long_a_beginner_takes() -> None:
    lessons = [path.stem[3:] for path in (ROOT / "notebooks").glob("*.ipynb")]
    exercises = [one for lesson in lessons for one in exercises_of(lesson).values()]
    assert all(4 <= exercise.minutes <= 20 for exercise in exercises)
