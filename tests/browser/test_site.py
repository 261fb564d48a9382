"""The site in a real browser: for every reader, at every size, and nobody else is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.watch import Watch, settled, violations
from tests.series import NOTEBOOKS
from web.browser import served

PAGES = [f"notebooks/{path.stem}" for path in NOTEBOOKS]
BESIDE = [
    *("index", "search", "benchmarks/README", "benchmarks/RECORDS"),
    "accessibility",
    *("notebooks/glossary", "notebooks/misconceptions", "notebooks/references"),
]
BESIDE += ["explorer/index", "explorer"]
ONE_OF_EACH = """() => {
    const seen = new Set();
    for (const each of document.querySelectorAll(".highlight span, [role=img] > *")) {
        const ground = each.closest(".highlight")?.className;
        const kind = [each.className, each.getAttribute("style"), ground].join();
        if (seen.has(kind)) each.replaceWith(...(ground ? each.childNodes : []));
        seen.add(kind);
    }
}"""
"""Of thousands of coloured words of code, and letters of lines, one of each kind is looked at."""
WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
    .filter((part) => !part.closest(".sidebar-drawer, .toc-drawer"))
    .filter((part) => !part.closest(".chips, .ground, [tabindex='0']"))
    .map((part) => part.outerHTML.slice(0, 120))"""
