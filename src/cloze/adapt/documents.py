"""Texts of your own: read from files and folders, and some of them held out."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloze.corpus import DATA, MOST_BYTES, read_text
from cloze.vocabulary import TextError, counted

FEW = 10
"""Fewer documents than this are cut into sections, so that there is something to hold out."""
SECTION = 500
"""The fewest characters of a section."""
LEAST = 2_000
"""The fewest characters of a text that can be split into training and measuring."""
HELD_OUT = 0.1
"""The share of the characters that are held out."""
PLAIN = ("", ".txt", ".text", ".md", ".markdown")
"""How the names of text files in a folder end; a file of another name is read if it is named."""
ROWS = (".csv", ".jsonl")
"""Of these, each row of the column ``text`` is a document."""
GENERAL = DATA / "corpus"
"""General text, to measure what was forgotten: the corpus of the series."""

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Document:
    """One text: a file, a row or a section of one."""

    name: str
    text: str


def read_documents(paths: Iterable[Path], say: Say = silent) -> list[Document]:
    """Read text files, and all text files in folders; identical texts once.

    Args:
        paths: files in UTF-8, and folders. In a folder, hidden files are passed over, and so is
            what is neither plain text nor a table with a column ``text``.
        say: called with a sentence about files that were passed over.

    Raises:
        TextError: a file that was named is missing, empty or not UTF-8, or a folder has no text.
    """
    documents: dict[str, Document] = {}
    for path in paths:
        if path.is_dir():
            texts, skipped = _in_folder(path)
        else:
            texts, skipped = _in_file(path, path.name), []
        if not texts:
            raise TextError(f"{path} holds no text in UTF-8; name another.")
        if skipped:
            files = counted(len(skipped), "file")
            names = ", ".join(skipped[:3]) + (" …" if len(skipped) > 3 else "")
            say(f"{path}: {files} without plain text in UTF-8 passed over: {names}")
        for document in texts:
            documents.setdefault(document.text, document)
    return _sections([*documents.values()])


def _in_folder(folder: Path) -> tuple[list[Document], list[str]]:
    """Return the documents of a folder, and the names of its files without text."""
    texts: list[Document] = []
    skipped: list[str] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            try:
                if path.suffix.lower() not in (*PLAIN, *ROWS):
                    raise TextError
                texts += _in_file(path, name.as_posix())
            except TextError:
                skipped.append(name.as_posix())
    return texts, skipped


def _in_file(path: Path, name: str) -> list[Document]:
    """Return the document of a text file, or those of a table."""
    text, kind = read_text(path), path.suffix.lower()
    if kind not in ROWS:
        return [Document(name, text)]
    lines = io.StringIO(text)
    csv.field_size_limit(MOST_BYTES)
    try:
        rows: Iterable[Any] = csv.DictReader(lines)
        if kind == ".jsonl":
            rows = map(json.loads, filter(str.strip, lines))
        texts = [row["text"] or "" for row in rows]
        return [Document(f"{name}:{i}", row) for i, row in enumerate(texts, 1) if row.strip()]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, csv.Error):
        raise TextError(f"{path} has no column of texts that is called text.") from None


def _sections(documents: list[Document]) -> list[Document]:
    """Cut a few long documents into sections at ends of lines, or of words where lines are long."""
    total = sum(len(document.text) for document in documents)
    if total < LEAST:
        raise TextError(
            f"Your text has {counted(total, 'character')}; at least {LEAST:,} are needed, to learn "
            "from some and to measure on others."
        )
    if len(documents) >= FEW:
        return documents
    size = max(SECTION, total // (2 * FEW))
    sections: list[Document] = []
    for document in documents:
        parts = [""]
        for word in re.findall(r"\S{1,100}\s*|\s+", document.text):  # some scripts have no spaces
            parts[-1] += word
            if len(parts[-1]) >= 2 * size or (len(parts[-1]) >= size and "\n" in word):
                parts.append("")
        if len(parts[-1]) < size:  # what is left belongs to the section before it
            parts[-2:] = ["".join(parts[-2:])]
        sections += (Document(f"{document.name}:{i}", text) for i, text in enumerate(parts, 1))
    return sections


def hold_out(documents: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Return the documents to train on and those to measure on, at least a tenth of the characters.

    A hash of each text decides, so a document stays where it is when files are renamed or added.
    """

    def place(document: Document) -> float:
        return int.from_bytes(hashlib.sha256(document.text.encode()).digest()[:8]) / 2**64

    drawn = sorted(documents, key=place, reverse=True)
    left = HELD_OUT * sum(len(document.text) for document in documents)
    held_out: list[Document] = []
    while len(drawn) > 1 and (left > 0 or place(drawn[-1]) < HELD_OUT):
        held_out.append(drawn.pop())
        left -= len(held_out[-1].text)
    return drawn, held_out
