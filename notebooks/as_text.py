"""Write a notebook as plain text: sources and what its cells say, without pictures.

``git diff`` shows notebooks this way after

    git config diff.notebook.textconv "python notebooks/as_text.py"
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def as_text(notebook: dict[str, Any]) -> Iterator[str]:
    """Find the text of all cells and, below each, that of its outputs."""
    for cell in notebook["cells"]:
        yield f"── {cell['cell_type']} " + " ".join(cell["metadata"].get("tags", []))
        yield "".join(cell["source"])
        for output in cell.get("outputs", []):
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            yield "".join(output.get("traceback", shown))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    path = Path(sys.argv[1])
    print(*as_text(json.loads(path.read_text(encoding="utf-8"))), sep="\n")
