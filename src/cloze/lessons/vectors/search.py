"""A search by vectors and by counted words, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import torch
from markupsafe import Markup
from torch import Tensor

from cloze.border import between, checked
from cloze.encoder import Encoder
from cloze.use.vectors import (
    Passage,
    TfIdf,
    Whitening,
    character_ngrams,
    cosine,
    embed,
    nearest,
    padded,
    words,
)
from cloze.vocabulary import VOCABULARY, TextError, counted, normalise
from cloze.widgets.view import View, button, element, form, join, select, status, style

LONGEST = 64
"""The most characters of a query: what the encoder reads at once."""
SHOWN = 5
LEFT = "text-align: left"
"""JupyterLab sets tables flush right where no style sheet says otherwise."""
Terms = Literal["words", "3 to 5 characters"]
TERMS = {"words": words, "3 to 5 characters": character_ngrams}


# Pure functions


def mean_states(encoder: Encoder, texts: Sequence[str]) -> Tensor:
    """Return the mean of an encoder's hidden states for each text, ``(n, d)``."""
    ids, padding = padded([VOCABULARY.encode(text) for text in texts])
    return embed(encoder, ids, padding)


class EncoderVectors(NamedTuple):
    """How texts become vectors: the mean of an encoder's states, then a change of coordinates."""

    encoder: Encoder
    change: Whitening | None = None

    def changed(self, means: Tensor) -> Tensor:
        """Change the coordinates of mean states, if wished."""
        return means if self.change is None else self.change(means)

    def __call__(self, texts: Sequence[str]) -> Tensor:
        """Return one vector for each text, ``(n, d)``."""
        return self.changed(mean_states(self.encoder, texts))


def read_query(typed: str) -> str:
    """Read what somebody looks for, as the 28 characters.

    Raises:
        TextError: nothing is left of it, or it is too long.
    """
    line = " ".join(normalise(typed).text.split())
    if not line:
        raise TextError("There is nothing to look for; type a word or two with letters a to z.")
    if len(line) > LONGEST:
        raise TextError(
            f"That has {len(line)} characters and the model reads {LONGEST}; shorten it."
        )
    return line


class Hit(NamedTuple):
    """A passage that was found."""

    passage: Passage
    similarity: float
    shared: tuple[str, ...]
    """The words that it has in common with what was looked for, the rarest first."""


class Found(NamedTuple):
    """What was found for a line."""

    line: str
    ways: dict[str, list[Hit]]
    """By way of looking, the nearest passages, the nearest first."""

    def __repr__(self) -> str:
        said = [f"nearest to {self.line!r}"]
        for way, hits in self.ways.items():
            said.append(f"by {way}:")
            said += [f"  {h.similarity:.2f}  {h.passage.text}  ({h.passage.piece})" for h in hits]
            said += ["  no passage matches"] * (not hits)
        return "\n".join(said)


class Index:
    """Passages that can be searched, by vectors of several kinds and by counted terms.

    Args:
        passages: what is searched.
        vectors: by name, what makes vectors of texts; each encoder reads the passages once, here.
    """

    def __init__(self, passages: Sequence[Passage], vectors: Mapping[str, EncoderVectors]) -> None:
        self.passages = list(passages)
        texts = [passage.text for passage in passages]
        encoders = {of.encoder for of in vectors.values()}
        means = {encoder: mean_states(encoder, texts) for encoder in encoders}
        self.vectors = {name: (of, of.changed(means[of.encoder])) for name, of in vectors.items()}
        self.terms = {name: TfIdf(texts, terms) for name, terms in TERMS.items()}

    @checked
    def find(
        self,
        typed: str,
        vectors: str = "",
        terms: Terms = "words",
        k: Annotated[int, between(1, 50)] = SHOWN,
    ) -> Found:
        """Find the nearest passages, except the line itself.

        Args:
            typed: what is looked for.
            vectors: by which vectors; "" for the first kind.
            terms: by which terms.
            k: how many.

        Raises:
            TextError: the line cannot be read.
            ValueError: there is no such way.
        """
        line = read_query(typed)
        vectors = vectors or next(iter(self.vectors))
        if vectors not in self.vectors:
            names = ", ".join(self.vectors)
            raise ValueError(f"vectors is one of {names}, not {vectors!r}.")
        of, known = self.vectors[vectors]
        by_vectors = cosine(of([line]), known)
        by_terms = self.terms[terms].similarity([line])
        return Found(
            line,
            {
                f"vectors ({vectors})": self._hits(line, by_vectors[0], k),
                f"tf-idf ({terms})": self._hits(line, by_terms[0], k, above=0.0),
            },
        )

    def _hits(
        self, line: str, similarity: Tensor, k: int, above: float = float("-inf")
    ) -> list[Hit]:
        same = torch.tensor([passage.text == line for passage in self.passages])
        similarity = similarity.masked_fill(same, float("-inf"))
        found = nearest(similarity[None], min(k, len(self.passages)))[0].tolist()
        return [
            Hit(
                self.passages[i],
                float(similarity[i]),
                tuple(self.terms["words"].shared(line, self.passages[i].text)),
            )
            for i in found
            if similarity[i] > above and not same[i]
        ]


