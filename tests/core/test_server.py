"""The server's connection sends at once, and run.py names it to JupyterLab."""

from typing import Any

import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from traitlets.utils.importstring import import_item

import run
from cloze.server import PromptConnection


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


def test_the_lab_command_names_it() -> None:
    option = next(x for x in run.LAB_OPTIONS if "kernel_websocket_connection_class" in x)
    assert import_item(option.partition("=")[2]) is PromptConnection
