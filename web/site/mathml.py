"""Formulas as MathML, written when the site is built: no script, no font and no request."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from math_core import LatexToMathML
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

CONVERTER = LatexToMathML()


def written(formula: str, *, display: bool) -> str:
    """Write a formula of TeX as MathML.

    Args:
        formula: without the dollars around it.
        display: as large as on a line of its own.

    Raises:
        LatexError: it is no formula, or has a command that is not known.
    """
    return CONVERTER.convert_with_local_state(formula, displaystyle=display)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(written(node.astext(), display=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own; one that is wider than the page scrolls."""
    self.body.append(f'<div class="formula">{written(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as Sphinx's ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
