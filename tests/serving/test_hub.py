"""A hub: its files name what there is, an update keeps answers, and nobody reaches another's."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import nbformat
import pytest
import yaml  # type: ignore[import-untyped]
from jupyter_client.manager import KernelManager
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager
from traitlets.config.loader import PyFileConfigLoader

from benchmarks.hub import Hub, can_make_users, hub, learner, proxy
from cloze.serving.hub import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "hub" / "README.md").read_text(encoding="utf-8")
PYTHON = os.environ.get("CLOZE_HUB_PYTHON", sys.executable)
"""Of an environment with the package and its extra ``hub`` that other users may read."""


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


SECRETS = """
import json, os, pathlib, signal, urllib.request, zmq
def refused(what):
    try:
        what()
    except (PermissionError, urllib.request.HTTPError) as error:
        return getattr(error, "code", 403) == 403
    return False
uid, port = {uid}, {port}
theirs = [int(p.name) for p in pathlib.Path("/proc").iterdir()
          if p.name.isdigit() and p.stat().st_uid == uid]
listening = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
ports = [int(at[1].split(":")[1], 16) for at in listening if at[3] == "0A" and int(at[7]) == uid]
def heard():
    with zmq.Context() as context, context.socket(zmq.SUB) as listener:
        listener.subscribe(b"")
        for at in set(ports) - {{port}}:
            listener.connect(f"tcp://127.0.0.1:{{at}}")
        return listener.poll(4000)
url = f"http://127.0.0.1:{{port}}/user/{name}/api/contents"
print(json.dumps({{
    "processes": len(theirs),
    "home": refused(lambda: os.listdir({home!r})),
    "answer": refused(lambda: open({home!r} + "/cloze/notebooks/05_the_explorer.ipynb")),
    "runtime": refused(lambda: os.listdir({runtime!r})),
    "environment": all(refused(lambda: open(f"/proc/{{p}}/environ")) for p in theirs),
    "kill": all(refused(lambda: os.kill(p, signal.SIGTERM)) for p in theirs),
    "server's port": port in ports,
    "silent": not heard(),
    "server": refused(lambda: urllib.request.urlopen(url)),
}}))
"""


@pytest.mark.slow
@pytest.mark.skipif(proxy() is None, reason="There is no configurable-http-proxy: run `npm ci`.")
@pytest.mark.skipif(
    not can_make_users(), reason="Only root on Linux can make users to try it with."
)
def test_nobody_reaches_what_is_anothers() -> None:
    pytest.importorskip("jupyterhub")
    try:
        with hub(PYTHON, ["cloze-anna", "cloze-ben"]) as running:
            asyncio.run(try_everything(running))
    except ValueError as error:
        pytest.skip(str(error))


async def try_everything(running: Hub) -> None:
    """Let Ben try to read Anna's files and reach her kernel, by the hub and on the system."""
    async with AsyncExitStack() as stack:
        anna, ben = [await learner(stack, running, name) for name in running.passwords]
        for one in (anna, ben):
            await one.arrive()
            await one.get_copy()
        kernel = await anna.open("05_the_explorer.ipynb")
        about = (
            "import os; print(os.getuid(), os.environ['HOME'], os.environ['JUPYTER_RUNTIME_DIR'])"
        )
        uid, home, runtime = (await kernel.run(about)).split()
        theirs = ("api/contents/cloze", "api/kernels", f"api/kernels/{kernel.number}")
        for path in theirs:
            async with anna.session.get(f"{anna.base}/{path}") as own:
                assert own.status == 200, "Anna reaches what is hers"
            async with ben.session.get(f"{anna.base}/{path}") as others:
                assert others.status == 403
        channels = f"{anna.base}/api/kernels/{kernel.number}/channels"
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            await ben.session.ws_connect(channels)
        # On the system, in Ben's own kernel.
        [server] = [p for p in running.processes()[anna.name] if p.ppid() == running.process.pid]
        [port] = {c.laddr.port for c in server.net_connections("tcp") if c.status == "LISTEN"}
        code = SECRETS.format(uid=int(uid), port=port, name=anna.name, home=home, runtime=runtime)
        speaks = "import time\nfor _ in range(80): print('secret', flush=True); time.sleep(0.1)"
        his = await ben.open("05_the_explorer.ipynb")
        said, _ = await asyncio.gather(his.run(code), kernel.run(speaks))
        found = json.loads(said)
        assert found.pop("processes") >= 3, "server, warm process and kernel"
        assert all(found.values()), found
        assert (await kernel.run("print(6 * 7)")).strip() == "42"
