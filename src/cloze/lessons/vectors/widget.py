"""A search by vectors and by counted words, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets
from markupsafe import Markup

from cloze.arguments import checked
from cloze.lessons.vectors.search import TERMS, Hit, Index, SearchResult
from cloze.vocabulary import counted
from cloze.widgets.markup import element, still_lines
from cloze.widgets.widget import Widget, program


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
        self.change(found=found, chosen=chosen)

    def alone(self) -> None:
        """Return nothing: Python has the passages."""

    def still(self) -> Markup:
        lines: list[object] = []
        for way, hits in self.found.ways.items():
            lines += [f"By {way}: cosine and passage", *map(_written, hits)]
            lines += [] if hits else ["No passage matches."]
        return still_lines(*lines)


def _written(hit: Hit) -> Markup:
    """Write a passage, the words that it shares with the line in bold type."""
    words = (element("b", w) if w in hit.shared else w for w in hit.passage.text.split())
    text = Markup(" ").join(words)
    return Markup("{:.2f} … {} … ({})").format(hit.similarity, text, hit.passage.piece)
