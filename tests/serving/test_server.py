"""The server sends at once and knows this Python; run.py names its parts to JupyterLab."""

import asyncio
import platform
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from traitlets.utils.importstring import import_item

import run
from cloze.serving.server import Kernels, Notebooks, PromptConnection


def test_every_message_is_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    class Handler:
        def set_nodelay(self, value: bool) -> None:
            asked.append(value)

    def connect(_: Any) -> str:
        assert asked == [True], "set before the first message"
        return "connected"

    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", connect)
    connection = PromptConnection.__new__(PromptConnection)
    monkeypatch.setattr(PromptConnection, "websocket_handler", Handler())
    assert connection.connect() == "connected"


@pytest.mark.parametrize("language", ["python", "R"])
def test_a_python_notebook_is_read_with_this_pythons_version(tmp_path: Path, language: str) -> None:
    notebook = nbformat.v4.new_notebook(metadata={"language_info": {"name": language}})
    nbformat.write(notebook, tmp_path / "a.ipynb")
    read = asyncio.run(Notebooks(root_dir=str(tmp_path)).get("a.ipynb"))
    version = read["content"]["metadata"]["language_info"].get("version")
    assert version == (platform.python_version() if language == "python" else None)


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("kernel_websocket_connection_class", PromptConnection),
        ("contents_manager_class", Notebooks),
        ("kernel_manager_class", Kernels),
    ],
)
def test_the_lab_command_names_them(option: str, named: type) -> None:
    given = next(x for x in run.LAB_OPTIONS if option in x)
    assert import_item(given.partition("=")[2]) is named
