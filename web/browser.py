"""A real browser, and the page served to it: for tests, measurements and what is printed."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from web.build import build_page

PATIENCE = 60.0
"""Seconds after which what is awaited will not come; only a failing test waits that long."""

NO_CHROMIUM = (
    "There is no Chromium: install it (on Debian with `sudo apt install chromium`) "
    "or name the Chromium or Chrome you have in the environment variable CLOZE_CHROMIUM."
)


def chromium() -> str | None:
    """Find the browser: the one that CLOZE_CHROMIUM names, otherwise one that is installed."""
    if named := os.environ.get("CLOZE_CHROMIUM"):
        return shutil.which(named)
    names = ("chromium", "chromium-browser", "google-chrome", "/usr/bin/chromium")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def browsing(executable: str) -> Iterator[Browser]:
    """Start a browser without a window and without a way to any other machine."""
    arguments = [
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        "--disable-background-networking",
        "--disable-gpu",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium refuses to make one for root
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder's files until this block ends, and yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- clicks ---------------------------------------------------------------------------------------

ANSWERED = """(root, [wanted, patience]) => {
  const pattern = new RegExp(wanted);
  const answered = new Promise((resolve, reject) => {
    const begin = (press) => {
      const before = root.textContent;
      const observer = new MutationObserver(() => {
        const { textContent } = root;
        if (textContent === before || !pattern.test(textContent)) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve((performance.now() - press.timeStamp) / 1000));
      });
      observer.observe(root, { subtree: true, childList: true, characterData: true });
    };
    root.addEventListener("mousedown", begin, { once: true, capture: true });
    setTimeout(() => reject(new Error(`No answer like ${pattern}.`)), patience * 1000);
  });
  return { answered }; // in an object, because a promise itself would be waited for
}"""


def click_and_time(button: Locator, root: Locator, answer: str = "") -> float:
    """Click a button; return the seconds until the page's frame that shows the answer.

    Args:
        button: what is clicked.
        root: an element that contains the button and whose text the answer changes.
        answer: a regular expression that the changed text matches.
    """
    waiting = root.evaluate_handle(ANSWERED, [answer, PATIENCE])
    button.click()
    seconds = waiting.evaluate("({ answered }) => answered")
    waiting.dispose()
    return float(seconds)


# --- the page's engine, alone ---------------------------------------------------------------------

LOAD = """async () => {
  const engine = ["crew", "run_file", "training"].map((name) => `web/engine/${name}`);
  for (const path of ["web/twins/predictors", "src/cloze/widgets/browser/widget", ...engine])
    Object.assign(window, await import(`./${path}.js`));
  window.script = new URL("web/engine/worker.js", location.href).href;
  window.bytes = async (name) => (await fetch(name)).arrayBuffer();
  window.module = await WebAssembly.compile(await bytes("engine.wasm"));
  window.predictors = await loadPredictors(bytes, module);
}"""


def write_with_blank(folder: Path) -> None:
    """Build the page into a folder, and put ``blank.html`` beside it, on which nothing runs yet."""
    build_page(folder)
    blank = '<!doctype html><link rel="icon" href="icon.svg">'
    (folder / "blank.html").write_text(blank, encoding="utf-8")


def load_engine(page: Page, address: str) -> None:
    """Open the blank page, and give it ``predictors``, the three models, and what trains."""
    page.goto(f"{address}/blank.html")
    page.evaluate(LOAD)
