"""What a learner waits for, and what memory it takes.

``python -m benchmarks.latency`` measures

* clicks, from the press of the mouse to the changed page, in a real JupyterLab and a real browser:
  in a widget that does nothing but count (the bare round trip to the kernel and back) and in the
  mask explorer, until the mask is seen and until three models have answered; each with a pause
  between the clicks, as a person makes, and as fast as the answers come; in JupyterLab as
  ``python run.py lab`` starts it and with "Kernel Comms over subshells" disabled, which would cost
  the Stop button: no click is answered while a cell runs; and on the page, which has no kernel;
* predictions: three models on one line of 64 characters, without a browser;
* imports: ``import cloze`` beside ``import torch``;
* lab: from starting JupyterLab, as ``python run.py lab`` does it, to the answer of a first cell;
* lecture: from opening a lecture's page to its title, and until all its screens are alive;
* notebooks: the time of each under nbval, and the peak memory of the kernel that runs it.

About twelve minutes; interrupt it at any time and keep what it has printed. Clicks and lab need
Chromium or Chrome.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Locator
from tqdm import tqdm

from benchmarks.machine import machine
from cloze.prediction.answers import predict
from cloze.prediction.shipped import shipped_models
from cloze.vocabulary import VOCABULARY
from tests.browser import jupyter
from tests.browser.jupyter import Answer, Notebook, click_and_time
from web.browser import NO_CHROMIUM, browsing, chromium, served
from web.build import build_page

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINE = "the old man walked slowly down to the harbour and looked at ships"[:64]
MODULES = ("torch", "cloze", "cloze.prediction.lines", "cloze.widgets.explorer.widget")

# ── clicks ──

COUNTER = '''
import anywidget
import traitlets

class Counter(anywidget.AnyWidget):
    _esm = """
    function render({ model, el }) {
      el.className = "cloze";
      el.innerHTML = "<button data-do='toggle'>click</button> <output>0</output>";
      el.firstChild.onclick = () => model.send({});
      model.on("change:count", () => { el.lastChild.textContent = model.get("count"); });
    }
    export default { render };
    """
    count = traitlets.Int().tag(sync=True)

    def __init__(self):
        super().__init__()
        self.on_msg(self.add)

    def add(self, *_):
        self.count += 1

Counter()
'''
EXPLORER = "from cloze.widgets import MaskExplorer\nMaskExplorer()"
WIDGETS = {
    "bare round trip": (COUNTER, ""),
    "mask alone": (EXPLORER, ""),
    "mask explorer": (EXPLORER, r"Position {at},? masked\. From both"),
}
"""What is clicked in, and what is read after a click at {at}; "" is whatever changes first."""
PAUSES = {"at ease": 0.3, "at once": 0.0}
"""Seconds between an answer and the next click."""
SETTINGS: dict[str, dict[str, object]] = {
    "run.py lab": {},
    "no subshells": {
        "@jupyterlab/apputils-extension:kernels-settings": {"commsOverSubshells": "disabled"}
    },
}


def measure(browser: Browser, setting: str, clicks: int) -> Iterator[tuple[str, str, list[Answer]]]:
    """Click through every widget in one JupyterLab; yield widget, pace and the measured answers."""
    with (
        tempfile.TemporaryDirectory() as home,
        jupyter.jupyterlab(Path(home), SETTINGS[setting]) as server,
    ):
        for widget, (code, answer) in WIDGETS.items():
            page = browser.new_page()
            notebook = Notebook(server, page)
            notebook.new(code)
            notebook.run(0)
            for pace, pause in PAUSES.items():
                yield widget, pace, clicked(notebook.widget(), answer, pause, clicks)
            page.close()


def on_the_page(browser: Browser, clicks: int) -> Iterator[tuple[str, str, list[Answer]]]:
    """Click through the explorer where there is no kernel."""
    with tempfile.TemporaryDirectory() as folder:
        build_page(Path(folder))
        with served(Path(folder)) as address:
            for widget, (code, answer) in WIDGETS.items():
                if code == EXPLORER:
                    page = browser.new_page()
                    page.goto(address)
                    page.locator("#explorer").get_by_role("button", name="Reveal").click()
                    for pace, pause in PAUSES.items():
                        explorer = page.locator("#explorer .cloze")
                        yield widget, pace, clicked(explorer, answer, pause, clicks)
                    page.close()


def clicked(widget: Locator, answer: str, pause: float, clicks: int) -> list[Answer]:
    """Click one button of a widget after the other, and measure the answers."""
    buttons = widget.locator("button[data-do=toggle]")
    buttons.first.wait_for()
    answers = []
    for click in range(clicks):
        widget.page.wait_for_timeout(1000 * pause)
        at = click % buttons.count()
        answers.append(click_and_time(buttons.nth(at), widget, answer.format(at=at)))
    return answers


def row(answers: list[Answer]) -> str:
    """Write median and 95th percentile in milliseconds, to the new HTML and to its frame."""
    cells = []
    for seconds in zip(*answers, strict=True):
        percentiles = statistics.quantiles(seconds, n=100, method="inclusive")
        cells += [f"{1000 * percentiles[place - 1]:>8.0f}" for place in (50, 95)]
    return "".join(cells)


def clicks(repeats: int) -> Iterator[str]:
    """Time clicks in every widget, at both paces, in every setting."""
    executable = chromium()
    if not executable:
        yield NO_CHROMIUM
        return
    with browsing(executable) as browser:
        packages = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget")
        versions = ", ".join(f"{package} {version(package)}" for package in packages)
        yield f"Chromium {browser.version}, {versions}"
        yield f"{'milliseconds from press to':<45}{'new HTML':>16}{'its frame':>16}"
        title = f"{'JupyterLab':<14}{'widget':<18}{'clicks':<13}{'  median    95%' * 2}"
        yield f"{title}{'times bare':>12}"
        for setting in list(SETTINGS)[: 1 if repeats < 10 else None]:
            bare: dict[str, float] = {}
            for widget, pace, answers in measure(browser, setting, repeats):
                median = statistics.median(answer.html for answer in answers)
                times = median / bare.setdefault(pace, median)  # the bare round trip comes first
                yield f"{setting:<14}{widget:<18}{pace:<13}{row(answers)}{times:>12.1f}"
        for widget, pace, answers in on_the_page(browser, repeats):
            yield f"{'the page':<14}{widget:<18}{pace:<13}{row(answers)}"


# ── everything else ──


def predictions(repeats: int) -> Iterator[str]:
    """Time three models on one line of 64 characters."""
    models = shipped_models()
    input_ids = VOCABULARY.encode(LINE)
    for masked in (1, 10, 64):
        seconds = []
        for _ in range(repeats):
            started = time.perf_counter()
            for model in models.values():
                predict(model, input_ids, range(masked))
            seconds.append(time.perf_counter() - started)
        middle = 1000 * statistics.median(seconds)
        worst = 1000 * statistics.quantiles(seconds, n=20, method="inclusive")[-1]
        yield f"{masked:>3} of 64 masked, left + right + both: {middle:.1f} ms, 95% {worst:.1f} ms"


def imports(repeats: int) -> Iterator[str]:
    """Time imports in fresh interpreters, an empty one taken off."""

    def seconds(code: str) -> float:
        times = []
        for _ in range(repeats):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    empty = seconds("")
    for module in MODULES:
        yield f"import {module}: {seconds(f'import {module}') - empty:.2f} s"


def lab(repeats: int) -> Iterator[str]:
    """Time JupyterLab from its start to the answer of a first cell."""
    executable = chromium()
    if not executable:
        yield NO_CHROMIUM
        return
    ready, answered = [], []
    with browsing(executable) as browser:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as home:
                started = time.perf_counter()
                with jupyter.jupyterlab(Path(home)) as server:
                    ready.append(time.perf_counter() - started)
                    page = browser.new_page()
                    notebook = Notebook(server, page)
                    notebook.new("print(1 + 1)")
                    assert notebook.run(0) == "2"
                    answered.append(time.perf_counter() - started)
                    page.close()
    yield f"the server answers after {statistics.median(ready):.1f} s"
    yield f"a notebook's first cell is answered after {statistics.median(answered):.1f} s"


def lecture(repeats: int) -> Iterator[str]:
    """Time both lectures from opening the page to the title, and until every widget is alive.

    The first opening follows the server's start at once, as a browser does that it opens itself;
    by the others the warm process is ready.
    """
    executable = chromium()
    if not executable:
        yield NO_CHROMIUM
        return
    with browsing(executable) as browser:
        for minutes in ("60", "90"):
            with (
                tempfile.TemporaryDirectory() as home,
                jupyter.lecture(Path(home), minutes) as server,
            ):
                for number in range(repeats):
                    page = browser.new_page()
                    started = time.perf_counter()
                    page.goto(f"{server.url}/?token={jupyter.TOKEN}", wait_until="commit")
                    page.locator(".screen:not([hidden]) h1").wait_for()
                    title = time.perf_counter() - started
                    page.locator("body[data-ready]").wait_for(timeout=300_000)
                    ready = time.perf_counter() - started
                    page.close()
                    server_was = "just started" if number == 0 else "started before"
                    yield (
                        f"{minutes} minutes, server {server_was}: "
                        f"title {title:.1f} s, ready {ready:.1f} s"
                    )


def under_nbval(path: Path) -> tuple[float, float]:
    """Run a notebook as the tests do; return seconds, and the most MB its kernel was resident with.

    Raises:
        RuntimeError: the notebook's outputs differ.
    """
    started = time.perf_counter()
    most = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        command = [sys.executable, "-m", "pytest", "-q", str(path)]
        tests = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said)  # noqa: S603
        try:
            while tests.poll() is None:
                with contextlib.suppress(psutil.NoSuchProcess):  # one that ended meanwhile
                    children = psutil.Process(tests.pid).children(recursive=True)
                    most = max([most, *(child.memory_info().rss for child in children)])
                time.sleep(0.05)
        finally:
            try:
                tests.wait(timeout=5)  # Ctrl-C reached it too: let it end its kernel
            except subprocess.TimeoutExpired:
                tests.kill()
                tests.wait()
        seconds = time.perf_counter() - started
        said.seek(0)
        if tests.returncode:
            raise RuntimeError(said.read())
    return seconds, most / 2**20


def notebooks(repeats: int) -> Iterator[str]:
    """Time every notebook under nbval and measure what its kernel needs."""
    for path in NOTEBOOKS if repeats > 1 else NOTEBOOKS[:1]:
        seconds, megabytes = under_nbval(path)
        yield f"{path.stem}: {seconds:.0f} s under nbval, at most {megabytes:.0f} MB"


PARTS: dict[str, tuple[Callable[[int], Iterator[str]], int, int]] = {
    "clicks": (clicks, 200, 3),
    "predictions": (predictions, 200, 3),
    "imports": (imports, 7, 1),
    "lab": (lab, 3, 1),
    "lecture": (lecture, 4, 1),
    "notebooks": (notebooks, 2, 1),
}
"""What is measured, how often, and how often in the quick mode."""


def main(arguments: list[str] | None = None) -> None:
    """Print every measurement on a line of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a little of each, for the tests")
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    options = parser.parse_args(arguments)
    print(machine())
    try:
        for name in [options.only] if options.only else PARTS:
            part, often, quickly = PARTS[name]
            for line in tqdm(part(quickly if options.quick else often), desc=name, leave=False):
                tqdm.write(line)
    except KeyboardInterrupt:
        print("stopped; the lines above are complete")


if __name__ == "__main__":
    main()
