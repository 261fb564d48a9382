"""The engine of the page alone: its modules and its weights in a folder, and in a page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from web import weights

WEB = Path(weights.__file__).parent
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
    """Write the modules, the weights and an empty page into a folder."""
    for module in WEB.glob("*.js"):
        (folder / module.name).write_bytes(module.read_bytes())
    (folder / "empty.html").write_text("<link rel='icon' href='data:,'>", encoding="utf-8")
    weights.write(folder)


def load(page: Page, address: str) -> float:
    """Open the empty page and make ``predictors``, and what the modules export, globals of it.

    Returns:
        How many milliseconds it took to make the models from their bytes.
    """
    page.goto(f"{address}/empty.html")
    return float(page.evaluate(LOAD))
