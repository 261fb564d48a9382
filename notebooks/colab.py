"""Where the project is published, and what Google Colab needs of a notebook to find it there.

``python run.py owner NAME`` writes the repository's name into pyproject.toml and into every
notebook: the link that opens it in Colab below the title, and what to install in the first cell
with code. ``python -m notebooks.colab`` does the same for a new notebook and leaves the name as it
is. No output changes, only the counts. Before a name is written, there is no link, and the cell
says in Colab what is missing.
"""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import nbformat
from packaging.requirements import Requirement

from cloze.serving.server import SHIPPED
from notebooks.execute import digests

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GITHUB = "https://github.com/"
NAME = re.compile(
    r"((.*[/@])?github\.com[:/])?(?P<owner>[a-z\d][a-z\d-]*)(/(?P<name>[\w.-]+?)(\.git)?/?)?",
    re.IGNORECASE | re.ASCII,
)
"""An owner on GitHub, a repository, or the address of one in any of the forms that git knows."""
TAG = "colab"
"""The tag of the cell that installs."""
FOLDED = {"source_hidden": True}
"""What folds that cell in JupyterLab, where it does nothing.

Its first line and three dots stand in its place. JupyterLab does not break that line, so it is
short: a long one would make the whole notebook wider than a narrow window.
"""
NOT_THERE = {
    "ipykernel": "every notebook runs in one, and Colab's is Colab's own",
    "jupyterlab": "Colab stands in its place",
}
"""Requirements of the package that the cell leaves alone, and why."""
NO_NAME = "{}: give the owner's name, or owner/repository."
NO_REMOTE = "Git does not tell where this copy is on GitHub"
LINK = re.compile(r"\n\n\[Open in Colab\]\([^)]*\)")


def project() -> dict[str, Any]:
    """Read what pyproject.toml says of the package."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["project"])


def named(text: str) -> str:
    """Read the name of a repository: ``"somebody/cloze"`` of ``"somebody"``; "" if there is none.

    Args:
        text: the owner, the owner and the repository, or its address, as git's remotes have it.
    """
    found = NAME.fullmatch(text.strip())
    return f"{found['owner']}/{found['name'] or 'cloze'}" if found else ""


def written() -> str:
    """Return the repository that the notebooks name; "" before there is one."""
    return str(project().get("urls", {}).get("Source", "")).removeprefix(GITHUB)


def here() -> str:
    """Return the repository that this copy belongs to; "" if nothing tells.

    A workflow's runner says it, and on a machine git's remote ``origin``. A copy without git is of
    the repository that its notebooks name.
    """
    if running := os.environ.get("GITHUB_REPOSITORY"):
        return running
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():  # or git would answer for a folder further up
        asked = [git, "-C", str(ROOT), "remote", "get-url", "origin"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
        if "github.com" in said.stdout:
            return named(said.stdout)
    return written()


def at_home() -> bool:
    """Tell whether the notebooks name the repository to which this copy belongs."""
    return bool(written()) and written().casefold() == here().casefold()


def address(name: str, repository: str) -> str:
    """Return where Colab opens a notebook: ``address("00_start_here.ipynb", "somebody/cloze")``."""
    return f"https://colab.research.google.com/github/{repository}/blob/main/notebooks/{name}"


def setup(repository: str) -> str:
    """Write the cell that installs, or that says why it cannot.

    Nothing that Colab has is touched: the package comes without what it requires, and of that only
    what is not there at all, in whichever version, so that torch stays the one made for Colab.
    """
    if not repository:
        return """\
# For Google Colab. Everywhere else this does nothing.
import sys

if "google.colab" in sys.modules:
    sys.exit("This copy is not published yet, so Colab cannot install it (README: Publish it).")"""
    names = [Requirement(line).name for line in project()["dependencies"]]
    missing = [name for name in names if name not in NOT_THERE]
    install = "\n".join(
        f"    %pip install --quiet {line}" for line in textwrap.wrap(" ".join(missing), 72)
    )
    return f"""\
# For Google Colab:
# install what is missing there. Everywhere else this does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet --no-deps git+{GITHUB}{repository}
{install}
    sys.modules["google.colab"].output.enable_custom_widget_manager()"""


def without_link(source: str) -> str:
    """Take the link to Colab out of a notebook's first cell."""
    return LINK.sub("", source, count=1)


def with_colab(
    notebook: nbformat.NotebookNode, name: str, repository: str
) -> nbformat.NotebookNode:
    """Return a notebook with the cell, and the link if it leads somewhere.

    Args:
        notebook: stays as it is; its first cell begins with its title.
        name: of its file.
        repository: from which Colab takes notebook and package; "" if it is not published.
    """
    made: Any = copy.deepcopy(notebook)
    first = made.cells[0]
    title, _, rest = without_link(first.source).partition("\n")
    link = f"\n\n[Open in Colab]({address(name, repository)})" if repository else ""
    first.source = f"{title}{link}\n{rest}"
    had = [cell for cell in made.cells if TAG in cell.metadata.get("tags", [])]
    if had:
        had[0].source = setup(repository)
        had[0].metadata = nbformat.from_dict({"tags": [TAG], "jupyter": FOLDED})
        return made
    for cell in made.cells:
        if cell.cell_type == "code" and cell.execution_count:
            cell.execution_count += 1
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = cell.execution_count
    metadata = {"tags": [TAG], "jupyter": FOLDED}
    cell = nbformat.v4.new_code_cell(
        setup(repository), execution_count=1, metadata=metadata, id=TAG
    )
    place = next(i for i, each in enumerate(made.cells) if each.cell_type == "code")
    made.cells.insert(place, cell)
    return made


def write_name(repository: str) -> None:
    """Write the repository's address into pyproject.toml."""
    path = ROOT / "pyproject.toml"
    text = re.sub(r"^Source = .*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    heading = "[project.urls]\n"
    text = text.replace(heading, f'{heading}Source = "{GITHUB}{repository}"\n')
    path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write a name if one is given, and every notebook that is not yet as it should be.

    Args:
        arguments: none, or ``owner`` and a name; without the name, git's remote tells it.

    Returns:
        The exit code.
    """
    repository = written()
    if arguments:
        name = " ".join(arguments[1:])
        repository = named(name) if name else here()
        if not repository:
            print(NO_NAME.format(f"“{name}” is no name on GitHub" if name else NO_REMOTE))
            return 2
        write_name(repository)
    changed = 0
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        made = with_colab(notebook, path.name, repository)
        if made != notebook:
            nbformat.write(made, path)
            changed += 1
    SHIPPED.write_text(digests(), encoding="utf-8")
    print(f"{changed} notebooks written for {GITHUB}{repository or '… (no name yet)'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
