"""The page of references: every citation leads to it, and nothing on it is unused."""

from __future__ import annotations

import re
import unicodedata

import pytest

from tests.series import NOTEBOOKS, ROOT, prose

PAGE = (ROOT / "notebooks" / "references.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^## (.+)\n\n(.+)$", PAGE, re.MULTILINE)
TEXTS = {path.stem: prose(path) for path in NOTEBOOKS} | {"glossary": GLOSSARY}
CODE = re.compile(r"`[^`\n]*`|\$[^$]*\$")
LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
NAMES = r"(?:[A-Z][\w’-]+ et al\.|[A-Z][\w’-]+ and [A-Z][\w’-]+|(?<![-–])\b[A-Z][\w’-]+)"
CITATION = re.compile(NAMES + r",? \(?(?:19|20)\d\d\b")
NOT_A_NAME = re.compile(
    r"(?:In|Since|Until|By|From|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|ICLR|ICML|NeurIPS|Challenge) \(?\d"
)


def unlinked(text: str) -> list[str]:
    """Find the citations that lead nowhere."""
    found = CITATION.findall(LINK.sub("", CODE.sub("", text)))
    return [words for words in found if not NOT_A_NAME.fullmatch(words[:-3])]


@pytest.mark.parametrize("name", TEXTS)
def test_every_citation_is_a_link(name: str) -> None:
    assert not unlinked(TEXTS[name])


def test_what_is_cited_is_on_the_page_and_what_is_on_the_page_is_cited() -> None:
    cited = {
        anchor
        for text in TEXTS.values()
        for anchor in re.findall(r"\]\(references\.md#([^)]+)\)", text)
    }
    assert cited == {title.replace(" ", "-") for title, _ in ENTRIES}


def test_an_entry_names_the_authors_the_title_the_year_and_leads_to_the_paper() -> None:
    for title, body in ENTRIES:
        [name] = re.findall(r"^(.+?) \d{4}\b", title)
        assert name in body.partition(":")[0], title
        assert re.search(r"\[[^\]]+(?:\[MASK\][^\]]*)?\]\(https://[^)]+\)", body), title
    titles = [title for title, _ in ENTRIES]
    plain = [unicodedata.normalize("NFD", t).encode("ascii", "ignore").lower() for t in titles]
    assert plain == sorted(plain)
