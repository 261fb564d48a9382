"""Somebody's letters: two topics of the corpus that the tiny model never read, in an old hand."""

from __future__ import annotations

import re

from cloze.adapt.documents import Document
from cloze.lessons.your_own_text.tiny import documents

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
    """Return a text as it was written before spelling had rules."""
    for modern, old in HAND.items():
        text = re.sub(modern, old, text)
    return text


def plain() -> list[Document]:
    """Return the pieces of the two topics as they are."""
    return documents(kept=True)


def letters() -> list[Document]:
    """Return the pieces of the two topics in the old hand."""
    return [Document(each.name, old_hand(each.text)) for each in plain()]
