"""The browser tests: their servers and pages, and what no page may do.

They need Chromium or Chrome. Where there is none they are skipped, unless the environment variable
CLOZE_BROWSER_TESTS is ``required``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from cloze.widgets.widget import Widget
from tests.browser import jupyter
from tests.browser.hand import Hand
from tests.browser.jupyter import Notebook, Server
from tests.browser.watch import Watch
from web import browser as browsers
from web.build import build_single

HERE = Path(__file__).parent

# What the applications do by themselves, in a notebook without a widget too.
STOCK_REQUESTS = (
    # Voilà's page wants its icons from a CDN, and does without.
    r"^https://cdn\.jsdelivr\.net/npm/@fortawesome/fontawesome-free@",
)
STOCK_ERRORS = (
    r"^Failed to load resource: net::ERR_NAME_NOT_RESOLVED \(https://cdn\.jsdelivr\.net/npm/@fortaw",
    # Voilà loads every extension of JupyterLab's, also those that need what only JupyterLab has.
    r"^Error: The getter for the shared module is not a function\..*/voila/static/",
    # JupyterLab asks a kernel for its debugger's state, also one that ends before it answers.
    r"^Could not restore the debugger state: Canceled future for debug_request .*/static/lab/",
    # The widget manager, when a click changes a model whose kernel is gone, as the widget says.
    r"^Could not send widget sync message Error: Cannot send\s.*/jupyterlab-manager/static/",
)

STAGE = """
<body data-jp-theme-light="true"><style>{css}</style>
<div id="first"></div><div id="second"></div></body>
"""
Put = Callable[[Widget], Locator]
Take = Callable[[Widget], Hand]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each browser test five minutes, and begin with them early: one worker runs all."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(300))
            item.add_marker(pytest.mark.long)


# All that follows for the whole package ends with it. Playwright keeps an event loop running in
# this thread, which neither nbval's client nor another Playwright could bear.
@pytest.fixture(scope="package", autouse=True)
def chromium() -> str:
    executable = browsers.chromium()
    if not executable:
        required = os.environ.get("CLOZE_BROWSER_TESTS") == "required"
        (pytest.fail if required else pytest.skip)(browsers.NO_CHROMIUM)
    return executable


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    with browsers.browsing(chromium) as browser:
        yield browser


@pytest.fixture(scope="package")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One for all pages, so that JupyterLab's scripts are loaded once."""
    context = browser.new_context(viewport=jupyter.VIEWPORT)
    context.set_default_timeout(browsers.PATIENCE * 1000)
    yield context
    context.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="package")
def tidy() -> list[Page]:
    """Pages in which JupyterLab runs as it began, and so need not load it once more."""
    return []


@pytest.fixture
def page(context: BrowserContext, tidy: list[Page], watch: Watch) -> Iterator[Page]:
    """A page, which at the end of the test must have met no error and asked no network."""
    page = tidy.pop() if tidy else context.new_page()
    page.bring_to_front()  # behind another page, its frames come once a second
    watch.over(page)
    yield page
    watch.leave(page)
    if not jupyter.tidied(page):
        page.close()
    assert without(watch.requests, STOCK_REQUESTS) == []
    assert without(watch.errors, STOCK_ERRORS) == []
    if not page.is_closed():
        tidy.append(page)


def without(lines: list[str], known: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not any(re.search(x, line, re.DOTALL) for x in known)]


@pytest.fixture(scope="package")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter.jupyterlab(tmp_path_factory.mktemp("jupyterlab")) as server:
        yield server


@pytest.fixture(scope="package")
def built(page_folder: Path) -> Iterator[str]:
    """The address of the page without Python, served as any web server would."""
    blank = '<!doctype html><link rel="icon" href="icon.svg">'
    (page_folder / "blank.html").write_text(blank, encoding="utf-8")
    with browsers.served(page_folder) as address:
        yield address


@pytest.fixture(scope="package")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page without Python, as one file."""
    path = tmp_path_factory.mktemp("stick") / "explorer.html"
    build_single(path)
    return path


@pytest.fixture
def lab(jupyterlab: Server, page: Page) -> Iterator[Notebook]:
    notebook = Notebook(jupyterlab, page)
    yield notebook
    notebook.end_kernels()
    jupyterlab.forget_settings()


@pytest.fixture
def hand(page: Page) -> Take:
    """Take one widget after the other in hand, and see none of them."""
    page.set_content("<body></body>")
    return Hand(page).take


@pytest.fixture
def driven(hand: Take, explorer: Widget) -> Hand:
    """The explorer of a module, in hand."""
    return hand(explorer)


@pytest.fixture
def put(page: Page) -> Put:
    """Show a widget twice on an empty page, without Jupyter."""

    def show(widget: Widget) -> Locator:
        page.set_viewport_size({"width": 700, "height": 900})
        page.set_content(STAGE.format(css=widget._css))
        Hand(page).take(widget, places=["first", "second"])
        return page.locator("#first")

    return show
