"""``python run.py handout [FILE]``: write the handout, two pages to print from any browser.

Its words are in ``handout.html``. Its figures come from the notebooks, each named by the heading
above it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

from cloze.serving import lab

HERE = Path(__file__).resolve().parent
NOTEBOOKS = (lab.NOTEBOOKS / "01_the_loss.ipynb", HERE / "90_minutes.ipynb")


def figures() -> dict[str, str]:
    """Return the first figure below each heading of the notebooks, as an ``<img>``."""
    images: dict[str, str] = {}
    for path in NOTEBOOKS:
        heading = ""
        for cell in nbformat.read(path, as_version=4).cells:
            for title in re.findall(r"^##? (.+)", cell.source, re.MULTILINE):
                heading = title
            for output in cell.get("outputs", ()):
                for image in re.findall(
                    r"<img [^>]*>", output.get("data", {}).get("text/html", "")
                ):
                    images.setdefault(heading, image)
    return images


def page() -> str:
    """Write the handout as HTML, with the figures in place of ``{{heading}}``."""
    images = figures()
    text = (HERE / "handout.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(.+?)\}\}", lambda match: images[match[1]], text)


def main(arguments: Sequence[str]) -> None:
    """Write the handout into a file, by default ``handout.html``."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        sys.exit("usage: python run.py handout [FILE]")
    path = Path(*arguments or ["handout.html"])
    try:
        path.write_text(page(), encoding="utf-8")
    except OSError as error:
        sys.exit(f"{path} cannot be written: {error.strerror or error}.")
    print(f"{path}: open it in a browser and print it, two pages on A4 or Letter.")


if __name__ == "__main__":
    main(sys.argv[1:])
