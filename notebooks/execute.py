"""Execute notebooks and write them back as they are committed.

The command is ``python run.py notebooks [FILE …]``, for all notebooks or some; the lectures are
among them.

Outputs are included, execution counts run 1 … n, and metadata that differ from run to run
(timings, widget state, versions) are left out. A notebook that fails stays as it was. The digests
of all notebooks are written anew, since JupyterLab trusts those alone (``cloze.serving.server``);
``python notebooks/execute.py --digests`` does only this, after a change of prose.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import textwrap
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from cloze.serving.server import SHIPPED, digest_of

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE, HERE.parent / "lecture")
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(path: Path) -> None:
    """Run one notebook from top to bottom in a fresh kernel and write it back."""
    # A kernel that ends while a message is on its way makes its client complain.
    logging.getLogger("tornado.general").setLevel(logging.CRITICAL)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],  # kernels warn of a network they do not use
        resources={"metadata": {"path": str(path.parent)}},
    ).execute(env={**os.environ, "TQDM_DISABLE": "1"})  # bars come and go with the machine
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in ("jupyter", "tags") if key in cell.metadata}
        cell.metadata = nbformat.from_dict(kept)
    part = path.with_name(f"{path.name}.part")
    try:
        nbformat.write(notebook, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def digests() -> str:
    """Write the digest of each notebook of the series, in the form of ``sha256sum``."""
    paths = sorted(HERE.glob("*.ipynb"))
    return "".join(f"{digest_of(path)}  {path.name}\n" for path in paths)


def reason(error: Exception) -> str:
    """Say in one line why a notebook could not be executed."""
    if isinstance(error, CellExecutionError):
        cell = re.search(r"In\W*\[(\d+)\]", re.sub(r"\x1b\[[\d;]*m", "", error.traceback))
        where = f"cell {cell.group(1)}" if cell else "a cell"
        said = f"{where} raised {error.ename}: {error.evalue}"
    else:
        said = (isinstance(error, OSError) and error.strerror) or str(error) or repr(error)
    return textwrap.shorten(said.strip().rstrip("."), 300, placeholder=" …")


def main(names: list[str]) -> int:
    """Execute the named notebooks, or all; return the exit code."""
    if names == ["--digests"]:
        SHIPPED.write_text(digests(), encoding="utf-8")
        return 0
    paths = [Path(name).resolve() for name in names]
    if not paths:
        paths = [path for folder in FOLDERS for path in sorted(folder.glob("*.ipynb"))]
    for path in paths:
        if not path.is_file():
            print(f"There is no notebook {path}; check the name.")
            return 2
    failed = 0
    for path in paths:
        started = time.perf_counter()
        try:
            execute(path)
        except KeyboardInterrupt:
            print(f"{path.name}: stopped, not written.")
            return 130
        except Exception as error:
            failed += 1
            print(f"{path.name}: FAILED, not written: {reason(error)}.")
        else:
            print(f"{path.name}: {time.perf_counter() - started:.1f} s")
    if HERE in {path.parent for path in paths}:
        SHIPPED.write_text(digests(), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
