"""A hub: its files name what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml  # type: ignore[import-untyped]
from jupyter_client.manager import KernelManager
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager
from traitlets.config.loader import PyFileConfigLoader

from cloze.serving.hub import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "hub" / "README.md").read_text(encoding="utf-8")


def test_the_configuration_names_what_there_is() -> None:
    spawner: Any = pytest.importorskip("jupyterhub.spawner").Spawner
    loaded = PyFileConfigLoader("jupyterhub_config.py", str(ROOT / "hub")).load_config()
    assert list(loaded) == ["Spawner"], "the rest is The Littlest JupyterHub's"
    assert set(loaded.Spawner) < set(spawner.class_traits())
    managers: dict[str, Any] = {
        "MappingKernelManager": MappingKernelManager,
        "KernelManager": KernelManager,
    }
    options = [*loaded.Spawner.args, OPTIONS[-1]]
    for section, name in (re.findall(r"--(\w+)\.(\w+)=", option)[0] for option in options):
        assert name in managers[section].class_traits()
    assert "--KernelManager.transport=ipc" in OPTIONS, "everybody can listen to a port"
    opens = parse_qs(urlsplit(loaded.Spawner.default_url).query)
    assert (ROOT.parent / opens["urlpath"][0].replace("lab/tree/cloze", ROOT.name, 1)).exists()
    # The README says the same to Zero to JupyterHub.
    [values] = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    there = yaml.safe_load(values)["singleuser"]
    assert there["cmd"][1:] == loaded.Spawner.cmd[1:]
    assert there["defaultUrl"] == loaded.Spawner.default_url
