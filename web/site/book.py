"""``python -m web.site.book [FILE]``: the series as an EPUB, by default ``cloze.epub``.

It is made of the same pages as the site. What is folded there is an answer to an exercise or more
for the curious. A book cannot be relied on to fold, so this goes to the end of its chapter, with a
number in its place. Widgets are the pictures that they leave behind.
"""

from __future__ import annotations

import posixpath
import re
import sys
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import nbformat
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell
from sphinx.cmd.build import build_main

from web.site.build import HERE, SiteError, lay_out

FOLDED = re.compile(r"<details><summary>(.*?)</summary>\s*(.*?)\s*</details>", re.DOTALL)
"""What a notebook folds in its text: a title, and Markdown."""


def unfolded(notebook: nbformat.NotebookNode) -> None:
    """Move what is folded in the text of a notebook to its end."""
    kept: list[str] = []

    def move(match: re.Match[str]) -> str:
        kept.append(f"### Note {len(kept) + 1} · {match[1]}\n\n{match[2]}")
        return f"*{match[1]}: note {len(kept)} at the end of this chapter.*"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = FOLDED.sub(move, cell.source)
        cell.metadata["tags"] = [tag for tag in cell.metadata.get("tags", []) if "hide" not in tag]
    if kept:
        notebook.cells.append(new_markdown_cell("\n\n".join(["## Answers and notes", *kept])))


def as_xml(text: str, folder: PurePosixPath, names: Collection[str]) -> str:
    """Write a page as XML, which readers of books insist on, with all that is folded open.

    Args:
        text: of the page, as Sphinx writes it.
        folder: of the page in the book.
        names: of all that is in the book; links to other files become their words.
    """
    start, body = text[: text.index("<html")], text[text.index("<html") :]
    made = BeautifulSoup(body, "html.parser")
    for tool in made(["script", "style", "button", "input", "form"]):
        tool.decompose()
    for formula in made("math"):
        formula["xmlns"] = "http://www.w3.org/1998/Math/MathML"
    for folded in made("details"):
        folded["open"] = "open"
    for link in made(["a", "link"]):
        target = urlsplit(str(link.get("href", "")))
        there = posixpath.normpath(folder / target.path)
        if target.path and not target.scheme and there not in names:
            link.unwrap()
    return start + str(made)


def build_book(path: Path) -> None:
    """Build the book.

    Raises:
        SiteError: Sphinx said that something is wrong.
        OSError: the file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="book.") as temporary:
        sources, built = Path(temporary) / "sources", Path(temporary) / "book"
        lay_out(sources)
        for notebook in (sources / "notebooks").glob("*.ipynb"):
            read = nbformat.read(notebook, as_version=4)
            unfolded(read)
            nbformat.write(read, notebook)
        options = ["-q", "-b", "epub", "-c", str(HERE), "-d", f"{temporary}/doctrees"]
        if build_main([*options, str(sources), str(built)]):
            raise SiteError("The book was not built: Sphinx says above what is wrong.")
        [made] = built.glob("*.epub")
        with zipfile.ZipFile(made) as before, zipfile.ZipFile(path, "w") as book:
            files = {info.filename: before.read(info) for info in before.infolist()}
            for name, data in files.items():
                if name.endswith(".xhtml") and b"<html" in data:
                    folder = PurePosixPath(name).parent
                    files[name] = as_xml(data.decode(), folder, files).encode()
            with_formulas = [name for name, data in files.items() if b"<math" in data]
            files["content.opf"] = declared(files["content.opf"].decode(), with_formulas).encode()
            for info in before.infolist():  # the first says what it is, and is not compressed
                book.writestr(info, files[info.filename])


def declared(contents: str, names: Collection[str]) -> str:
    """Say in a book's table of contents which pages have formulas."""
    for name in names:
        item = f'<item href="{name}"'
        contents = contents.replace(item, f'{item} properties="mathml"')
    return contents


def main(arguments: list[str]) -> int:
    """Build the book into the named file; return the exit code."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        print("The book takes one thing at most, the file to build; the default is cloze.epub.")
        return 2
    path = Path(*arguments or ["cloze.epub"])
    try:
        build_book(path)
    except SiteError as error:
        print(error)
        return 1
    except OSError as error:
        print(f"{path} cannot be written: {error.strerror or error}.")
        return 1
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
