"""The server sends at once and knows this Python; run.py names its parts to JupyterLab."""

import asyncio
import platform
import runpy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from traitlets.utils.importstring import import_item

from cloze.serving import lab
from cloze.serving.server import SHIPPED, Notebooks, PromptConnection

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

Browse = Callable[[Path], Notebooks]


@pytest.fixture
def browse(tmp_path: Path) -> Iterator[Browse]:
    """Make what reads the notebooks of a folder, and close its list of signatures at the end."""
    with ExitStack() as made:

        def browsed(folder: Path) -> Notebooks:
            notebooks = Notebooks(root_dir=str(folder))
            notebooks.notary.data_dir = str(tmp_path)
            made.enter_context(closing(notebooks.notary))
            return notebooks

        yield browsed


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
def test_a_python_notebook_is_read_with_this_pythons_version(
    browse: Browse, tmp_path: Path, language: str
) -> None:
    notebook = nbformat.v4.new_notebook(metadata={"language_info": {"name": language}})
    nbformat.write(notebook, tmp_path / "a.ipynb")
    read = asyncio.run(browse(tmp_path).get("a.ipynb"))
    version = read["content"]["metadata"]["language_info"].get("version")
    assert version == (platform.python_version() if language == "python" else None)


@pytest.mark.parametrize("change", ["", "\n"], ids=["shipped", "changed"])
def test_the_notebooks_of_the_series_are_trusted_and_no_others(
    browse: Browse, tmp_path: Path, change: str
) -> None:
    shipped = NOTEBOOKS / "05_the_explorer.ipynb"
    (tmp_path / "a.ipynb").write_bytes(shipped.read_bytes() + change.encode())
    read = asyncio.run(browse(tmp_path).get("a.ipynb"))
    cells = [cell for cell in read["content"]["cells"] if cell["cell_type"] == "code"]
    assert {cell["metadata"]["trusted"] for cell in cells} == {not change}


def test_the_digests_are_those_of_the_notebooks() -> None:
    assert SHIPPED.read_text("utf-8") == runpy.run_path(str(NOTEBOOKS / "execute.py"))["digests"]()


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("kernel_websocket_connection_class", PromptConnection),
        ("contents_manager_class", Notebooks),
    ],
)
def test_the_lab_command_names_them(option: str, named: type) -> None:
    given = next(x for x in lab.OPTIONS if option in x)
    assert import_item(given.partition("=")[2]) is named


def test_the_file_browser_shows_what_is_for_learners(browse: Browse) -> None:
    shown = asyncio.run(browse(NOTEBOOKS).get(""))["content"]
    assert {Path(each["name"]).suffix for each in shown} == {".ipynb", ".md", ""}
