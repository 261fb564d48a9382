"""The glossary and the page of misconceptions: complete, in form, and leading somewhere.

A term is what a notebook gives a name to: what it says is *called* so (in italics or bold), and the
special symbols that it writes as code. Both are looked for in every notebook there is, so a new
notebook finds out by itself what it owes to the glossary; and every entry must be a word that the
notebooks behind it use.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
EACH = sorted(NOTEBOOKS.glob("*.ipynb"))
BY_NUMBER = {path.stem[:2]: path for path in EACH}
LEVELS = ("Everybody", "Practitioner", "Researcher")
NAMED = re.compile(
    r"\b(?:called|calls?|named|has a name:|is known as)\s+(?:an?\s+|the\s+|its\s+)?"
    r"\*{1,2}([A-Za-z][^*\n]+)\*{1,2}"
)
SYMBOL = re.compile(r"`(\[[A-Z]+\])`")
ALSO = {
    "[mask]": "mask",
    "[pad]": "padding",
    "[begin]": "padding",
    "[end]": "padding",
    "[unk]": "tokenizer",
    "[write]": "infilling",
    "causal": "causal model",
    "cloze procedure": "cloze test",
    "momentum": "optimizer",
}
"""Names that the entry of another explains as well."""


def entries() -> dict[str, str]:
    text = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    heads = [part.partition("\n") for part in parts]
    return {title.replace("\\", ""): body for title, _, body in heads}


ENTRIES = entries()
each_notebook = pytest.mark.parametrize("path", EACH, ids=lambda path: path.stem)


@cache
def prose(path: Path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


@cache
def everything(path: Path) -> str:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    return re.sub(r"[\s*_-]+", " ", text).lower()


def known(name: str) -> bool:
    name = name.lower().strip(" .,:;")
    terms = {term.lower() for term in ENTRIES}
    return bool({name, name.removesuffix("s"), ALSO.get(name, "")} & terms)


def test_an_entry_has_three_levels_and_a_place_and_is_a_word_of_the_notebooks_behind_it() -> None:
    for term, body in ENTRIES.items():
        said = re.findall(r"^- \*\*(\w+):\*\* (.+)$", body, flags=re.MULTILINE)
        assert [level for level, _ in said] == list(LEVELS), term
        assert all(re.search(r"[.?]$", sentence) and len(sentence) > 9 for _, sentence in said)
        assert len({sentence for _, sentence in said}) == len(LEVELS), term
        [numbers] = re.findall(r"^Notebooks? (\d\d(?:, \d\d)*)\.$", body, flags=re.MULTILINE)
        word = re.sub(r"[\s_-]+", " ", term.lower())
        looked_for = {word, word.removesuffix("ing"), word.removesuffix(" k"), *word.split(", ")}
        texts = [everything(BY_NUMBER[number]) for number in numbers.split(", ")]
        assert any(part in text for text in texts for part in looked_for), f"{term}: {numbers}"


def test_entries_are_in_alphabetical_order_and_each_is_there_once() -> None:
    keys = [re.sub(r"[^a-z0-9]", "", term.lower()) for term in ENTRIES]
    assert keys == sorted(keys)
    text = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    assert text.count("\n## ") == len(ENTRIES) > 100


@each_notebook
def test_what_a_notebook_gives_a_name_to_has_an_entry(path: Path) -> None:
    text = prose(path)
    missing = {name for name in NAMED.findall(text) + SYMBOL.findall(text) if not known(name)}
    assert not missing, f"The glossary lacks {', '.join(sorted(missing))}."
    assert "](glossary.md)" in text


def misconceptions() -> list[tuple[str, str, str, str]]:
    text = (NOTEBOOKS / "misconceptions.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    found = []
    for part in parts:
        title = part.partition("\n")[0]
        [(words, name, anchor)] = re.findall(
            r"^\*Refuted in\* \[(.+)\]\((\w+\.ipynb)#(\S+)\)\.$", part, flags=re.MULTILINE
        )
        found.append((title, words, name, anchor))
    return found


@pytest.mark.parametrize(("title", "words", "name", "anchor"), misconceptions())
def test_a_misconception_is_refuted_by_a_cell(
    title: str, words: str, name: str, anchor: str
) -> None:
    cells = nbformat.read(NOTEBOOKS / name, as_version=4).cells
    heading, inside, found = anchor.replace("-", " "), 0, False
    for cell in cells:
        if cell.cell_type == "markdown":
            for marks, text in re.findall(r"^(#{2,}) (.+)$", cell.source, flags=re.MULTILINE):
                if text.replace("-", " ") == heading:
                    inside = len(marks)
                elif len(marks) <= inside:
                    inside = 0
        found |= cell.cell_type == "code" and inside > 0
    assert found, f"{name} has no section {heading!r} with a cell in it, for {title}."
    assert words == f"{name[:2]} · {heading}" or words.replace("-", " ").endswith(heading)


def test_there_are_enough_of_them_and_the_links_of_both_pages_resolve() -> None:
    titles = [title for title, *_ in misconceptions()]
    assert len(set(titles)) == len(titles) >= 12
    for page in ("glossary.md", "misconceptions.md"):
        text = (NOTEBOOKS / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            assert target.startswith("http") or (NOTEBOOKS / target).exists(), target
