"""A hub: its files name what there is, an update keeps answers, and nobody reaches another's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import nbformat
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


LEFT_OUT = """
import sys
from cloze.serving import hub
hub.leave_the_database_out()
import jupyterhub.singleuser, jupyterlab.labapp
from jupyterhub.scopes import _intersect_expanded_scopes as both
loaded = [n for n in sys.modules if n.startswith(("sqlalchemy.sql", "alembic", "rfc3987_syntax."))]
assert not loaded, loaded
mine = {"access:servers!server=anna/"}
assert both(mine, mine) == mine
assert not both(mine, {"access:servers!server=ben/"})
"""


@pytest.mark.long
def test_a_server_loads_no_database_and_still_tells_permissions_apart() -> None:
    pytest.importorskip("jupyterhub")
    done = subprocess.run([sys.executable, "-c", LEFT_OUT], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_an_update_keeps_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbgitpuller")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    series, copy = tmp_path / "series", tmp_path / "copy"
    series.mkdir()

    def git(*arguments: str) -> None:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *author, *arguments], cwd=series, check=True, capture_output=True)

    def pull() -> None:
        command = [sys.executable, "-m", "nbgitpuller.pull", f"file://{series}", "main", str(copy)]
        subprocess.run(command, check=True, capture_output=True)

    def cell(notebook: Any, text: str) -> Any:
        return next(c for c in notebook.cells if text in c.source)

    name = "01_the_loss.ipynb"
    (series / name).write_bytes((ROOT / "notebooks" / name).read_bytes())
    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "--message=first")
    pull()
    # The learner answers, and runs everything.
    mine = nbformat.read(copy / name, as_version=4)
    answered = cell(mine, "def summed_loss(P, x, M):")
    answered.source = answered.source.replace("return ...", "return 41  # mine")
    for number, code in enumerate(c for c in mine.cells if c.cell_type == "code"):
        code.execution_count = number + 7
    assert "# mine" in answered.source
    nbformat.write(mine, copy / name)
    # Meanwhile the series changes: a text, the very same exercise, a file.
    theirs = nbformat.read(series / name, as_version=4)
    theirs.cells[0].source += "\n\nA sentence that is new."
    skeleton = cell(theirs, "def summed_loss(P, x, M):")
    skeleton.source = skeleton.source.replace("return ...", "return ...  # yours")
    nbformat.write(theirs, series / name)
    (series / "new.md").write_text("new", encoding="utf-8")
    git("add", ".")
    git("commit", "--message=second")
    pull()
    merged = nbformat.read(copy / name, as_version=4)
    nbformat.validate(merged)
    assert cell(merged, "def summed_loss(P, x, M):").source == answered.source
    assert merged.cells[0].source.endswith("A sentence that is new.")
    assert (copy / "new.md").exists()
