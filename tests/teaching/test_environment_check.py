"""The environment check names what is missing or too old."""

from importlib import metadata

import pytest

from cloze.teaching.environment import check_environment


def test_here_everything_is_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    check_environment()
    assert capsys.readouterr().out == "Everything is in place.\n"


def test_what_is_missing_or_too_old_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str) -> str:
        if name == "torch":
            raise metadata.PackageNotFoundError(name)
        return "1.26.0" if name == "numpy" else true_version(name)

    true_version = metadata.version
    monkeypatch.setattr(metadata, "version", version)
    check_environment()
    assert capsys.readouterr().out.splitlines() == [
        "numpy<3,>=2 is needed, and 1.26.0 is installed.",
        "torch<3,>=2.9 is missing.",
        "Close Jupyter and start it with `python run.py lab`, which installs them.",
    ]
