"""Explore: a model from a folder in the explorer, alone on a page: ``python -m cloze explore``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from cloze.handover.packages import need
from cloze.handover.pieces import PiecePredictor

CELL = """\
from cloze.handover.pieces import PiecePredictor
from cloze.explorer import MaskExplorer

MaskExplorer(PiecePredictor({folder!r}), "the old man took his _")
"""
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ nb.metadata.title | escape }} in the explorer</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark }
body { margin: 1rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }
main:has(.jp-OutputArea) .wait { display: none }
</style>
</head>
<body data-base-url="{{ resources.base_url }}voila/" data-voila="voila">
<script>
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.body.dataset.jpThemeLight = !dark;
window.voila_heartbeat = () => {}; // Voilà calls it while the kernel works
</script>
<main>
<h1>{{ nb.metadata.title | escape }}</h1>
<p class="wait">The model is being loaded.</p>
{% with kernel_id = kernel_start(nb) -%}
{%- set config = page_config.copy() -%}
{%- set _ = config.update(baseUrl=resources.base_url, kernelId=kernel_id) -%}
<script id="jupyter-config-data" type="application/json">{{ config | tojson }}</script>
{%- for cell in cell_generator(nb, kernel_id) %}
<div class="jp-OutputArea">
{%- for output in cell.outputs %}
<div class="jp-OutputArea-child">
{%- if output.output_type == "error" %}<p role="alert">{{ output.evalue | escape }}</p>
{%- else %}<script type="application/vnd.voila.cell-output+json">{{ output | tojson }}</script>
{%- endif %}
</div>
{%- endfor %}
</div>
{%- endfor %}
{%- endwith %}
</main>
<script src="{{ page_config['fullStaticUrl'] }}/{{ main_js }}"></script>
</body>
</html>
"""
"""A page of our own, because those that Voilà brings along ask a network for their icons."""


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
    name = PiecePredictor(folder).name  # what is wrong with it is said here, not in the browser
    from voila.app import Voila

    with tempfile.TemporaryDirectory() as home:
        page = Path(home, "voila", "templates", "explore", "index.html.j2")
        page.parent.mkdir(parents=True)
        page.write_text(PAGE, encoding="utf-8")
        cell = new_code_cell(CELL.format(folder=str(folder)))
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        about = {"kernelspec": kernel, "title": name}
        notebook = Path(home, "explorer.ipynb")
        nbformat.write(new_notebook(cells=[cell], metadata=about), notebook)
        paths = [home, os.environ.get("JUPYTER_PATH", "")]
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, paths))
        options = ["--template=explore", "--Voila.auto_token=True"]
        Voila.launch_instance([str(notebook), *options, *arguments])
