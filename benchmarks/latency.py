"""What a learner waits for: ``python -m benchmarks.latency`` and the name of a part.

* ``start``: a first start. A fresh clone of the last commit is started by ``run.py lab``, with
  empty caches, until the server answers and until a notebook's first cell is answered. It needs a
  network.
* ``click``: a click in the explorer, in JupyterLab and on the page, from the press of the mouse
  until the frame in which three models have answered; on the page also where words are read.
* ``step``: a step of training on the page, alone and with two workers, in turns with one of torch;
  and, because two busy cores may each be slower than one, two trainings at once.

All need Chromium or Chrome. ``click`` and ``step`` take about a minute each.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Locator, Page

from benchmarks.machine import machine
from cloze.corpus import Corpus
from cloze.heads import MaskedLM
from cloze.serving import lab
from cloze.training import Recipe, TrainingRun
from web.browser import (
    NO_CHROMIUM,
    browsing,
    chromium,
    click_and_time,
    load_engine,
    served,
    write_with_blank,
)

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "secret"  # noqa: S105 - of a server that only this machine reaches
EXPLORER = "from cloze.explorer import MaskExplorer\nMaskExplorer()"
PAUSE = 0.3
"""Seconds between an answer and the next click, as a person makes them."""
RUN = """async (path) => {
  const panel = () => jupyterapp.shell.currentWidget;
  while (!window.jupyterapp || panel()?.context?.path !== path)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await panel().sessionContext.ready;
  await panel().sessionContext.session.kernel.info;
  await jupyterapp.commands.execute("notebook:run-all-cells");
}"""
TRAIN = """async ([workers, steps, config, recipe]) => {
  window.trainings ??= {};
  if (!trainings[workers]) {
    const instance = await WebAssembly.instantiate(module);
    const text = new Int32Array(1e5).map((_, i) => 1 + (i * i) % 27);
    const { crew, lines } = (trainings[workers] = new Training(instance, config, text, recipe));
    for (let n = 0; n < workers; n++) await crew.hire(run(script), { module, config, lines });
  }
  const milliseconds = [];
  for (let n = 0; n < steps; n++) {
    const started = performance.now();
    await trainings[workers].step();
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}"""
"""Return the milliseconds of so many steps of training by so many workers, each on its own."""
WORKERS = {"page": 0, "with two workers": 2}


def write_notebook(path: Path, code: str) -> None:
    """Write a notebook of one cell that has not run."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


@contextmanager
def jupyterlab(command: Sequence[str], folder: Path, **more: str) -> Iterator[str]:
    """Start JupyterLab in a folder, and yield its address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    options = ["--no-browser", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    with subprocess.Popen(  # noqa: S603 - this Python's
        [*command, *options, "--expose-app-in-browser"],
        cwd=folder,
        env={**os.environ, **more},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while not answers(address):
                if process.poll() is not None:
                    raise RuntimeError("The server ended before it answered.")
                time.sleep(0.05)
            yield address
        finally:
            process.terminate()


def answers(address: str) -> bool:
    """Return whether a server answers, with whatever status."""
    try:
        urllib.request.urlopen(f"{address}/favicon.ico", timeout=5).close()  # noqa: S310 - this machine's
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def run_notebook(page: Page, address: str, path: str) -> Locator:
    """Open a notebook, run its cell and return the output that appears."""
    page.goto(f"{address}/lab/tree/{path}?token={TOKEN}")
    page.evaluate(RUN, path)
    output = page.locator(".jp-Cell-outputArea").first
    output.locator(".jp-OutputArea-output").first.wait_for()
    return output


def start(browser: Browser) -> None:
    """Time a first start in a fresh clone."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "cloze"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)  # noqa: S603, S607
        write_notebook(clone / "notebooks" / "first.ipynb", "print(6 * 7)")
        caches = {"UV_CACHE_DIR": f"{folder}/uv", "PIP_NO_CACHE_DIR": "1", "PYTHONPATH": ""}
        started = time.perf_counter()
        with jupyterlab([sys.executable, "run.py", "lab"], clone, **caches) as address:
            print(f"the server answers after {time.perf_counter() - started:.1f} s")
            run_notebook(browser.new_page(), address, "notebooks/first.ipynb")
            print(f"a notebook's first cell after {time.perf_counter() - started:.1f} s")


def clicked(explorer: Locator, clicks: int) -> str:
    """Click one letter after the other; return how long the answers took, in words."""
    buttons = explorer.locator("button[data-do=toggle]")
    buttons.first.wait_for()
    seconds = []
    for click in range(clicks):
        explorer.page.wait_for_timeout(1000 * PAUSE)
        at = click % buttons.count()
        answer = rf"Position {at},? masked\. From both"
        seconds.append(click_and_time(buttons.nth(at), explorer, answer))
    worst = statistics.quantiles(seconds, n=20, method="inclusive")[-1]
    return f"{1000 * statistics.median(seconds):.0f} ms, 95%: {1000 * worst:.0f} ms"


def click(browser: Browser, clicks: int = 60) -> None:
    """Time clicks in the explorer, in JupyterLab and on the page."""
    with tempfile.TemporaryDirectory() as folder:
        write_notebook(Path(folder) / "explorer.ipynb", EXPLORER)
        command = [sys.executable, "-m", "jupyterlab", *lab.OPTIONS]
        with jupyterlab(command, Path(folder)) as address:
            output = run_notebook(browser.new_page(), address, "explorer.ipynb")
            print(f"in JupyterLab: {clicked(output.locator('.cloze:not(.still)'), clicks)}")
    with tempfile.TemporaryDirectory() as folder:
        write_with_blank(Path(folder))
        with served(Path(folder)) as address:
            page = browser.new_page()
            page.goto(f"{address}/index.html")
            explorer = page.locator("#explorer .cloze")
            explorer.get_by_role("button", name="Reveal").click()
            print(f"on the page: {clicked(explorer, clicks)}")
            page.get_by_role("button", name="words", exact=True).first.click()
            explorer.locator(".explorer.words").wait_for()
            explorer.get_by_role("button", name="Reveal").click()
            print(f"on the page, words: {clicked(explorer, clicks)}")


def step(browser: Browser, rounds: int = 10) -> None:
    """Time steps of training on the page and in torch, in turns."""
    run = TrainingRun(MaskedLM(), Corpus.load(), Recipe(evaluations=0))
    steps = 5
    settings = [steps, asdict(run.model.config), asdict(run.recipe)]
    taken: dict[str, list[float]] = {name: [] for name in ("torch", *WORKERS, "each of two")}
    with tempfile.TemporaryDirectory() as folder:
        write_with_blank(Path(folder))
        with served(Path(folder)) as address:
            page, other = browser.new_context().new_page(), browser.new_context().new_page()
            for each in (page, other):
                load_engine(each, address)
            for workers in WORKERS.values():
                page.evaluate(TRAIN, [workers, *settings])  # nothing is compiled yet
            for _ in range(rounds):
                for name, workers in WORKERS.items():
                    taken[name] += page.evaluate(TRAIN, [workers, *settings])
                other.evaluate(f"(given) => {{ window.also = ({TRAIN})(given); }}", [0, *settings])
                taken["each of two"] += page.evaluate(TRAIN, [0, *settings])
                taken["each of two"] += other.evaluate("() => window.also")
                for _ in range(steps):
                    started = time.perf_counter()
                    run.train_step()
                    taken["torch"].append(1000 * (time.perf_counter() - started))
    torch_ms = statistics.median(taken["torch"])
    for name, milliseconds in taken.items():
        ms = statistics.median(milliseconds)
        print(f"{name}: {ms:.0f} ms, {torch_ms / ms:.2f} of torch's speed")


PARTS = {"start": start, "click": click, "step": step}


def main(arguments: list[str] | None = None) -> None:
    """Measure one part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    options = parser.parse_args(arguments)
    executable = chromium()
    if not executable:
        parser.exit(1, f"{NO_CHROMIUM}\n")
    print(machine())
    with browsing(executable) as browser:
        PARTS[options.part](browser)


if __name__ == "__main__":
    main()
