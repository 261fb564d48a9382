"""Hub: a learner's server on a JupyterHub: ``python -m cloze.serving.hub``, started by a spawner.

It is JupyterHub's own ``jupyterhub-singleuser``, with the settings of ``cloze lab`` and without
what only the hub needs: half of the memory that a server takes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from unittest.mock import MagicMock

from jupyter_server import log

from cloze.serving import lab

OPTIONS = (
    *lab.OPTIONS,
    # Everybody on this machine can listen to a port, but nobody else to a socket in a folder.
    "--KernelManager.transport=ipc",
)


def start(arguments: list[str]) -> None:
    """Run the server until it is stopped.

    Args:
        arguments: more of them, for Jupyter's server.
    """
    # The path of a socket has at most 107 characters, too few for most home folders.
    with tempfile.TemporaryDirectory(prefix="cloze-") as runtime:
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        leave_the_database_out()
        from jupyterhub.singleuser import main

        main([*OPTIONS, *arguments])


def leave_the_database_out() -> None:
    """Let JupyterHub believe that its database is loaded, which a learner's server never opens.

    It would be loaded all the same: 38 MB, by way of the log and the names of permissions.
    """
    sys.modules["jupyterhub.log"] = log
    for name in ("jupyterhub.orm", "sqlalchemy", "sqlalchemy.orm", "sqlalchemy.exc"):
        sys.modules[name] = MagicMock()


if __name__ == "__main__":
    start(sys.argv[1:])
