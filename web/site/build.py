"""Build the site: ``python run.py site`` puts every notebook and the pages beside them in _site."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import nbformat
from sphinx.cmd.build import build_main

from cloze.explorer import Gap, Inside, MaskExplorer
from cloze.teaching import palette
from cloze.widgets import widget
from notebooks import colab
from web.build import WORDS, WORKER, build_page, build_single, doors, worker
from web.site.pages import address, page, questions, shown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OWN = (HERE / "index.md", HERE / "accessibility.md")
BESIDE = (
    "notebooks/glossary.md",
    "notebooks/misconceptions.md",
    "notebooks/references.md",
    "benchmarks/README.md",
    "benchmarks/RECORDS.md",
)
"""The pages besides the notebooks: those of the site alone, and those that the project has too."""
ONLINE_ONLY = {".ipynb", ".map", ".py", ".inv", ".buildinfo", ".nojekyll", "explorer.html"}
"""Suffixes and names of what a reader without a network does without."""
MARK = "searchindex.js"
"""A folder that has it is a site, and may be replaced by a newer one."""


class SiteError(Exception):
    """What is in the way of a site, in one sentence that says what to do."""


def build_site(folder: Path) -> None:
    """Build the site.

    Args:
        folder: where it will be; a site that is there is replaced, once the new one is complete.

    Raises:
        SiteError: the folder has something else in it, or Sphinx warned of something.
        OSError: it cannot be written; what was there still is.
    """
    if (
        folder.exists()
        and not (folder / MARK).is_file()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise SiteError(f"{folder} has something else in it than a site: name another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the folder, so that a whole site takes the place of the one before in one step.
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=folder.parent) as temporary:
        sources, built = Path(temporary) / "sources", Path(temporary) / "site"
        lay_out(sources)
        # Sphinx tells its warnings on stderr, and they are errors: a link that leads nowhere, say.
        options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", f"{temporary}/doctrees"]
        if build_main([*options, str(sources), str(built)]):
            raise SiteError("The site was not built: Sphinx says above what is wrong.")
        for notebook in series():
            shutil.copy(notebook, built / notebook.relative_to(ROOT))
        build_page(built / "explorer", "../index.html", address())
        build_single(built / "explorer.html")
        (built / "_static" / "widgets.css").write_text(widget_css(), encoding="utf-8")
        files = (path for path in sorted(built.rglob("*")) if path.is_file())
        names = [
            path.relative_to(built).as_posix()
            for path in files
            if not {path.suffix, path.name} & {*ONLINE_ONLY, WORDS}
        ]
        kept = worker(built, names, [f"explorer/{WORDS}"])
        (built / WORKER).write_text(kept, encoding="utf-8")
        (built / ".nojekyll").touch()  # GitHub Pages would leave out folders that begin with _
        if folder.exists():
            folder.rename(Path(temporary) / "before")
        built.rename(folder)


def series() -> list[Path]:
    """Return the notebooks in the order of the README's table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return [ROOT / name for name in re.findall(r"^\| .*\((notebooks/\w+\.ipynb)\)", readme, re.M)]


def lay_out(folder: Path) -> None:
    """Write what Sphinx reads, each file where the project has it, so that links stay as they are.

    Args:
        folder: is made.
    """
    notebooks = series()
    pages = [ROOT / name for name in BESIDE]
    documents = "\n".join(str(path.relative_to(ROOT).with_suffix("")) for path in notebooks)
    explorer = shown(MaskExplorer(guess_first="once").asleep())
    inside = shown(Inside().asleep())
    project = "the project"
    if colab.here():
        project = f"[{project}]({colab.GITHUB}{colab.here()})"
    parts = {"notebooks": documents, "explorer": explorer, "inside": inside, "project": project}
    parts["gap"] = shown(Gap().asleep())
    parts["doors"] = doors("explorer/index.html", "notebooks/00_start_here.html")
    parts["questions"] = questions(nbformat.read(notebooks[0], as_version=4))
    linked = {target for path in (*notebooks, *pages) for target in links(path)}
    for path in (*notebooks, *pages, *linked):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path in notebooks:
            nbformat.write(page(nbformat.read(path, as_version=4), path.name), target)
        else:
            shutil.copy(path, target)
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        for name, part in parts.items():
            text = text.replace(f"{{{{{name}}}}}", str(part))
        (folder / path.name).write_text(text, encoding="utf-8")


def links(path: Path) -> list[Path]:
    """Find the files of the project, other than pages, that a page links to or shows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":  # in code, a pair of brackets may follow another
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = re.findall(r"\]\(([^)#:\s]+)\)", text)
    targets = [(path.parent / link).resolve() for link in found]
    return [target for target in targets if target.suffix not in (".md", ".ipynb")]


def widget_css() -> str:
    """Return the style of all widgets, whose colours follow the site's choice of theme."""
    light = palette.properties(palette.LIGHT)
    dark = palette.properties(palette.DARK)
    return "\n".join(
        [
            f".cloze {{ {light} }} .cloze-picture {{ color-scheme: light }}",
            '@media (prefers-color-scheme: dark) { body:not([data-theme="light"]) .cloze '
            f'{{ {dark} }} body:not([data-theme="light"]) .cloze-picture '
            "{ color-scheme: dark } }",
            f'body[data-theme="dark"] .cloze {{ {dark} }} '
            'body[data-theme="dark"] .cloze-picture { color-scheme: dark }',
            widget.styles(),
        ]
    )
