"""Server: what JupyterLab's server does better: it answers at once, and asks nothing needless.

``python run.py lab`` names these classes to the server; nothing else imports this.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The server's connection between kernel and browser, which sends every message at once.

    A kernel answers a click with three small messages. By default the system holds the second back
    until the browser has acknowledged the first, and the browser takes its time with that (Nagle's
    algorithm and delayed acknowledgement): a click soon after another is answered some 35 ms late.
    """

    def connect(self) -> Any:
        """Connect to the kernel's channels."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()


SHIPPED = Path(__file__).with_name("SHA256SUMS")
"""The digests of the notebooks as they are committed; ``notebooks/execute.py`` writes them."""


def digest_of(path: Path) -> str:
    """Return the digest of a text, the same whether its lines end as on Windows or not."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def is_shipped(path: Path) -> bool:
    """Tell whether a file is, sign for sign, one of the notebooks of the series."""
    if path.suffix != ".ipynb" or not path.is_file():
        return False
    return digest_of(path) in SHIPPED.read_text(encoding="utf-8").split()


TOOLS = {"as_text.py", "colab.py", "conftest.py", "execute.py", "minutes.py"}
"""What stands beside the notebooks of a checkout and is not for who learns from them."""


class Notebooks(AsyncLargeFileManager):
    """The server's notebooks, without the tools beside them; it trusts those of the series.

    JupyterLab shows the HTML and the widgets of a notebook only if that was signed on this machine,
    which by itself it does once every cell was run here. A learner stops before that.

    And they know this Python's version before their kernel tells it: JupyterLab writes it into
    every notebook that it opens, and would ask whether to save that change.
    """

    def should_list(self, name: str) -> bool:
        """Tell whether the file browser shows a file."""
        return name not in TOOLS and super().should_list(name)  # type: ignore[no-untyped-call]

    async def get(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Read a file or a folder."""
        from ipykernel.ipkernel import IPythonKernel

        file = Path(self._get_os_path(path))  # type: ignore[no-untyped-call]
        if is_shipped(file):
            self.notary.sign(nbformat.read(file, as_version=4))
        model = await super().get(path, *args, **kwargs)  # type: ignore[no-untyped-call]
        if model["type"] == "notebook" and model["content"]:
            metadata = model["content"]["metadata"]
            if metadata.get("language_info", {}).get("name") == "python":
                metadata["language_info"] = dict(IPythonKernel.language_info)
        return model
