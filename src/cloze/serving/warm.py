"""Warm kernels: copies of one process that has loaded torch, so that each need not load it again.

A kernel's first cell waits for IPython, torch and what draws figures and widgets: more than a
second of a core, which the kernels of a class that opens its notebooks together have to share.
``start`` makes a process that loads them while nobody waits yet (``python -m cloze.serving.warm``).
It then forks a kernel whenever Jupyter asks for one, and what it has loaded stays in memory once.

Only libraries are warm. A kernel loads the package ``cloze`` itself, so a restart sees what was
edited; and once something was installed, kernels start as they always did. They do so as well
where forking is not safe or not possible: on other systems than Linux (after a fork Apple's
libraries for matrices fail), for other commands than Jupyter's own, or if the warm process runs
more than one thread or has ended.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets.config import Configurable

LIBRARIES = (
    *("ipykernel.kernelapp", "torch", "safetensors.torch", "anywidget", "matplotlib.figure"),
    *("jaxtyping", "beartype.door", "beartype.vale", "numpy.random"),
)
KERNEL = [sys.executable, "-m", "ipykernel_launcher"]
INLINE = "module://matplotlib_inline.backend_inline"
"""What ipykernel sets as backend, too, but only after matplotlib was loaded."""


def start(parent: Configurable | None = None, libraries: Sequence[str] = LIBRARIES) -> None:
    """Start the warm process, from which the kernels that are started by this one come from now.

    Args:
        parent: who configures Jupyter's provisioners, as their factory expects it.
        libraries: what kernels have loaded from the start.
    """
    if sys.platform != "linux" or WarmKernel.source:
        return
    with suppress(OSError):  # of a Linux before 5.3, or no room for another process
        os.close(os.pidfd_open(os.getpid()))
        WarmKernel.source = Source(libraries)
        local = "local-provisioner"
        group = KernelProvisionerFactory.GROUP_NAME
        warm = EntryPoint(local, f"{__name__}:{WarmKernel.__name__}", group)
        KernelProvisionerFactory.instance(parent=parent).provisioners[local] = warm


class Source:
    """The warm process, as seen by the one that started it and asks it for kernels."""

    def __init__(self, libraries: Sequence[str]) -> None:
        self._asking = threading.Lock()
        self._libraries = _last_installed()
        self._orders, theirs = Pipe()
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - itself
                [sys.executable, "-m", "cloze.serving.warm", str(theirs.fileno()), *libraries],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is the server's
            )

    def fork(
        self, command: Sequence[str], cwd: str | None, environment: Mapping[str, str]
    ) -> Forked | None:
        """Fork a kernel, once all is loaded; None if the command has to be run instead."""
        if command[: len(KERNEL)] != KERNEL or self._libraries != _last_installed():
            return None
        with self._asking, suppress(OSError, EOFError):
            self._orders.send((command[2:], cwd, dict(environment)))
            if pid := self._orders.recv():
                return Forked(pid)
        return None

    def close(self) -> None:
        """End the warm process and, as they notice within a second, its kernels."""
        self._orders.close()
        self.process.wait()


def _last_installed() -> int:
    return Path(sysconfig.get_path("purelib")).stat().st_mtime_ns


class Forked:
    """What Jupyter asks of a ``subprocess.Popen``, for a process that is a child of another."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        weakref.finalize(self, os.close, self._descriptor)

    def poll(self) -> int | None:
        """Return None as long as it runs, then 0: its exit code is known to its parent alone."""
        return 0 if wait([self._descriptor], 0) else None

    def wait(self) -> int:
        """Wait until it has ended."""
        wait([self._descriptor])
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)


class WarmKernel(LocalProvisioner):
    """Starts a kernel as a fork of the warm process, and otherwise as ever."""

    source: ClassVar[Source | None] = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the kernel."""
        assert self.source is not None
        cwd = kwargs.get("cwd")
        forked = await asyncio.to_thread(self.source.fork, cmd, cwd, kwargs["env"])
        if not forked:
            return await super().launch_kernel(cmd, **kwargs)
        self.process: Any = forked
        self.pid = self.pgid = forked.pid  # it leads a session of its own
        self.cwd = cwd or Path.cwd()
        return self.connection_info


# --- the warm process -------------------------------------------------------------------------


def main() -> None:
    """Load the libraries, fork a kernel for each order, and in the fork become that kernel."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends when this process has
    os.environ.setdefault("MPLBACKEND", INLINE)
    with suppress(ValueError):
        sys.path.remove(str(Path.cwd()))  # a notebook looks where it is, not where the server is
    try:
        for library in sys.argv[2:]:
            import_module(library)
    except Exception:  # a broken package may raise anything; the notebook says what is missing
        return
    gc.collect()
    gc.freeze()  # what is never looked at by the collector stays shared
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        return  # a fork has one thread, and would wait for what the others hold
    with Connection(int(sys.argv[1])) as orders, suppress(EOFError):  # the server has ended
        become_kernel(*next_order(orders))


def next_order(orders: Connection) -> tuple[list[str], str | None, dict[str, str]]:
    """Answer each order with the number of a forked process; in the fork, return the order."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for kernels that have ended
    while True:
        order = orders.recv()
        try:
            pid = os.fork()
        except OSError:  # no room for another process
            pid = None
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            orders.close()
            return order
        orders.send(pid)


def become_kernel(arguments: list[str], cwd: str | None, environment: dict[str, str]) -> None:
    """Run a kernel as if the command had been run."""
    os.setsid()
    os.chdir(cwd or ".")
    os.environ.update(environment | {"JPY_PARENT_PID": str(os.getppid())})
    sys.argv = arguments
    # Or all kernels would draw the same numbers. Python sees to its own.
    import_module("numpy").random.seed()
    import_module("torch").default_generator.seed()
    import_module("ipykernel.kernelapp").launch_new_instance()


if __name__ == "__main__":
    main()
