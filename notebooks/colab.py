"""What Google Colab needs of a notebook: a link that opens it there, and a cell that installs.

``python notebooks/colab.py`` writes both into every notebook, or makes them what they should be:
the link below the title, the cell as the first one with code. No output changes, only the counts.
"""

from __future__ import annotations

import copy
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import nbformat
from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parent
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
LINK = re.compile(r"\n\n\[Open in Colab\]\([^)]*\)")


def project() -> dict[str, Any]:
    """Read what pyproject.toml says of the package."""
    text = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["project"])


def repository() -> str:
    """Return whose the project is on GitHub, and how it is called there: ``"OWNER/cloze"``."""
    return str(project()["urls"]["Source"]).removeprefix("https://github.com/")


def published() -> bool:
    """Tell whether pyproject.toml names the repository, or still a placeholder for it."""
    return not repository().startswith("OWNER/")


def address(name: str) -> str:
    """Return where Colab opens a notebook: ``address("00_start_here.ipynb")``."""
    return f"https://colab.research.google.com/github/{repository()}/blob/main/notebooks/{name}"


def setup() -> str:
    """Write the cell that installs.

    Nothing that Colab has is touched: the package comes without what it requires, and of that only
    what is not there at all, in whichever version, so that torch stays the one made for Colab.
    """
    described = project()
    names = [Requirement(line).name for line in described["dependencies"]]
    missing = [name for name in names if name not in NOT_THERE]
    install = "\n".join(
        f"    %pip install --quiet {line}" for line in textwrap.wrap(" ".join(missing), 72)
    )
    return f"""\
# For Google Colab:
# install what is missing there. Everywhere else this does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet --no-deps git+{described["urls"]["Source"]}
{install}
    sys.modules["google.colab"].output.enable_custom_widget_manager()"""


def without_link(source: str) -> str:
    """Take the link to Colab out of a notebook's first cell."""
    return LINK.sub("", source, count=1)


def with_colab(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Return a notebook with the link and the cell, whatever it had of them before.

    Args:
        notebook: stays as it is; its first cell begins with its title.
        name: of its file.
    """
    made: Any = copy.deepcopy(notebook)
    first = made.cells[0]
    title, _, rest = without_link(first.source).partition("\n")
    first.source = f"{title}\n\n[Open in Colab]({address(name)})\n{rest}"
    had = [cell for cell in made.cells if TAG in cell.metadata.get("tags", [])]
    if had:
        had[0].source = setup()
        had[0].metadata = nbformat.from_dict({"tags": [TAG], "jupyter": FOLDED})
        return made
    for cell in made.cells:
        if cell.cell_type == "code" and cell.execution_count:
            cell.execution_count += 1
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = cell.execution_count
    metadata = {"tags": [TAG], "jupyter": FOLDED}
    cell = nbformat.v4.new_code_cell(setup(), execution_count=1, metadata=metadata, id=TAG)
    place = next(i for i, each in enumerate(made.cells) if each.cell_type == "code")
    made.cells.insert(place, cell)
    return made


def main() -> int:
    """Write every notebook that is not yet as it should be; return the exit code."""
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        made = with_colab(notebook, path.name)
        if made != notebook:
            nbformat.write(made, path)
            print(f"{path.name}: link and cell for Colab written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
