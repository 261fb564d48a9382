"""The page built, and beside it a blank one, in which its engine can be asked alone."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from web.build import build_page

LOAD = """async () => {
  for (const name of ["arguments", "checkpoint", "predictor", "vocabulary"])
    Object.assign(window, await import(`./${name}.js`));
  // Not from the cache, which believes that a file stays the same for a second.
  window.bytes = async (name) => (await fetch(name, { cache: "no-store" })).arrayBuffer();
  const names = ["left", "right", "both"];
  window.files = {};
  for (const name of names) files[name] = await bytes(`${name}.safetensors`);
  const started = performance.now();
  window.predictors = await readPredictors(files);
  return performance.now() - started;
}"""


def write(folder: Path) -> None:
    """Build the page into a folder, and put ``blank.html`` beside it, on which nothing runs yet."""
    build_page(folder)
    blank = '<!doctype html><link rel="icon" href="icon.svg">'
    (folder / "blank.html").write_text(blank, encoding="utf-8")


def load(page: Page, address: str) -> float:
    """Open the blank page and make ``predictors``, and what the modules export, globals of it.

    Returns:
        How many milliseconds it took to make the models from their bytes.
    """
    page.goto(f"{address}/blank.html")
    return float(page.evaluate(LOAD))
