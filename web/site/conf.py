"""Sphinx's settings for the site; ``web/site/__init__.py`` says what it is made of."""

project = html_title = "Cloze"
author = copyright = "The Cloze authors"  # noqa: A001 - Sphinx's name
language = "en"

extensions = ["myst_nb", "web.site.mathml"]
html_theme = "furo"
html_math_renderer = "mathml"

# Notebooks are committed executed; nothing runs here, and no script for widgets is fetched.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

myst_heading_slug_func = "web.site.pages.anchor"

smartquotes = False  # what stands there was written so
html_theme_options = {"navigation_with_keys": False, "top_of_page_buttons": []}
html_copy_source = html_use_index = html_domain_indices = html_show_sphinx = False
html_last_updated_fmt = None
html_static_path = ["static"]
html_css_files = ["widgets.css", "site.css"]
html_js_files = [("quiz.js", {"defer": "defer"}), ("site.js", {"defer": "defer"})]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
