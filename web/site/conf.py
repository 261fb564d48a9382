"""Sphinx's settings for the site, which ``build.py`` builds."""

import re
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from cloze.teaching.palette import DARK, LIGHT
from web.build import POLICY
from web.site.pages import head

project = html_title = "Cloze"
author = copyright = "The Cloze authors"  # noqa: A001 - Sphinx's name
language = "en"
smartquotes = False  # what stands there was written so

extensions = ["myst_nb", "web.site.mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_heading_slug_func = "web.site.pages.anchor"

# Notebooks are committed executed; nothing runs here, and no script for widgets is fetched.
nb_execution_mode = "off"
nb_code_prompt_show = "Guess first, then see what comes out"
nb_code_prompt_hide = "Fold it again"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

html_theme = "furo"
html_theme_options: dict[str, Any] = {
    f"{theme}_css_variables": {
        "color-brand-primary": colours["both"],
        "color-brand-content": colours["both"],
    }
    for theme, colours in (("light", LIGHT), ("dark", DARK))
} | {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "play.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_static_path = ["static"]
html_css_files = ["widgets.css", "site.css"]
html_js_files = [
    ("site.js", {"defer": "defer"}),
    ("../explorer/web/site_widgets.js", {"type": "module"}),  # build.py puts it there
]
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False


def finish(
    _: Sphinx, name: str, __: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    """Give a page its policy, its icon and its description, and repair its sidebar."""
    policy = Markup('<meta http-equiv="Content-Security-Policy" content="{}">').format(POLICY)
    description = head(name, document) if document else ""  # the search has none
    context["metatags"] = f"{policy}{description}{context.get('metatags', '')}"
    context["favicon_url"] = context["pathto"]("explorer/icon.svg", resource=True)
    tree = context["furo_navigation_tree"]  # whose captions lack a level
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


class Pages(StandaloneHTMLBuilder):
    """Pages whose search knows the prose: code would answer "rate" with every ``enumerate``."""

    def index_page(self, pagename: str, doctree: nodes.document, title: str) -> None:
        """Let the search read a page without its code and what that has printed.

        What looks for a term of the glossary finds first the notebooks that the glossary names.
        """
        prose = doctree.deepcopy()
        for code in list(prose.findall(nodes.literal_block)):
            code.parent.remove(code)
        number = pagename.removeprefix("notebooks/")[:2]
        for entry in self.env.get_doctree("notebooks/glossary")[0].findall(nodes.section, False):
            if number in re.findall(r"\d\d", entry[-1].astext()):
                prose += addnodes.index(entries=[("single", entry[0].astext(), "", "main", None)])
        super().index_page(pagename, prose, title)


def setup(app: Sphinx) -> None:
    """Tell Sphinx what settings cannot say, after the theme has had its say."""
    app.add_builder(Pages, override=True)
    app.connect("html-page-context", finish, priority=900)
