"""What notebook 15 needs beyond the others; without it, its cells show what they have shown."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat

from cloze.handover.packages import need, quiet

__all__ = ["quiet", "ready", "show"]


def ready() -> None:
    """Say if a package is missing; then no later cell runs."""
    try:
        need("This notebook", accelerate=1, tokenizers=0, transformers=5)
    except ValueError as error:
        from IPython import get_ipython

        print(
            f"{error}\n`python run.py lab --own` brings them, too. "
            "Until then, the cells below do not run and only show what they showed us."
        )
        if shell := get_ipython():
            shell.input_transformers_cleanup.append(shown_again)


def shown_again(lines: list[str]) -> list[str]:
    """Replace a cell by one that shows its stored outputs, which JupyterLab has just cleared.

    An error would not keep them: *Run All* clears the outputs of all cells before the first runs.
    """
    return [f"from {__name__} import show\n", f"show({''.join(lines)!r})\n"]


def show(source: str) -> None:
    """Show the outputs that the notebook's file has of a cell."""
    from IPython.display import display

    file = Path(os.environ.get("JPY_SESSION_NAME", ""))  # Jupyter's server says which it is
    if not file.is_file():
        return
    for cell in nbformat.read(file, as_version=4).cells:
        if cell.source.strip() == source.strip():
            for output in cell.get("outputs", []):
                if "text" in output:
                    print(output.text, end="")
                else:
                    display(dict(output.get("data", {})), raw=True)  # type: ignore[no-untyped-call]
