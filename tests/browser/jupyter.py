"""Real Jupyter servers, and what a person does with a notebook in a browser.

The browser tests share this module.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, Page, ViewportSize, expect

from cloze.serving import lab
from web.browser import PATIENCE

NO_NETWORK = Path(__file__).resolve().parents[1] / "no_network"
TOKEN = "secret"
VIEWPORT: ViewportSize = {"width": 1200, "height": 900}
MORTAL = (
    "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGTERM); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Run the command that follows so that it ends when the process that started it has ended.

What ends a server ends its kernels; a browser and other kernels watch their parents themselves.
"""

# --- servers ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    """A running server: its address, where it opens a notebook, and the notebooks' folder."""

    url: str
    opens: str
    folder: Path

    def write(self, name: str, cells: Sequence[str]) -> None:
        """Save a notebook of code cells that have not run."""
        notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, self.folder / name)

    def forget_settings(self) -> None:
        """Return to JupyterLab's own settings: the theme, say, outlives a page."""
        shutil.rmtree(self.folder.parent / "config/lab/user-settings", ignore_errors=True)

    def address(self, name: str) -> str:
        """Name the page of a notebook."""
        return f"{self.url}/{self.opens}/{name}?token={TOKEN}&reset"


def free_port() -> int:
    """Ask the system for a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(home: Path) -> dict[str, str]:
    """Let a server know nothing of its user, and neither it nor its kernels reach a network."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    folders = {f"JUPYTER_{name.upper()}_DIR": name for name in ("config", "data", "runtime")}
    return {
        **kept,
        **{variable: str(home / name) for variable, name in folders.items()},
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(NO_NETWORK), kept.get("PYTHONPATH")])),
    }


def mortal(command: Sequence[str]) -> list[str]:
    """Let a command end with this process, however that ends; only Linux can."""
    return [sys.executable, "-ISc", MORTAL, *command] if sys.platform == "linux" else [*command]


