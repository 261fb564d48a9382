"""Notebooks as pages: what a widget leaves behind becomes what works without Python."""

from __future__ import annotations

import copy
import html as entities
import re
from typing import Any

import nbformat
from markupsafe import Markup

from cloze.vocabulary import ALPHABET, GAP, visible
from cloze.widgets.markup import element
from notebooks import colab

WIDGET = "application/vnd.jupyter.widget-view+json"
ASLEEP = re.compile(
    r'<div class="cloze-asleep"(?: data-widget="(?P<widget>\w+)" data-state="(?P<state>[^"]*)")?>'
    r"(?P<still>.*)<p>Here belongs",
    re.DOTALL,
)
"""What a widget leaves behind: its picture and, if it can live without Python, how it begins."""
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
"""What a notebook brings along with each output; a page has its style sheets once."""
OF_CHARACTERS = 'class="cloze still"'
"""A picture of characters; one of words is of other models than the three that the site has."""
LETTER = re.compile(
    r'<span class="letter([^"]*)"[^>]*><span>([^<]*)</span><small data-below="([^"]*)">'
)
"""A position in the explorer's picture of a line: classes, what is seen, the truth below a gap."""
GAME = re.compile(r"GuessingGame\(seed=(\d+)")
UNMASKING = re.compile(r'Unmasking\(\s*"([^"]+)".*?temperature=([\d.]+)', re.DOTALL)
"""The other widgets that live without Python, as a cell makes them."""


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
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):  # until the reader has guessed
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
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
    html = unstyled(html)
    asleep = ASLEEP.search(html)
    picture = unstyled(asleep["still"]) if asleep else html
    if asleep and asleep["widget"]:
        begins = {"data_widget": asleep["widget"], "data_state": entities.unescape(asleep["state"])}
        return living(picture, at_once=True, **begins)
    if asleep and (game := GAME.search(source)):
        return living(picture, at_once=True, data_kind="game", data_seed=game[1])
    if asleep and (unmasking := UNMASKING.search(source)):
        begins = {"data_line": unmasking[1], "data_temperature": unmasking[2]}
        return living(picture, at_once=True, data_kind="unmasking", **begins)
    if OF_CHARACTERS in picture and LETTER.search(picture):
        return living_explorer(picture, at_once=bool(asleep))
    if not asleep:
        return picture
    words = "This widget answers in the notebook, where Python runs: "
    words += "above is how it begins." if picture else "take it along."
    return element("div", picture, element("p", words, class_="needs-python"))


def unstyled(html: str) -> Markup:
    """Leave out the styles of an output, as it is committed."""
    return Markup(STYLE.sub("", html))  # noqa: S704 - ours, and escaped where it was made


def living(picture: Markup, *, at_once: bool, **attributes: str) -> Markup:
    """Leave room for a widget that ``static/living.js`` makes.

    Args:
        picture: what stands there until then, and for good where no program may run.
        at_once: as soon as it comes into sight; otherwise when a button is pressed.
        attributes: what it is, and what it begins with.
    """
    words = "Where the page may run its programs, this widget answers to clicks and keys."
    asked = element("p", words, class_="needs-python")
    return element("div", picture, asked, class_="living", data_at_once=at_once, **attributes)


def living_explorer(picture: Markup, *, at_once: bool) -> Markup:
    """Leave room for the explorer with the line and the gaps of its picture."""
    line, mask = line_of(picture)
    gaps = ",".join(map(str, mask))
    begins = {"data_kind": "explorer", "data_line": line, "data_mask": gaps}
    return living(picture, at_once=at_once, **begins)


def line_of(picture: str) -> tuple[str, list[int]]:
    """Read the line of the explorer's picture, and which positions of it are masked."""
    characters = {visible(symbol): symbol for symbol in ALPHABET}
    line, mask = [], []
    for at, (classes, seen, below) in enumerate(LETTER.findall(picture)):
        if masked := "masked" in classes.split():
            mask.append(at)
        sign = entities.unescape(below if masked else seen)
        line.append(characters.get(sign, sign) or GAP)
    return "".join(line), mask


def anchor(title: str) -> str:
    """Name a heading as JupyterLab does, for which the notebooks' links were made."""
    return title.replace(" ", "-").replace("%", "%25")
