"""Notebooks as pages: what a widget leaves behind becomes what works without Python."""

from __future__ import annotations

import copy
import re
from typing import Any

import nbformat
from markupsafe import Markup

from cloze.teaching.quiz import questions_of
from cloze.widgets.quiz import sheet
from cloze.widgets.view import element
from notebooks import colab

WIDGET = "application/vnd.jupyter.widget-view+json"
ASLEEP = 'class="cloze-asleep"'
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
"""What a notebook brings along with each output; a page has its style sheets once."""
STILL = re.compile(r'(?<=<div class="cloze-asleep">).*(?=<p>Here belongs)', re.DOTALL)


def page(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Make a page of a notebook.

    Args:
        notebook: as it is committed, with outputs; it stays as it is.
        name: of its file, which stands beside the page.
    """
    made: Any = copy.deepcopy(notebook)
    made.cells = [cell for cell in made.cells if colab.TAG not in cell.metadata.get("tags", [])]
    first = made.cells[0]
    title, _, rest = colab.without_link(first.source).partition("\n")
    first.source = f"{title}\n\n{take_along(name)}\n{rest}"
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [each for each in cell.outputs if WIDGET not in each.get("data", {})]
        for output in cell.outputs:
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = str(shown(data["text/html"], cell.source))
    return made


def take_along(name: str) -> Markup:
    """Write the links that stand below a page's title: where its notebook runs."""
    return element(
        "p",
        element("a", "Download this notebook", href=name, download=True),
        " ",
        element("a", "Open it in Colab", href=colab.address(name)),
        class_="take-along",
    )


def shown(html: str, source: str) -> Markup:
    """Return what a page shows for an output in HTML of the cell with this source."""
    html = STYLE.sub("", html)
    if ASLEEP not in html:
        return Markup(html)  # noqa: S704 - an output as it is committed
    quiz = re.search(r'^Quiz\("(\w+)"\)$', source, re.MULTILINE)
    if quiz:
        return element("div", sheet(questions_of(quiz[1]), folded=True), class_="cloze living-quiz")
    still = STILL.search(html)
    words = "This widget answers in the notebook, where Python runs: "
    words += "you find it as it was left above." if still and still[0] else "take it along."
    picture = Markup(still[0]) if still else None  # noqa: S704 - as above
    return element("div", picture, element("p", words, class_="needs-python"))


def anchor(title: str) -> str:
    """Name a heading as JupyterLab does, for which the notebooks' links were made."""
    return title.replace(" ", "-").replace("%", "%25")
