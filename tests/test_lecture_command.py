"""What ``python run.py lecture`` starts."""

import pytest

from lecture.__main__ import HERE, OPTIONS, project_address, voila_arguments


@pytest.mark.parametrize(
    ("arguments", "minutes", "rest"),
    [
        ([], "60", []),
        (["90", "--no-browser"], "90", ["--no-browser"]),
        (["--port", "9999"], "60", ["--port", "9999"]),
    ],
)
def test_the_arguments(arguments: list[str], minutes: str, rest: list[str]) -> None:
    notebook = str(HERE / f"{minutes}_minutes.ipynb")
    assert voila_arguments(arguments) == [notebook, *OPTIONS, *rest]


def test_a_lecture_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lectures of 60 and of 90 minutes, not of 45\."):
        voila_arguments(["45"])


def test_a_published_project_shows_its_address_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/cloze")
    home = project_address()["home"]
    assert home["address"] == "https://github.com/somebody/cloze"
    assert home["code"].startswith("<svg ")
