"""Server: what JupyterLab's server does better: it answers at once, and asks nothing needless.

``python run.py lab`` names these classes to the server; nothing else imports this.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

from cloze.serving import warm


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


class Notebooks(AsyncLargeFileManager):
    """The server's notebooks, which know this Python's version before their kernel tells it.

    JupyterLab writes the version into every notebook that it opens. In one that was saved under
    another Python, or under none, that is a change, and JupyterLab asks whether to save it.
    """

    async def get(self, *args: Any, **kwargs: Any) -> Any:
        """Read a file or a folder."""
        from ipykernel.ipkernel import IPythonKernel

        model = await super().get(*args, **kwargs)  # type: ignore[no-untyped-call]
        if model["type"] == "notebook" and model["content"]:
            metadata = model["content"]["metadata"]
            if metadata.get("language_info", {}).get("name") == "python":
                metadata["language_info"] = dict(IPythonKernel.language_info)
        return model


class Kernels(AsyncMappingKernelManager):
    """The server's kernels, which have loaded torch by the time that somebody asks for one."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        warm.start(self)
