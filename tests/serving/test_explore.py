"""``python -m cloze explore``: what it starts, and what it refuses before it starts anything."""

import os
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from voila.app import Voila

from cloze.__main__ import main
from cloze.handover import packages
from tests.handover.folders import folder


def test_a_page_with_the_explorer_alone_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def launched(arguments: list[str]) -> None:
        found = nbformat.read(arguments[0], as_version=4)
        (cell,) = found["cells"]
        scope: dict[str, Any] = {}
        exec(cell["source"].replace("\nMask", "\nshown = Mask"), scope)
        home = Path(os.environ["JUPYTER_PATH"].split(os.pathsep)[0])
        assert (home / "voila" / "templates" / "explore" / "index.html.j2").is_file()
        started.append((found["metadata"]["title"], repr(scope["shown"]), *arguments[1:]))

    monkeypatch.setattr(Voila, "launch_instance", launched)
    monkeypatch.setenv("JUPYTER_PATH", "elsewhere")
    named = folder("bert", tmp_path / "it's {mine}")
    assert main(["explore", str(named), "--no-browser", "--port=9"]) == 0
    shown = "MaskExplorer('the old man took his _', 1 masked)"
    token = "--Voila.auto_token=True"
    assert started == [
        ("it's {mine}", shown, "--template=explore", token, "--no-browser", "--port=9")
    ]


@pytest.mark.parametrize(
    ("installed", "said"),
    [
        ({"transformers": "5.1", "voila": "0.5"}, "There is no folder"),
        ({"transformers": "4.57"}, '`pip install "transformers>=5" voila` brings them'),
    ],
)
def test_what_is_missing_is_said_before(
    installed: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    fake = SimpleNamespace(version=version, PackageNotFoundError=metadata.PackageNotFoundError)
    monkeypatch.setattr(packages, "metadata", fake)
    assert main(["explore", "nowhere"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cloze: ")
    assert said in line
