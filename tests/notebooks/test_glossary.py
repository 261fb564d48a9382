"""The glossary and the page of misconceptions are complete, and their links resolve.

A term is anything that a notebook introduces as *called* something (in italics or bold), and every
special symbol that it writes as code, so the test finds what the glossary lacks for a new notebook.
Every entry must be a word that the notebooks it names use.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.series import NOTEBOOKS, ROOT, each_notebook, prose, read

GLOSSARY = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
BY_NUMBER = {path.stem[:2]: path for path in NOTEBOOKS}
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
    _, *parts = re.split(r"^## ", GLOSSARY, flags=re.MULTILINE)
    heads = [part.partition("\n") for part in parts]
    return {title.replace("\\", ""): body for title, _, body in heads}


ENTRIES = entries()


@cache
def everything(path: Path) -> str:
    text = "\n".join(cell.source for cell in read(path).cells)
    return re.sub(r"[\s*_-]+", " ", text).lower()


def known(name: str) -> bool:
    name = name.lower().strip(" .,:;")
    terms = {term.lower() for term in ENTRIES}
    return bool({name, name.removesuffix("s"), ALSO.get(name, "")} & terms)


def test_an_entry_has_three_levels_and_a_place_and_is_a_word_of_its_notebooks() -> None:
    for term, body in ENTRIES.items():
        levels = re.findall(r"^- \*\*(\w+):\*\* (.+)$", body, flags=re.MULTILINE)
        assert [level for level, _ in levels] == list(LEVELS), term
        assert all(re.search(r"[.?]$", sentence) and len(sentence) > 9 for _, sentence in levels)
        assert len({sentence for _, sentence in levels}) == len(LEVELS), term
        [numbers] = re.findall(r"^Notebooks? (\d\d(?:, \d\d)*)\.$", body, flags=re.MULTILINE)
        word = re.sub(r"[\s_-]+", " ", term.lower())
        looked_for = {word, word.removesuffix("ing"), word.removesuffix(" k"), *word.split(", ")}
        texts = [everything(BY_NUMBER[number]) for number in numbers.split(", ")]
        assert any(part in text for text in texts for part in looked_for), f"{term}: {numbers}"


def test_entries_are_in_alphabetical_order_and_each_is_there_once() -> None:
    keys = [re.sub(r"[^a-z0-9]", "", term.lower()) for term in ENTRIES]
    assert keys == sorted(keys)
    assert GLOSSARY.count("\n## ") == len(ENTRIES) > 100


@each_notebook
def test_every_term_of_a_notebook_has_an_entry(path: Path) -> None:
    text = prose(path)
    missing = {name for name in NAMED.findall(text) + SYMBOL.findall(text) if not known(name)}
    assert not missing, f"The glossary lacks {', '.join(sorted(missing))}."
    assert "](glossary.md)" in text