"""What stands out of the window, though nothing scrolls it."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One page for all tests here: what a browser has loaded once it has."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture
def reader(tab: Page) -> Iterator[Page]:
    """Somebody at a page, which must meet no error and ask nobody else."""
    watch = Watch()
    watch.over(tab)
    tab.bring_to_front()  # behind another page, its frames come once a second
    yield tab
    watch.leave(tab)
    tab.emulate_media(color_scheme="light")
    tab.set_viewport_size({"width": 1280, "height": 900})
    assert watch.requests == []
    assert watch.errors == []


OFTEN = ["index", "notebooks/05_the_explorer", "explorer/index"]
"""One page of each kind."""


@pytest.mark.parametrize(
    "name",
    [
        *OFTEN,
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in PAGES + BESIDE
            if name not in OFTEN
        ),
    ],
)
def test_everybody_can_use_every_page(address: str, reader: Page, name: str) -> None:
    reader.goto(f"{address}/{name}.html")
    reader.evaluate(ONE_OF_EACH)
    reader.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert violations(reader) == []
    reader.emulate_media(color_scheme="dark")
    assert violations(reader, rule="color-contrast") == []
    for width in (400, 320):
        reader.set_viewport_size({"width": width, "height": 800})
        settled(reader)
        assert reader.evaluate("document.documentElement.scrollWidth") == width
        assert reader.evaluate(WIDE) == []


def test_the_dark_theme_is_the_readers_choice(address: str, reader: Page) -> None:
    reader.goto(f"{address}/notebooks/01_the_loss.html")
    quiz = alive(reader, "Quiz").locator(".cloze")
    ground = "(each) => getComputedStyle(each).backgroundColor"
    assert quiz.evaluate(ground) == "rgb(255, 255, 255)"
    button = reader.locator(".content-icon-container .theme-toggle")
    button.click()  # from the system's own, which is light, to …
    if reader.evaluate("document.body.dataset.theme") == "light":
        button.click()
    expect(reader.locator("body")).to_have_attribute("data-theme", "dark")
    assert quiz.evaluate(ground) == "rgb(22, 25, 29)"
    picture = reader.locator("img.cloze-picture").first
    assert picture.evaluate("(each) => getComputedStyle(each).colorScheme") == "dark"
    reader.evaluate("localStorage.clear()")


def alive(reader: Page, name: str) -> Locator:
    """Return the place of the first widget of a class, which has come into sight."""
    place = reader.locator(f".living[data-widget={name}]").first
    place.scroll_into_view_if_needed()
    expect(place.locator(".cloze-root")).to_be_visible()
    return place


def test_two_quizzes_of_a_page_answer_and_do_not_meddle(address: str, reader: Page) -> None:
    reader.goto(f"{address}/notebooks/15_your_own_text.html")
    one, other = reader.locator(".living[data-widget=Quiz]").all()
    for quiz in (one, other):
        quiz.scroll_into_view_if_needed()
        quiz.locator("input").first.check()
    expect(one.locator("input:checked")).to_have_count(1)
    expect(one.get_by_role("status")).to_contain_text("1 answered")


@pytest.mark.parametrize(
    ("page", "name", "button", "answer"),
    [
        ("01_the_loss", "ProbabilityBet", "all on l", "l has 1.000"),
        ("02_the_mask", "MaskDraws", "10 times", "Draw 10:"),
        ("03_the_encoder", "Sight", "position 0, t", "Position 0, t, sees 1 of 11"),
        ("05_the_explorer", "MaskExplorer", "position 0, s", "Position 0 masked."),
        ("10_writing_with_gaps", "Unmasking", "Step", "Step 1: "),
    ],
)
def test_a_widget_lives(
    address: str, reader: Page, page: str, name: str, button: str, answer: str
) -> None:
    reader.goto(f"{address}/notebooks/{page}.html")
    place = alive(reader, name)
    place.get_by_role("button", name=button, exact=True).click()
    expect(place).to_contain_text(answer)


def test_the_trainings_of_a_notebook_train(address: str, reader: Page) -> None:
    reader.goto(f"{address}/notebooks/04_training.html")
    little, whole = reader.locator(".living[data-widget=TrainingCurve]").all()
    for place, shown in ((little, "held-out loss"), (whole, "training loss")):
        place.scroll_into_view_if_needed()
        place.get_by_role("button", name="Train mine").click()
        expect(place.locator("p.number")).to_contain_text(shown)
        place.get_by_role("button", name="Stop").click()
        expect(place.get_by_role("button", name="Resume")).to_be_visible()
    expect(little.locator(".filling .asked").first).not_to_have_text("?")
    assert violations(reader, ".living[data-widget=TrainingCurve]") == []


def test_in_a_browser_that_is_too_old_pictures_stay(address: str, browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script("WebAssembly.compile = async () => { throw new Error('no SIMD') }")
        page.goto(f"{address}/notebooks/05_the_explorer.html")
        place = page.locator(".living[data-widget=MaskExplorer]").first
        place.scroll_into_view_if_needed()
        expect(place).to_contain_text("(no SIMD); reload the page, or open it in a newer browser.")
        expect(place.locator(".cloze.still")).to_be_visible()


def test_the_search_finds_prose_and_quotes_no_code(address: str, reader: Page) -> None:
    reader.goto(f"{address}/index.html")
    results = reader.locator("#search-results li")
    pages = ("9 · Other", "12 · Vectors", "8 · What to hide")  # the code of 2 and 4 enumerates
    for words, page in zip(("enumerate", "anisotropic", "masking rate"), pages, strict=True):
        field = reader.get_by_placeholder("Search")
        field.fill(words)
        field.press("Enter")
        expect(results.first).to_contain_text(page)
    expect(reader.get_by_role("heading", level=1)).to_have_text("Search")
    expect(results.locator(".context").last).to_be_visible()
    assert "import" not in reader.locator("#search-results").inner_text()
    results.first.get_by_role("link").click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("8 · What to hide")


def test_a_page_without_programs_keeps_its_pictures(address: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/notebooks/05_the_explorer.html")
    expect(page.locator(".living .cloze.still").first).to_be_visible()
    expect(page.locator(".living").first).to_contain_text("u 0.98")
    expect(page.locator(".living[data-widget=Quiz]")).to_contain_text("1. ")
    page.get_by_text("The questions once more").click()
    expect(page.locator("details[open]")).to_have_count(1)
    context.close()


def test_formulas_are_drawn_with_room_to_scroll(address: str, reader: Page) -> None:
    reader.set_viewport_size({"width": 360, "height": 800})
    reader.goto(f"{address}/notebooks/10_writing_with_gaps.html")
    wide = reader.locator(".formula[tabindex='0']").first
    wide.focus()
    reader.keyboard.press("ArrowRight")
    expect(wide).to_have_js_property("scrollLeft", 40)


def test_print_clips_no_line_of_code(address: str, reader: Page) -> None:
    reader.goto(f"{address}/notebooks/04_training.html")
    clipped = """() => [...document.querySelectorAll("pre")]
        .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth).length"""
    reader.set_viewport_size({"width": 640, "height": 900})
    assert reader.evaluate(clipped) > 0
    reader.emulate_media(media="print")
    assert reader.evaluate(clipped) == 0
    reader.emulate_media(media="screen")


def test_every_page_opens_without_a_network_once_one_was_there(
    site: Path, browser: Browser
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        with served(site) as address:
            page.goto(f"{address}/index.html")
            page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        for name in ("notebooks/03_the_encoder.html", "notebooks/glossary.html", "explorer", ""):
            page.goto(f"{address}/{name}")
            expect(page.locator("h1").first).to_be_visible()
