"""Figures in JupyterLab: shown before a notebook is trusted, in the theme's ink, with a text."""

from __future__ import annotations

from io import BytesIO

import nbformat
from matplotlib.image import imread

from cloze.lessons.the_loss.figures import loss_bars
from cloze.teaching import palette
from tests.browser.jupyter import Notebook


def test_a_picture_follows_the_theme_has_a_text_and_fits_a_narrow_page(lab: Notebook) -> None:
    picture = loss_bars({"unigram": 2.8, "trained": 0.64})
    bundle = {"text/html": picture._repr_html_(), "text/plain": repr(picture)}
    lab.name = "picture.ipynb"
    lab.server.write(lab.name, ["picture"])
    path = lab.server.folder / lab.name
    notebook = nbformat.read(path, as_version=4)
    shown = nbformat.v4.new_output("execute_result", bundle, execution_count=1)
    notebook.cells[0].update(execution_count=1, outputs=[shown])
    nbformat.write(notebook, path)
    lab.open()
    assert not lab.tell("({ content }) => content.model.cells.get(0).trusted")
    lab.page.emulate_media(color_scheme="dark")  # of the system, which is not asked
    image = lab.page.get_by_role("img", name=repr(picture))
    for name, theme in (("dark", palette.PICTURE_DARK), ("light", palette.PICTURE_LIGHT)):
        lab.theme(name)
        image.wait_for()
        pixels = (255 * imread(BytesIO(image.screenshot()))[..., :3]).round().astype(int)
        colours = {"#{:02x}{:02x}{:02x}".format(*pixel) for pixel in pixels.reshape(-1, 3)}
        assert {theme["ink"], theme["paper"], palette.BLUE} <= colours, name
    lab.page.emulate_media(color_scheme="light")
    lab.page.set_viewport_size({"width": 400, "height": 900})
    place = lab.output(0).locator(".jp-OutputArea-output")
    assert place.evaluate("place => place.scrollWidth <= place.clientWidth")