# The widget


class Search(View):
    """Type a line, and see the nearest passages by vectors and by tf-idf.

    Args:
        index: what is searched.
        line: what is looked for at first.

    Raises:
        TextError: the line cannot be read.
    """

    _css = style(__file__)

    @checked
    def __init__(self, index: Index, line: str) -> None:
        self.index = index
        self.chosen = {"vectors": next(iter(index.vectors)), "terms": "words"}
        self.found = self._find(line, self.chosen)
        super().__init__()
        self.refresh()

    def __repr__(self) -> str:
        n = counted(len(self.index.passages), "passage")
        return f"Search({n}, {self.found.line[:40]!r}, by {', '.join(self.chosen.values())})"

    def do_search(self, line: object) -> None:
        """Look for another line."""
        self.found = self._find(str(line), self.chosen)

    def do_vectors(self, value: object) -> None:
        """Look by other vectors."""
        self._choose("vectors", value)

    def do_terms(self, value: object) -> None:
        """Look by other terms."""
        self._choose("terms", value)

    def _choose(self, what: str, value: object) -> None:
        chosen = {**self.chosen, what: str(value)}
        self.found = self._find(self.found.line, chosen)
        self.chosen = chosen

    def _find(self, line: str, chosen: Mapping[str, Any]) -> Found:
        return self.index.find(line, **chosen)

    def markup(self) -> Markup:
        """Write the field, the choices and what was found."""
        return join([self._form(), self._choices(), self._tables(), status(self.announcement)])

    def still(self) -> Markup:
        """Write what was found, for where nothing runs."""
        return element("div", self._tables(asleep=True), class_="cloze still")

    @property
    def announcement(self) -> str:
        """What a screen reader says: the nearest passage by either way."""
        said = [
            f"By {way}: {hits[0].passage.text}, {hits[0].similarity:.2f}."
            if hits
            else f"By {way}: no passage matches."
            for way, hits in self.found.ways.items()
        ]
        return f"Looked for {self.found.line}. {' '.join(said)}"

    def _form(self) -> Markup:
        field = element(
            "input", type="text", name="line", value=self.found.line, maxlength=400, size=40
        )
        go = element("button", "Search", type="submit")
        label = element("label", "Look for ", field)
        return form("search", label, go, class_="row")

    def _choices(self) -> Markup:
        choices = {"vectors": ("Vectors ", [*self.index.vectors]), "terms": ("Terms ", [*TERMS])}
        selects = (
            select(said, what, {name: name for name in names}, self.chosen[what])
            for what, (said, names) in choices.items()
        )
        return element("div", *selects, class_="row")

    def _tables(self, *, asleep: bool = False) -> Markup:
        tables = (self._table(way, hits, asleep) for way, hits in self.found.ways.items())
        return element("div", *tables, class_="tables")

    def _table(self, way: str, hits: Sequence[Hit], asleep: bool) -> Markup:
        rows = [self._row(way, n, hit, asleep) for n, hit in enumerate(hits, start=1)]
        if not rows:
            rows = [element("tr", element("td", "No passage matches.", colspan=2))]
        heads = ("cosine", "passage")
        left = LEFT if asleep else None
        return element(
            "table",
            element("caption", f"By {way}", style=left),
            element(
                "thead",
                element("tr", *(element("th", head, scope="col", style=left) for head in heads)),
            ),
            element("tbody", *rows),
            class_="hits",
        )

    def _row(self, way: str, n: int, hit: Hit, asleep: bool) -> Markup:
        shared = set(hit.shared)
        mark = "b" if asleep else "mark"  # without the style sheet a mark is unreadable when dark
        text = join(
            element(mark, word) + " " if word in shared else element("span", word) + " "
            for word in hit.passage.text.split()
        )
        more = button(
            "more like this", "search",
            data_with_line=hit.passage.text,
            aria_label=f"more like number {n} by {way}",
        )  # fmt: skip
        where = element("small", hit.passage.piece, class_="quiet")
        below = element("div", where, None if asleep else more, class_="row")
        return element(
            "tr",
            element("td", f"{hit.similarity:.2f}", class_="number"),
            element("td", text, below, style=LEFT if asleep else None),
        )
