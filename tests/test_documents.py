"""The README and its like: links lead somewhere, pictures have words, counts are right."""

import re
from pathlib import Path

import pytest

from cloze.encoder import EncoderConfig
from cloze.ledger import parameter_ledger
from notebooks.minutes import NOTEBOOKS as FOLDER
from notebooks.minutes import exercises_of, reading, restated

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_minutes_are_those_that_are_counted(path: Path) -> None:
    to_read, _ = stated = reading(path).stated
    assert to_read <= 45
    for file, text in restated(path, stated).items():
        assert file.read_text("utf-8") == text, f"{file.name}: python -m notebooks.minutes"


def test_the_series_is_read_in_a_day() -> None:
    assert sum(reading(path).stated[0] for path in NOTEBOOKS) <= 8.5 * 60


def test_every_exercise_says_how_long_a_beginner_takes() -> None:
    exercises = [one for path in NOTEBOOKS for one in exercises_of(path.stem[3:]).values()]
    assert all(4 <= exercise.minutes <= 20 for exercise in exercises)
