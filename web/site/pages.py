"""Notebooks as pages: what a widget leaves behind becomes what works without Python."""

from __future__ import annotations

import copy
import html as entities
import re
import textwrap
from functools import cache
from typing import Any

import nbformat
from docutils import nodes
from markupsafe import Markup

from cloze.widgets.markup import element
from notebooks import colab
from web.build import about, modules

WIDGET = "application/vnd.jupyter.widget-view+json"
ASLEEP = re.compile(r'<div class="cloze-asleep"[^>]*>(.*)<p>To use this widget', re.DOTALL)
"""What a widget leaves behind, and the picture in it."""
LIVES = re.compile(r'data-widget="(\w+)" data-state="([^"]*)"')
"""What can live without Python, and how it begins."""
CLASS = re.compile(r"^export default class (\w+)", re.MULTILINE)
"""The class of a widget in its program, which has the same name in Python."""
QUESTION = re.compile(
    r"^(?:\*\*(.+)\*\*\n\n)?- \[(\d\d · .+?)\]\((\w+)\.ipynb\): (.+)$", re.MULTILINE
)
"""A notebook's question in the list of the first one, and the heading above it, if there is one."""
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
"""What a notebook brings along with each output; a page has its style sheets once."""


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
        folds = cell.metadata.get("jupyter", {})
        if folds.get("outputs_hidden"):  # until the reader has guessed
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
        elif folds.get("source_hidden"):  # imports, which a reader without Python need not see
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
            cell.metadata["mystnb"] = {
                "code_prompt_show": "What this notebook imports",
                "code_prompt_hide": "What this notebook imports",
            }
        cell.outputs = [each for each in cell.outputs if WIDGET not in each.get("data", {})]
        for output in cell.outputs:
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = str(shown(data["text/html"]))
    return made


def questions(start: nbformat.NotebookNode) -> Markup:
    """Write a card for each notebook, with the question that it answers.

    Args:
        start: the first notebook, which lists the questions of all others.
    """
    text = "\n".join(cell.source for cell in start.cells if cell.cell_type == "markdown")
    (heading, *first), *others = re.findall(QUESTION, text)
    begins = (heading, "00 · Start here", "00_start_here", "which letter is missing?")
    cards: list[Markup] = []
    for heading, title, name, question in [begins, ("", *first), *others]:
        if heading:
            cards.append(element("h3", heading))
        number, _, topic = title.partition(" · ")
        asked = element("b", question[0].upper() + question[1:])
        parts = (element("span", number), asked, element("small", topic))
        cards.append(element("a", *parts, href=f"notebooks/{name}.html"))
    return element("div", *cards, class_="questions")


def take_along(name: str) -> Markup:
    """Write the links that stand below a page's title: where its notebook runs."""
    links = [element("a", "Download this notebook", href=name, download=True)]
    if colab.at_home():
        there = colab.address(name, colab.written())
        links.append(element("a", "Open it in Colab", href=there))
    return element("p", Markup(" ").join(links), class_="take-along")


def address() -> str:
    """Return where GitHub Pages shows the site; "" while the project has no repository."""
    owner, _, name = colab.here().partition("/")
    host = f"{owner.lower()}.github.io"
    folder = "" if name.lower() == host else f"{name}/"
    return f"https://{host}/{folder}" if owner else ""


def head(name: str, document: nodes.document) -> Markup:
    """Write a page's description for search engines and previews.

    Args:
        name: of its file, without the suffix.
        document: its first title names it, its first words describe it.
    """
    title = next(document.findall(nodes.title)).astext()
    words = " ".join(each.astext() for each in document.findall(nodes.paragraph))
    description = textwrap.shorten(words, 140, placeholder=" …")
    page = "" if name == "index" else f"{name}.html"
    return about(title, description, address() and address() + page)


def shown(html: str) -> Markup:
    """Return what a page shows for an output in HTML."""
    html = unstyled(html)
    asleep, lives = ASLEEP.search(html), LIVES.search(html)
    picture = unstyled(asleep[1]) if asleep else html
    if lives:
        return living(picture, lives[1], entities.unescape(lives[2]))
    if not asleep:
        return picture
    words = "This widget answers in the notebook, where Python runs: "
    words += "above is how it begins." if picture else "take it along."
    return element("div", picture, element("p", words, class_="needs-python"))


def unstyled(html: str) -> Markup:
    """Leave out the styles of an output, as it is committed."""
    return Markup(STYLE.sub("", html))  # noqa: S704 - ours, and escaped where it was made


def living(picture: Markup, widget: str, state: str) -> Markup:
    """Leave room for a widget that ``web/site_widgets.js`` makes.

    Args:
        picture: what stands there until then, and for good where no program may run.
        widget: the name of its class in Python.
        state: what it begins with, as JSON.
    """
    words = "Where the page may run its programs, this widget answers to clicks and keys."
    needs = element("p", words, class_="needs-python")
    return element(
        "div",
        picture,
        needs,
        class_="living",
        data_widget=widget,
        data_program=programs()[widget],
        data_state=state,
    )


@cache
def programs() -> dict[str, str]:
    """Find the program of every widget, by the name of its class.

    Returns:
        Their paths from the folder of the explorer's page, where the site has them.
    """
    return {match[1]: path for path, text in modules().items() if (match := CLASS.search(text))}


def anchor(title: str) -> str:
    """Name a heading as JupyterLab does, for which the notebooks' links were made."""
    return title.replace(" ", "-").replace("%", "%25")
