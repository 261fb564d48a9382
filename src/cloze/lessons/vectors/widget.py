"""A search by vectors and by counted words, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.arguments import checked
from cloze.lessons.vectors.search import TERMS, Hit, Index, SearchResult
from cloze.vocabulary import counted
from cloze.widgets.markup import element
from cloze.widgets.widget import Widget, program

LEFT = "text-align: left"
"""JupyterLab sets tables flush right where no style sheet says otherwise."""


class Search(Widget):
    """Type a line, and see the nearest passages by vectors and by tf-idf.

    Args:
        index: what is searched.
        line: what is looked for at first.

    Raises:
        TextError: the line cannot be read.
    """

    _esm = program(Path(__file__).with_suffix(".js"))

    found = traitlets.Instance(SearchResult).tag(sync=True)
    chosen: traitlets.Dict[str, str] = traitlets.Dict().tag(sync=True)
    """By which vectors and which terms."""
    choices: traitlets.Dict[str, list[str]] = traitlets.Dict().tag(sync=True)

    @checked
    def __init__(self, index: Index, line: str) -> None:
        self.index = index
        choices = {"vectors": [*index.vectors], "terms": [*TERMS]}
        chosen: dict[str, Any] = {what: names[0] for what, names in choices.items()}
        super().__init__(choices=choices, chosen=chosen, found=index.find(line, **chosen))

    def __repr__(self) -> str:
        n = counted(len(self.index.passages), "passage")
        return f"Search({n}, {self.found.line[:40]!r}, by {', '.join(self.chosen.values())})"

    def answer_search(self, line: str | None = None, **chosen: Any) -> None:
        """Look for another line, or by other vectors or terms."""
        chosen = self.chosen | chosen
        found = self.index.find(self.found.line if line is None else line, **chosen)
        with self.hold_sync():
            self.set_trait("found", found)
            self.set_trait("chosen", chosen)

    def alone(self) -> None:
        """Return nothing: Python has the passages."""

    def still(self) -> Markup:
        """Write what was found, for where nothing runs."""
        tables = (_table(way, hits) for way, hits in self.found.ways.items())
        return element("div", *tables, class_="cloze still")


def _table(way: str, hits: Sequence[Hit]) -> Markup:
    rows = [
        element(
            "tr",
            element("td", f"{hit.similarity:.2f}", class_="number"),
            element("td", _marked(hit), style=LEFT),
        )
        for hit in hits
    ]
    none = element("tr", element("td", "No passage matches.", style=LEFT))
    caption = element("caption", f"By {way}: cosine and passage", style=LEFT)
    return element("table", caption, element("tbody", *(rows or [none])), class_="hits")


def _marked(hit: Hit) -> Markup:
    """Write a passage, its shared words in bold type: without style a mark is unreadable."""
    words = (element("b", w) if w in hit.shared else w for w in hit.passage.text.split())
    return Markup("… {} … ({})").format(Markup(" ").join(words), hit.passage.piece)
