"""Server: what JupyterLab's server does better so that a click is answered at once.

``python run.py lab`` names :class:`PromptConnection` to the server; nothing else imports this.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The server's connection between kernel and browser, which sends every message at once.

    A kernel answers a click with three small messages. By default the system holds the second back
    until the browser has acknowledged the first, and the browser takes its time with that (Nagle's
    algorithm and delayed acknowledgement): a click soon after another is answered some 35 ms late.
    ``python -m benchmarks.latency`` measures it.
    """

    def connect(self) -> Any:
        """Connect to the kernel's channels."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
