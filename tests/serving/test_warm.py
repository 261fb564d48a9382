"""Warm kernels are what other kernels are, sooner; and where they cannot be, others start."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory

from cloze.serving import warm
from cloze.serving.warm import KERNEL, Forked, Source, WarmKernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Kernels are warm on Linux.")

PATIENCE = 60
ABOUT = """
import json, os, random, signal, subprocess, sys
loaded = [name in sys.modules for name in ("torch", "matplotlib.figure", "cloze.heads")]
import numpy, torch
drawn = [random.random(), numpy.random.random(), torch.rand(()).item()]
torch.manual_seed(0)
expected = torch.rand(()).item()
torch.manual_seed(0)
here, there = os.pipe()
if os.fork() == 0:
    os.write(there, repr(torch.rand(()).item()).encode())
    os._exit(0)
of_a_child = float(os.read(here, 100))
print(json.dumps({
    "loaded": loaded,
    "parent": os.getppid(),
    "session": os.getsid(0) == os.getpid(),
    "folder": os.getcwd(),
    "here first": "" in sys.path and os.environ.get("STARTED") not in sys.path,
    "environment": os.environ.get("ASKED"),
    "threads": torch.get_num_threads(),
    "drawn": drawn,
    "a child draws as seeded": of_a_child == expected,
    "a child's code": subprocess.run([sys.executable, "-c", "raise SystemExit(3)"]).returncode,
}))
"""

Run = Callable[[str], Coroutine[Any, Any, list[dict[str, Any]]]]
"""Run a cell and return the messages that it sends."""


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    """Start a warm process, from which Jupyter's kernels come in this module."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(WarmKernel, "source", None)
        provisioners = dict(KernelProvisionerFactory.instance().provisioners)
        monkeypatch.setattr(KernelProvisionerFactory.instance(), "provisioners", provisioners)
        warm.start()
        made = WarmKernel.source
        assert made
        warm.start()
        assert WarmKernel.source is made, "one is enough"
        yield made
        made.close()


@asynccontextmanager
async def kernel(**options: Any) -> AsyncIterator[tuple[AsyncKernelManager, Run]]:
    """Start a kernel that ends with this block."""
    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel(**options)
    client: AsyncKernelClient = manager.client()
    client.start_channels()

    async def run(code: str) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        await client.wait_for_ready(timeout=PATIENCE)
        await client.execute_interactive(code, output_hook=messages.append, timeout=PATIENCE)
        return messages

    try:
        yield manager, run
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


def process_of(manager: AsyncKernelManager) -> Any:
    """Return what a kernel's manager holds of its process."""
    assert isinstance(manager.provisioner, WarmKernel)
    return manager.provisioner.process


async def about(run: Run) -> dict[str, Any]:
    """Ask a kernel about itself."""
    said_on = [message["content"] for message in await run(ABOUT)]
    # What goes to stderr is Python's own warning, from 3.12 on, that a kernel with threads forks.
    text = "".join(said["text"] for said in said_on if said.get("name") == "stdout")
    said: dict[str, Any] = json.loads(text)
    return said


@pytest.mark.long
def test_it_is_a_kernel_like_others(source: Source, tmp_path: Path) -> None:
    environment = {**os.environ, "ASKED": "yes", "STARTED": str(Path.cwd())}

    async def both() -> list[dict[str, Any]]:
        async with (
            kernel(cwd=str(tmp_path), env=environment) as (_, one),
            kernel(cwd=str(tmp_path), env=environment) as (_, other),
        ):
            return [await about(one), await about(other)]

    first, second = asyncio.run(both())
    drawn, others = first.pop("drawn"), second.pop("drawn")
    assert all(a != b for a, b in zip(drawn, others, strict=True)), "no two draw alike"
    assert first == second
    assert first == {
        "loaded": [True, True, False],
        "parent": source.process.pid,
        "session": True,
        "folder": str(tmp_path),
        "here first": True,
        "environment": "yes",
        "threads": 1,
        "a child draws as seeded": True,
        "a child's code": 3,
    }


@pytest.mark.long
@pytest.mark.usefixtures("source")
def test_it_is_interrupted_restarted_and_ended(tmp_path: Path) -> None:
    async def live() -> None:
        async with kernel() as (manager, run):
            begun = tmp_path / "begun"
            code = f"open({str(begun)!r}, 'w').close(); import time; time.sleep(600)"
            waits = asyncio.create_task(run(code))
            while not begun.exists():
                await asyncio.sleep(0.05)
            await manager.interrupt_kernel()
            assert any(m["content"].get("ename") == "KeyboardInterrupt" for m in await waits)
            first = process_of(manager)
            assert isinstance(first, Forked)
            await manager.restart_kernel()
            assert first.poll() == 0
            assert any(m["content"].get("text") == "2\n" for m in await run("print(2)"))
            await manager.shutdown_kernel()
            assert not Path(manager.connection_file).exists()

    asyncio.run(live())


def test_what_was_installed_is_not_forked_over(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "_last_installed", lambda: 1)
    assert source.fork(KERNEL, None, {}) is None


def test_elsewhere_kernels_start_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WarmKernel, "source", None)
    monkeypatch.setattr(sys, "platform", "darwin")
    before: dict[str, EntryPoint] = dict(KernelProvisionerFactory.instance().provisioners)
    warm.start()
    assert WarmKernel.source is None
    assert KernelProvisionerFactory.instance().provisioners == before
