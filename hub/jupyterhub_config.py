"""What a JupyterHub has to know about the series; README.md beside this file says how it is used.

It says nothing of how people log in, what starts their servers or who ends idle ones: The Littlest
JupyterHub does, which loads this file after its own.
"""

import os
from typing import Any
from urllib.parse import urlencode

PYTHON = os.environ.get("CLOZE_PYTHON", "/opt/tljh/user/bin/python")
"""Of the environment in which the package is installed, once for all."""
SERIES = os.environ.get("CLOZE_SERIES", "file:///srv/cloze")
"""The Git repository from which everybody gets a copy, as ~/cloze."""

c: Any = get_config()  # type: ignore[name-defined] # noqa: F821 - JupyterHub defines it
c.Spawner.cmd = [PYTHON, "-P", "-m", "cloze.serving.hub"]
# The kernel of a notebook that was closed ends after half an hour.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_interval=120",
]
# Whoever arrives gets the copy or what is new in the series; nbgitpuller keeps what they wrote.
opens = {"repo": SERIES, "urlpath": "lab/tree/cloze/notebooks/00_start_here.ipynb"}
c.Spawner.default_url = f"/git-pull?{urlencode(opens)}"
