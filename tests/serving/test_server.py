"""The server sends at once and knows this Python; run.py names its parts to JupyterLab."""

import asyncio
import platform
import runpy
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection

from cloze.serving.server import SHIPPED, Notebooks, PromptConnection

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def read(folder: Path, name: str) -> Any:
    """Return what the browser gets of a file or a folder."""
    notebooks = Notebooks(root_dir=str(folder))
    with TemporaryDirectory() as home, closing(notebooks.notary):
        notebooks.notary.data_dir = home
        return asyncio.run(notebooks.get(name))["content"]


def test_every_message_is_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bool] = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda _: [*given])
    handler = SimpleNamespace(set_nodelay=given.append)
    monkeypatch.setattr(PromptConnection, "websocket_handler", handler)
    assert PromptConnection.__new__(PromptConnection).connect() == [True]


@pytest.mark.parametrize("language", ["python", "R"])
def test_a_python_notebook_is_read_with_this_pythons_version(tmp_path: Path, language: str) -> None:
    notebook = nbformat.v4.new_notebook(metadata={"language_info": {"name": language}})
    nbformat.write(notebook, tmp_path / "a.ipynb")
    version = read(tmp_path, "a.ipynb")["metadata"]["language_info"].get("version")
    assert version == (platform.python_version() if language == "python" else None)


@pytest.mark.parametrize(
    ("ends", "change"),
    [(b"\n", b""), (b"\r\n", b""), (b"\n", b"\n")],
    ids=["shipped", "on Windows", "changed"],
)
def test_the_notebooks_of_the_series_are_trusted_and_no_others(
    tmp_path: Path, ends: bytes, change: bytes
) -> None:
    shipped = (NOTEBOOKS / "05_the_explorer.ipynb").read_bytes()
    (tmp_path / "a.ipynb").write_bytes(shipped.replace(b"\n", ends) + change)
    cells = [cell for cell in read(tmp_path, "a.ipynb")["cells"] if cell["cell_type"] == "code"]
    assert {cell["metadata"]["trusted"] for cell in cells} == {not change}


def test_the_digests_are_those_of_the_notebooks() -> None:
    assert SHIPPED.read_text("utf-8") == runpy.run_path(str(NOTEBOOKS / "execute.py"))["digests"]()


def test_the_file_browser_shows_what_is_for_learners() -> None:
    shown = read(NOTEBOOKS, "")
    assert {Path(each["name"]).suffix for each in shown} == {".ipynb", ".md", ""}
