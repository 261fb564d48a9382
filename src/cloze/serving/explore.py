"""Explore: a model from a folder in the explorer, alone on a page: ``python -m cloze explore``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from cloze.handover.packages import need
from cloze.handover.pieces import PiecePredictor
from cloze.vocabulary import GAP, TextError

CELL = """\
from cloze.handover.pieces import PiecePredictor
from cloze.explorer import MaskExplorer

MaskExplorer(PiecePredictor({folder!r}), {line!r})
"""
LINE = "the old man took his _"


def explore(folder: Path, arguments: Sequence[str] = ()) -> None:
    """Show a model of ``transformers`` in the explorer, in a browser, until it is stopped.

    Args:
        folder: where the model is.
        arguments: for Voilà, such as ``--no-browser``.

    Raises:
        ValueError: a package is missing, or the folder has no such model.
    """
    need("Exploring a model in the browser", transformers=5, voila=0)
    folder = folder.resolve()
    predictor = PiecePredictor(folder)  # what is wrong with it is said here, not in the browser
    line = GAP
    with suppress(TextError):  # too long for it, or one of these words is no text to its tokenizer
        predictor.symbols.read(LINE, predictor.max_len)
        line = LINE
    from voila.app import Voila

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cell = new_code_cell(CELL.format(folder=str(folder), line=line))
    notebook = new_notebook(cells=[cell], metadata={"kernelspec": kernel, "title": predictor.name})
    templates = str(Path(__file__).parent)  # Voilà looks into its folder voila
    paths = [templates, os.environ.get("JUPYTER_PATH", "")]
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, paths))
    options = ["--template=explore", "--Voila.auto_token=True"]
    with tempfile.TemporaryDirectory() as home:
        file = str(Path(home, "explorer.ipynb"))
        nbformat.write(notebook, file)
        Voila.launch_instance([file, *options, *arguments])
