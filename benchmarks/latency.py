"""How long a click in a widget takes to change the page, in a real JupyterLab and a real browser.

``python -m benchmarks.latency`` clicks in a widget that does nothing but count (the bare round trip
to the kernel and back) and in the mask explorer, which asks three models; each with a pause between
the clicks, as a person makes, and as fast as the answers come; in JupyterLab as
``python run.py lab`` starts it and with "Kernel Comms over subshells" disabled in its settings,
which would cost the Stop button: no click is answered while a cell runs. About six minutes;
interrupt it at any time and keep what it has printed. It needs Chromium or Chrome.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.machine import machine
from tests.browser import jupyter
from tests.browser.jupyter import Answer, Notebook, click_and_time

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
WIDGETS = {
    "bare round trip": COUNTER,
    "mask explorer": "from cloze.widgets import MaskExplorer\nMaskExplorer()",
}
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
        for widget, code in WIDGETS.items():
            page = browser.new_page()
            notebook = Notebook(server, page)
            notebook.new(code)
            notebook.run(0)
            buttons = notebook.widget().locator("button[data-do=toggle]")
            buttons.first.wait_for()
            for pace, pause in PAUSES.items():
                answers = []
                for click in range(clicks):
                    page.wait_for_timeout(1000 * pause)
                    button = buttons.nth(click % buttons.count())
                    answers.append(click_and_time(button, notebook.widget()))
                yield widget, pace, answers
            page.close()


def row(answers: list[Answer]) -> str:
    """Write median and 95th percentile in milliseconds, to the new HTML and to its frame."""
    cells = []
    for seconds in zip(*answers, strict=True):
        percentiles = statistics.quantiles(seconds, n=100, method="inclusive")
        cells += [f"{1000 * percentiles[place - 1]:>8.0f}" for place in (50, 95)]
    return "".join(cells)


def main(arguments: list[str] | None = None) -> None:
    """Print one line for each way to click."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--clicks", type=int, default=200, help="how many of each kind, 2 or more")
    parser.add_argument("--quick", action="store_true", help="3 clicks of each, one setting")
    options = parser.parse_args(arguments)
    clicks = 3 if options.quick else options.clicks
    if clicks < 2:
        parser.error(f"--clicks is at least 2, not {clicks}")
    executable = jupyter.chromium()
    if not executable:
        parser.error(jupyter.NO_CHROMIUM)
    try:
        with jupyter.browsing(executable) as browser:
            packages = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget")
            versions = ", ".join(f"{package} {version(package)}" for package in packages)
            print(f"{machine()}; Chromium {browser.version}, {versions}")
            print(f"{'milliseconds from press to':<45}{'new HTML':>16}{'its frame':>16}")
            print(f"{'JupyterLab':<14}{'widget':<18}{'clicks':<13}{'  median    95 %' * 2}")
            for setting in list(SETTINGS)[: 1 if options.quick else None]:
                for widget, pace, answers in measure(browser, setting, clicks):
                    print(f"{setting:<14}{widget:<18}{pace:<13}{row(answers)}", flush=True)
    except KeyboardInterrupt:
        print("stopped; the lines above are complete")


if __name__ == "__main__":
    main()
