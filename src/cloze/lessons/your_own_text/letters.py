"""Somebody's letters: two topics of the corpus that the tiny model never read, in an old hand."""

from __future__ import annotations

import re

from cloze.adapt.documents import Document, read_documents
from cloze.corpus import DATA

FOLDER = DATA / "checkpoints" / "tiny_modernbert"
LETTERS = ("kitchen", "workshop")
"""The topics of the letters."""

HAND = {
    r"\bthe\b": "ye",
    r"\bThe\b": "Ye",
    r"\band\b": "&",
    r"\bu(?=\w)": "v",
    r"(?<=\w)v(?=\w)": "u",
    r"s(?=\w)": "ſ",
}
"""How the hand writes, one habit after the other: ye, &, vnder, haue, ſtone."""


def old_hand(text: str) -> str:
    """Spell a text as people did before spelling had rules."""
    for modern, old in HAND.items():
        text = re.sub(modern, old, text)
    return text


def general_text() -> list[Document]:
    """Return the pieces of all other topics, which the tiny model was made from."""
    topics = sorted(path for path in (DATA / "corpus").iterdir() if path.is_dir())
    return read_documents([topic for topic in topics if topic.name not in LETTERS])


def plain() -> list[Document]:
    """Return the letters in modern spelling."""
    return read_documents([DATA / "corpus" / topic for topic in LETTERS])


def letters() -> list[Document]:
    """Return the letters in the old hand."""
    return [Document(each.name, old_hand(each.text)) for each in plain()]