@contextmanager
def serving(command: Sequence[str], home: Path, opens: str) -> Iterator[Server]:
    """Run a server of the notebooks in ``home``, which is to be empty, until this block ends.

    Args:
        command: what starts it.
        home: an empty folder.
        opens: where it opens a notebook.
    """
    (home / "notebooks").mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log = home / "log.txt"
    with (
        log.open("w", encoding="utf-8") as sink,
        subprocess.Popen(
            [*mortal(command), "--no-browser", f"--port={port}"],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            deadline = time.monotonic() + PATIENCE
            while not listening(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"The server did not start:\n{log.read_text('utf-8')}")
                time.sleep(0.05)
            yield Server(url, opens, home / "notebooks")
        finally:
            process.terminate()  # whereupon it ends its kernels


def listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


@contextmanager
def jupyterlab(home: Path) -> Iterator[Server]:
    """Serve JupyterLab as ``python run.py lab`` does, in an empty folder."""
    with serving(lab_command(home), home, "lab/tree") as server:
        yield server


def lab_command(home: Path) -> list[str]:
    """Start JupyterLab as the series does, on another folder."""
    arguments = [
        f"--IdentityProvider.token={TOKEN}",
        "--expose-app-in-browser",  # for Notebook.command, which menus would make slow and brittle
        "--KernelManager.shutdown_wait_time=0",  # torch takes its time to leave, and has no need to
    ]
    root = f"--ServerApp.root_dir={home / 'notebooks'}"
    return [sys.executable, "-m", "jupyterlab", root, *lab.OPTIONS, *arguments]


@contextmanager
def lecture(home: Path, minutes: str, *arguments: str) -> Iterator[Server]:
    """Serve a lecture as ``python run.py lecture`` does, but with this Python."""
    shown = str(Path(__file__).resolve().parents[2] / "lecture")
    command = [sys.executable, shown, minutes, f"--Voila.token={TOKEN}", *arguments]
    with serving(command, home, "") as server:
        yield server


def tidied(page: Page) -> bool:
    """Close what is open in JupyterLab; tell whether it then is as it was when it had loaded."""
    page.set_viewport_size(VIEWPORT)
    closed: bool = page.evaluate("""() => {
        for (const widget of [...(window.jupyterapp?.shell.widgets("main") ?? [])])
            widget.dispose();
        return !!window.jupyterapp?.commands.hasCommand("docmanager:open")
            && location.pathname.startsWith("/lab/")
            && document.body.dataset.jpThemeLight === "true"
            && !document.querySelector(".jp-Dialog");
    }""")
    return closed


# --- a person at a notebook ---------------------------------------------------------------------


class Notebook:
    """A notebook open in JupyterLab, and a person to run its cells."""

    def __init__(self, server: Server, page: Page) -> None:
        self.server = server
        self.page = page
        page.set_default_timeout(PATIENCE * 1000)
        self.name = ""

    def new(self, *cells: str) -> None:
        """Open a new notebook of these code cells."""
        self.name = f"{time.monotonic_ns()}.ipynb"
        self.server.write(self.name, cells)
        if self.page.url.startswith(f"{self.server.url}/{self.server.opens}"):
            tidied(self.page)
            self.command("docmanager:open", path=self.name)
            self._await_kernel()
        else:
            self.open()

    def open(self) -> None:
        """Open the notebook in a freshly loaded page, and wait until its kernel is ready."""
        self.page.goto(self.server.address(self.name))
        self._await_kernel()

    def _await_kernel(self) -> None:
        self.page.wait_for_function(
            "name => window.jupyterapp?.shell.currentWidget?.context?.path === name", arg=self.name
        )
        self.tell("""async ({ context, sessionContext }) => {
            await context.ready;
            await sessionContext.ready;
            await sessionContext.session.kernel.info;
        }""")

    def tell(self, function: str, argument: object = None) -> Any:
        """Call a JavaScript function with the notebook's panel, an argument and the application."""
        return self.page.evaluate(
            f"argument => ({function})(jupyterapp.shell.currentWidget, argument, jupyterapp)",
            argument,
        )

    def command(self, name: str, **arguments: object) -> None:
        """Carry out one of the application's commands, such as ``docmanager:save``."""
        self.tell("(_, [name, args], app) => app.commands.execute(name, args)", [name, arguments])

    def end_kernels(self) -> None:
        """Shut all kernels down; a notebook that is opened then gets a fresh one."""
        sessions = f"{self.server.url}/api/sessions"
        headers = {"Authorization": f"token {TOKEN}"}
        for session in self.page.request.get(sessions, headers=headers).json():
            self.page.request.delete(f"{sessions}/{session['id']}", headers=headers)

    @property
    def cells(self) -> Locator:
        """The code cells."""
        return self.page.locator(".jp-Notebook .jp-CodeCell")

    def output(self, index: int) -> Locator:
        """Find the output of a cell."""
        return self.cells.nth(index).locator(".jp-Cell-outputArea")

    def widget(self, css: str = ".cloze:not(.still)") -> Locator:
        """Find the notebook's widget."""
        return self.page.locator(".jp-Notebook").locator(css)

    def start(self, index: int) -> None:
        """Run a cell without waiting for its end."""
        self.tell(
            """({ content }, index, { commands }) => {
                content.activeCellIndex = index;
                content.activeCell.model.clearExecution();  // so that the end can be told
                commands.execute("notebook:run-cell");
            }""",
            index,
        )

    def ended(self, index: int) -> str:
        """Wait for a cell's end and return the text it put out."""
        prompt = self.cells.nth(index).locator(".jp-InputPrompt")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"))
        return self.output(index).inner_text().strip()

    def run(self, index: int) -> str:
        """Run a cell to its end and return the text it put out."""
        self.start(index)
        return self.ended(index)

    def fresh(self, code: str) -> str:
        """Write code into a new cell at the end, run it and return the text it put out."""
        index: int = self.tell(
            """({ content }, source) => {
                const cells = content.model.sharedModel;
                cells.addCell({ cell_type: "code", source });
                return cells.cells.length - 1;
            }""",
            code,
        )
        return self.run(index)

    def theme(self, name: str) -> None:
        """Change to the ``"light"`` or the ``"dark"`` theme."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name.title()}")
        light = str(name == "light").lower()
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", light)
        # Lab covers the page meanwhile; another change before it uncovers it would be an error.
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def save(self) -> None:
        """Save the notebook."""
        self.command("docmanager:save")
