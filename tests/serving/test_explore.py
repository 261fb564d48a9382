"""``python -m cloze explore``: what it starts, and what it refuses before it starts anything."""

import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import pytest
from voila.app import Voila

from cloze.__main__ import main
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
    settings = named / "tokenizer_config.json"
    odd = {"extra_special_tokens": ["the"], "model_input_names": []}
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | odd), "utf-8")
    assert main(["explore", str(named)]) == 0
    assert started[1][1] == "MaskExplorer('_', 1 masked)"  # as "the" is no text to it


def test_missing_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "version", {"transformers": "4.57.1"}.__getitem__)
    monkeypatch.setattr(metadata, "PackageNotFoundError", KeyError)
    assert main(["explore", "nowhere"]) == 1
    assert '`pip install "transformers>=5" voila` brings them' in capsys.readouterr().err
