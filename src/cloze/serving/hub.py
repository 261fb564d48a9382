"""Hub: a learner's server on a JupyterHub: ``python -m cloze.serving.hub``, started by a spawner.

It is JupyterHub's own ``jupyterhub-singleuser``, with the settings of ``cloze lab``.
"""

from __future__ import annotations

import os
import sys
import tempfile

from cloze.serving import lab

OPTIONS = (
    *lab.OPTIONS,
    # Everybody on this machine can listen to a port, but nobody else to a socket in a folder.
    "--KernelManager.transport=ipc",
)


def start(arguments: list[str]) -> None:
    """Run the server until it is stopped; Jupyter's server gets the arguments."""
    # The path of a socket has at most 107 characters, too few for most home folders.
    with tempfile.TemporaryDirectory(prefix="cloze-") as runtime:
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        from jupyterhub.singleuser import main

        main([*OPTIONS, *arguments])


if __name__ == "__main__":
    start(sys.argv[1:])
