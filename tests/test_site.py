"""The site as files: it is complete, its links lead somewhere, and nothing comes from elsewhere."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from cloze.teaching.quiz import inline, questions_of
from notebooks import colab
from tests.series import NOTEBOOKS, each_notebook, prose, read
from web.site.__main__ import main
from web.site.pages import head

AWAKE = ".living, :not(.living) > .needs-python"
"""What stands where a notebook has a widget: it answers, or says what it needs."""


@cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def page_of(site: Path, notebook: Path) -> BeautifulSoup:
    return soup(site / "notebooks" / f"{notebook.stem}.html")


# --- links ------------------------------------------------------------------------------------


def references(path: Path) -> Iterator[str]:
    """Find everything that a page links to or loads."""
    for attribute in ("href", "src"):
        for element in soup(path).select(f"[{attribute}]"):
            yield str(element[attribute])


def broken(site: Path) -> list[str]:
    """List the links within a site that lead nowhere, and all others that cannot be right."""
    found = []
    for path in site.rglob("*.html"):
        for reference in set(references(path)):
            parts = urlsplit(reference)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                sound = parts.scheme == "https" and "." in parts.netloc and " " not in reference
            else:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                target = target / "index.html" if target.is_dir() else target
                sound = target.is_file() and (
                    not parts.fragment
                    or target.suffix != ".html"
                    or reference == "#"
                    or parts.fragment.startswith("line=")  # what the explorer is to show
                    or soup(target).find(id=unquote(parts.fragment)) is not None
                )
            if not sound:
                found.append(f"{path.relative_to(site)}: {reference}")
    return sorted(found)


def test_every_link_leads_somewhere(site: Path) -> None:
    assert broken(site) == []


@each_notebook
def test_what_a_notebook_folds_the_page_folds_too(site: Path, path: Path) -> None:
    cells = read(path).cells
    hidden = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("outputs_hidden")]
    folded = [cell for cell in hidden if cell.outputs]  # the answers to an exercise come later
    assert len(page_of(site, path).select(".cell details.below-input")) == len(folded)
    code = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    shown = page_of(site, path).select(".above-input > summary")
    assert len(shown) == len(code) - 1, "the imports; the cell for Colab is left out"


def test_every_page_says_what_it_may_load_and_keeps_to_it(site: Path) -> None:
    for path in site.rglob("*.html"):
        [policy] = soup(path).select('meta[http-equiv="Content-Security-Policy"]')
        allowed = str(policy["content"])
        assert "script-src 'unsafe-inline'" not in allowed
        assert "//" not in allowed, "nothing is loaded from elsewhere"
        for script in soup(path).select("script:not([src])"):
            digest = b64encode(sha256(script.get_text().encode()).digest()).decode()
            data = str(script.get("type", "")).startswith("application/")
            assert data or f"'sha256-{digest}'" in allowed, path


# --- what a page has --------------------------------------------------------------------------


def test_the_site_has_every_page(site: Path) -> None:
    for path in NOTEBOOKS:
        assert (site / "notebooks" / path.name).read_bytes() == path.read_bytes(), "to take along"
        assert (site / "notebooks" / f"{path.stem}.html").is_file()
    cards = soup(site / "index.html").select(".questions a")
    names = [f"notebooks/{path.stem}.html" for path in NOTEBOOKS]
    assert [card["href"] for card in cards] == names


@each_notebook
def test_every_formula_is_written(site: Path, path: Path) -> None:
    text = re.sub(r"`[^`]*`", "", prose(path))
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", text, re.DOTALL)
    article = BeautifulSoup(str(page_of(site, path).select_one("article")), "html.parser")
    assert len(article.select("math")) == len(formulas)
    for code in article.select("pre, code, .cell"):
        code.decompose()
    assert "$" not in article.get_text()
    assert "\\" not in article.get_text()


@each_notebook
def test_the_quizzes_have_every_answer(site: Path, path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    lessons = re.findall(r'"Quiz\(\\"(\w+)\\"\)', source)
    quizzes = page_of(site, path).select(".living[data-widget=Quiz]")
    assert len(quizzes) == len(lessons) >= 1
    for quiz, lesson in zip(quizzes, lessons, strict=True):
        options = [each for question in questions_of(lesson) for each in question.options]
        begins = json.loads(str(quiz["data-state"]))["questions"]
        told = [each["explanation"] for question in begins for each in question["options"]]
        assert told == [inline(each.explanation) for each in options]
        text = " ".join(quiz.get_text().split())  # where no program may run
        assert all(" ".join(inline(each.text).striptags().split()) in text for each in options)


@each_notebook
def test_nothing_waits_for_a_kernel(site: Path, path: Path) -> None:
    text = str(page_of(site, path))
    assert not re.search(r"Shift \+ Enter</b>\.</p>|widget-view|require\.js|MathJax", text)
    asleep = path.read_text(encoding="utf-8").count("To use this widget")
    assert len(page_of(site, path).select(AWAKE)) == asleep


def test_a_published_site_names_its_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colab, "here", lambda: "Somebody/cloze")
    title = nodes.title("", "1 · The <loss>")
    document = nodes.document(None, None, "", title, nodes.paragraph("", "What a gap costs."))
    tags = BeautifulSoup(head("notebooks/01_the_loss", document), "html.parser")
    [canonical] = tags.select('link[rel="canonical"]')
    assert canonical["href"] == "https://somebody.github.io/cloze/notebooks/01_the_loss.html"
    told = {str(tag["property"]): str(tag["content"]) for tag in tags.select("meta[property]")}
    assert told["og:title"] == "1 · The <loss>"
    assert told["og:description"] == "What a gap costs."


# --- the command ------------------------------------------------------------------------------


def test_a_folder_with_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "letters.txt"
    kept.write_text("dear", encoding="utf-8")
    for folder in (tmp_path, kept):
        assert main([str(folder)]) == 1
        said = f"{folder} has something else in it than a site: name another folder.\n"
        assert capsys.readouterr().out == said
    assert kept.read_text(encoding="utf-8") == "dear"
    assert main([str(kept / "site")]) == 1
    assert capsys.readouterr().out == f"{kept / 'site'} cannot be written: File exists.\n"
