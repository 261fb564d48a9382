"""The page without Python: on a server and as one file, without a network, and for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from cloze.explorer import MaskExplorer
from cloze.explorer.widget import EXAMPLES, VIEWS
from cloze.prediction.answers import top_k
from cloze.prediction.shipped import shipped_model
from tests.browser.test_presenting import SMALL
from tests.browser.watch import Watch, low_contrasts, settled, violations
from web.browser import served
from web.build import build_page

FIRST = next(iter(EXAMPLES.values())).line


@pytest.fixture
def fresh(browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """A browser that has seen nothing yet, and at the end has asked nobody else."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(60_000)
    context.on("page", watch.over)
    yield context
    context.close()
    assert watch.requests == []
    assert watch.errors == []


def opened(page: Page, address: str) -> Locator:
    """Open an address, and wait until the explorer is alive; before that its picture is there."""
    page.goto(address)
    expect(page.locator("#explorer button.letter").first).to_be_visible()
    return page.locator("#explorer .cloze")


def until(page: Page, expression: str) -> None:
    """Wait until something is true; Playwright's own way is against the policy of the page."""
    for _ in range(600):
        if page.evaluate(f"Promise.resolve({expression}).then(Boolean)"):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"It never came true: {expression}")


def letter(page: Page, at: int) -> Locator:
    return page.locator(f'#explorer .letter[data-with-at="{at}"]')


def line(page: Page) -> str:
    """Read the line off the page."""
    said = page.locator("#explorer .letter").evaluate_all("all => all.map(each => each.ariaLabel)")
    symbols = (re.sub(r"^position \d+, (masked, the truth is )?", "", each) for each in said)
    symbols = (re.sub(r", (if masked|attention|[\d.]+ nats).*", "", each) for each in symbols)
    return "".join(" " if each == "space" else each for each in symbols)


def masked(page: Page) -> list[int]:
    pressed = page.locator('#explorer .letter[aria-pressed="true"]')
    return [int(each.get_attribute("data-with-at") or -1) for each in pressed.all()]


def reveal(page: Page) -> None:
    """Show the answer to the gap with which every line begins."""
    page.locator("#explorer").get_by_role("button", name="Reveal").click()
    expect(page.locator("#explorer [data-do=reveal]")).to_have_count(0)


def test_the_gap_is_played_before_the_models_have_come_and_the_explorer_follows(
    page: Page, built: str, page_folder: Path
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    loaded: list[str] = []
    held: list[Route] = []
    page.on("request", lambda request: loaded.append(urlsplit(request.url).path.strip("/")))
    page.route("**/*.safetensors", lambda route: held.append(route))
    page.goto(f"{built}/index.html")
    field = page.locator("#gap input")
    expect(field).to_be_focused()
    files = (page_folder / name for name in {*loaded} if not name.endswith(".safetensors"))
    assert sum(path.stat().st_size for path in files) < 1e6
    field.press("e")
    expect(field).to_have_value("e")
    for route in held:
        route.continue_()
    page.unroute_all()
    gap = page.locator("#gap")
    expect(gap.get_by_role("status")).to_contain_text("It was i. Left alone is sure of a space")
    expect(gap.get_by_role("button")).to_be_in_viewport(ratio=1)
    text, part = EXAMPLES["it takes both sides"]
    at = text.index(part)
    label = f"position {at}, masked, the truth is {part}"
    expect(letter(page, at)).to_have_attribute("aria-label", re.compile(label))
    expect(page.locator("#explorer .mine")).to_have_text("you")
    assert page.url == f"{built}/index.html"
    settled(page)
    width = "each => each.getBoundingClientRect().width"
    assert page.locator("#explorer .chart .both .bar").first.evaluate(width) > 60
    assert letter(page, 0).evaluate(width) == 24
    tabs = page.locator("#explorer .views button").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().top)"
    )
    assert len({*tabs}) == 1
    for key in ("q", "c"):
        page.keyboard.press("Enter")
        page.keyboard.press(key)
        expect(gap.get_by_role("status")).not_to_be_empty()
    for word in ("time", "water"):
        page.keyboard.press("Enter")
        expect(field).to_be_editable()
        page.keyboard.type(word)
        page.keyboard.press("Enter")
        expect(gap.get_by_role("status")).to_contain_text("The model that reads words")
    page.get_by_role("link", name="See how it knows").click()
    expect(page.locator("#explorer .picture")).to_be_in_viewport()


def test_nothing_moves_when_it_is_revealed(page: Page, built: str) -> None:
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        opened(page, f"{built}/#line=the+cat+slept+on+the+chair&mask={width % 7}")
        tops = """() => [".panel", ".views", ".controls"].map((each) =>
            document.querySelector(`#explorer ${each}`).getBoundingClientRect().top + scrollY)"""
        before = page.evaluate(tops)
        reveal(page)
        expect(page.locator("#explorer .chart")).to_be_visible()
        settled(page)
        assert page.evaluate(tops) == pytest.approx(before, abs=8)


def test_one_file_opens_from_a_folder(page: Page, watch: Watch, single: Path) -> None:
    assert single.stat().st_size <= 15_000_000
    opened(page, single.as_uri())
    reveal(page)
    assert line(page) == FIRST
    letter(page, 5).click()
    expect(page.locator("#explorer [role=status]")).to_contain_text("Position 5 masked. From both")
    for view in ("Surprise", "Inside", "Two gaps"):
        page.get_by_role("button", name=view).click()
        expect(page.locator("#explorer .panel")).not_to_be_empty()
    assert watch.requests == [single.as_uri()]
    watch.requests.clear()


def test_it_opens_without_a_server_once_it_was_there(
    fresh: BrowserContext, page_folder: Path
) -> None:
    page = fresh.new_page()
    with served(page_folder) as address:
        opened(page, f"{address}/index.html")
        until(page, "navigator.serviceWorker.controller")
    for name in ("", "index.html?from=stick#line=the+old+m_n&mask=0"):
        opened(page, f"{address}/{name}")
        reveal(page)
        letter(page, 1).click()
        expect(page.locator("#explorer .chart")).to_be_visible()
    assert line(page).startswith("the old m")


@pytest.mark.slow
def test_a_changed_page_comes_with_the_next_visit(fresh: BrowserContext, tmp_path: Path) -> None:
    build_page(tmp_path)
    page = fresh.new_page()
    with served(tmp_path) as address:
        opened(page, address)
        until(page, "navigator.serviceWorker.controller")
        build_page(tmp_path, series="https://example.org/series")
        link = page.get_by_role("link", name="the notebook series")
        expect(link).to_have_count(0)
        [kept] = page.evaluate("caches.keys()")
        page.reload()  # from what is kept; meanwhile the browser asks for what is new
        until(page, f"caches.keys().then((names) => !names.includes({kept!r}))")
        page.reload()
        expect(link).to_have_attribute("href", "https://example.org/series")
        assert len(page.evaluate("caches.keys()")) == 1


@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "dark"), pytest.param(1280, "light", marks=pytest.mark.slow)]
)
def test_nobody_is_kept_out(
    page: Page, built: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    opened(page, f"{built}/#line=the+cat+slept+on+the+chair&mask=4,5")

    def judge(what: str) -> None:
        assert violations(page) == [], what
        assert page.evaluate("document.documentElement.scrollWidth") <= width, what
        assert page.locator("body").evaluate(SMALL) == [], what

    judge("a gap to guess")
    reveal(page)
    page.get_by_role("button", name="Guess first").click()
    page.get_by_role("button", name="guess c", exact=True).click()
    page.get_by_role("button", name="Reveal").click()
    expect(page.locator("#explorer .tally")).to_be_visible()
    page.get_by_label("Your line").fill("1 2 3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("digits are not among")
    page.locator("#unmasking").get_by_role("button", name="Step").click()
    expect(page.locator("#unmasking .new")).to_be_visible()
    judge("a step")
    present = page.locator("#explorer").get_by_role("button", name="Present")
    if present.is_visible():  # not on a phone
        present.evaluate("each => each.click()")
        expect(page.locator("#explorer .present")).to_be_visible()
        judge("present")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_colours_are_chosen_and_remembered(page: Page, built: str) -> None:
    opened(page, built)
    switch = page.get_by_role("button", name="Dark")
    expect(switch).to_have_attribute("aria-pressed", "false")
    switch.press("Enter")
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert low_contrasts(page) == []
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")


def test_all_of_it_goes_by_keyboard_alone(page: Page, built: str) -> None:
    opened(page, built)
    keys = page.keyboard

    def tab_to(target: Locator) -> None:
        for _ in range(60):
            if target.evaluate("each => each === document.activeElement"):
                return
            keys.press("Tab")
        raise AssertionError(f"Tab does not lead to {target}")

    tab_to(page.get_by_label("Your line"))
    keys.type("the old man walked")
    keys.press("Enter")
    expect(page.locator("#explorer .letter")).to_have_count(18)
    tab_to(letter(page, 0))
    keys.press("ArrowRight")
    keys.press("Space")
    expect(letter(page, 1)).to_have_attribute("aria-pressed", "true")
    keys.press("Shift+ArrowRight")
    expect(letter(page, 2)).to_have_attribute("aria-pressed", "true")
    assert masked(page) == [1, 2]
    tab_to(page.get_by_role("button", name="Two gaps"))
    keys.press("Enter")
    expect(page.locator("#explorer .tables table")).to_have_count(2)
    assert parse_qs(urlsplit(page.url).fragment) == {
        "line": ["the old man walked"],
        "mask": ["1,2"],
        "view": ["pair"],
    }


def test_a_link_carries_a_line_and_agrees_with_what_is_seen(page: Page, built: str) -> None:
    opened(page, f"{built}/#line=two%0Alines_and+gaps&mask=0,4&view=surprise")
    assert masked(page) == [0, 4, 9]
    expect(page.get_by_role("button", name="Surprise")).to_have_attribute("aria-pressed", "true")
    reveal(page)
    letter(page, 1).click()
    expect(page).to_have_url(re.compile(r"#line=two%0Alines_and\+gaps&mask=0,1,4&view=surprise$"))
    seen = (line(page), masked(page))
    # Another link in the same page.
    page.get_by_role("link", name="only the left side knows").click()
    text, hidden = EXAMPLES["only the left side knows"]
    at = text.index(hidden)
    expect(letter(page, at)).to_have_attribute("aria-pressed", "true")
    reveal(page)
    assert (line(page), masked(page)) == (text, [at])
    expect(letter(page, at)).to_be_in_viewport()
    expect(letter(page, at)).to_be_focused()
    page.go_back()
    expect(letter(page, 1)).to_have_attribute("aria-pressed", "true")
    reveal(page)
    assert (line(page), masked(page)) == seen
    page.reload()
    expect(letter(page, 1)).to_have_attribute("aria-pressed", "true")
    reveal(page)
    assert (line(page), masked(page)) == seen


def test_a_bad_link_is_answered_by_one_sentence(page: Page, built: str) -> None:
    opened(page, f"{built}/#try")  # no link of ours
    expect(page.locator("#explorer .problem")).to_be_empty()
    alert = page.locator("#explorer").get_by_role("alert").last
    for fragment, sentence in {
        "line=abc&mask=3": "a position in this line is a whole number from 0 to 2.",
        "line=abc&view=all": f"a view is one of {', '.join(VIEWS)}.",
        "mask=1": "it carries no line.",
        "line=abc&mask=1&view=inside&off=x": (
            "a part is a layer, or a layer and one of its heads, as in 1.2."
        ),
    }.items():
        page.evaluate("fragment => { location.hash = fragment }", fragment)
        expect(alert).to_have_text(f"This link cannot be shown: {sentence}")


def test_a_link_carries_what_is_changed_inside(page: Page, built: str) -> None:
    line = "line=she+asked+what+it+was&mask=12&view=inside"
    other = f"{line}&second=she+asked+when+it+was"
    opened(page, f"{built}/#{other}&swap=1.2&step=5&bet=true")
    status = page.locator("#explorer [role=status]")
    expect(status).to_contain_text("You have found the one that carries the t.")
    page.locator('[data-with-part="0.3"]').click()
    expect(status).to_contain_text("head 2 of layer 1, head 4 of layer 1.")
    page.locator('#explorer [data-do="seek"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(f"{built}/#{other}&swap=1.2,1.4&step=4")
    page.evaluate("fragment => { location.hash = fragment }", f"{line}&off=7.1")
    told = "This link cannot be shown: this model has no head 1 of layer 7."
    expect(page.locator("#explorer .problem").first).to_have_text(told)


def test_within_another_page_it_is_the_explorer_alone(page: Page, built: str) -> None:
    page.goto(f"{built}/blank.html")
    page.evaluate(
        """() => { const frame = document.createElement("iframe");
        frame.src = "./index.html#line=abc"; frame.title = "The explorer";
        document.body.append(frame) }"""
    )
    frame = page.frame_locator("iframe")
    expect(frame.locator("#explorer .letter")).to_have_count(3)
    expect(frame.locator("h1")).to_be_hidden()


def test_without_its_weights_it_says_so(fresh: BrowserContext, built: str, watch: Watch) -> None:
    page = fresh.new_page()
    weights = "**/both.safetensors"
    for answer, why in (({"status": 404}, "404"), (None, "no answer")):
        page.unroute_all()
        page.route(weights, lambda route: route.fulfill(**answer) if answer else route.abort())  # noqa: B023
        with page.expect_event("pageerror"):  # a developer sees it as well
            page.goto(built)
        expect(page.locator("#explorer").get_by_role("alert")).to_have_text(
            f"The explorer cannot start: both.safetensors cannot be loaded ({why}); "
            "reload the page."
        )
    assert [each for each in watch.errors if "both.safetensors" in each]
    watch.forgive("both.safetensors")


def test_in_a_browser_that_is_too_old_it_says_what_to_do(
    fresh: BrowserContext, built: str, watch: Watch
) -> None:
    page = fresh.new_page()
    page.add_init_script("WebAssembly.compile = async () => { throw new Error('no SIMD') }")
    with page.expect_event("pageerror"):
        page.goto(built)
    expect(page.locator("#explorer").get_by_role("alert")).to_have_text(
        "The explorer cannot start: no SIMD; open the page in a newer browser."
    )
    watch.forgive("no SIMD")


SENTENCE = "Don't worry, it's 1803: Zoë's ___ sank near [MASK], Captain Xylqu said."


def test_words_come_when_they_are_asked_for_and_stay(
    fresh: BrowserContext, page_folder: Path
) -> None:
    """A sentence of one's own as Python reads and answers it, without a network too."""
    ours = MaskExplorer(shipped_model("words"), SENTENCE)
    page = fresh.new_page()
    asked: list[str] = []
    fresh.on("request", lambda request: asked.append(request.url))

    def answers() -> None:
        page.get_by_label("Your line").fill(SENTENCE)
        page.keyboard.press("Enter")
        expect(page.locator("#explorer .letter > span")).to_have_text([*map(shown, ours.truth)])
        first, gap = ours.predictions["both"], min(ours.masked)
        best = top_k(first[gap], 5, ours._symbols.known)
        rows = page.locator("#explorer .chart .candidate")
        expect(rows).to_have_text([guess.character for guess in best])

    with served(page_folder) as address:
        opened(page, f"{address}/index.html")
        assert not [url for url in asked if "words.safetensors" in url]
        page.locator("#who-explorer").get_by_role("button", name="words").click()
        expect(page.locator("#explorer .explorer.words")).to_be_visible()
        answers()
        page.locator("#unmasking").get_by_role("button", name="Step").click()
        expect(page.locator("#unmasking .new")).to_be_visible()
        until(page, "caches.match('words.safetensors')")
    page.reload()  # the address leads back to the sentence, and the server is gone
    expect(page.locator("#explorer .explorer.words")).to_be_visible()
    expect(page.locator("#explorer .letter")).to_have_count(len(ours.truth))
    answers()
    for view in ("Two gaps", "Inside", "Surprise"):
        page.get_by_role("button", name=view).click()
        expect(page.locator("#explorer .panel:not([aria-busy])")).not_to_be_empty()
    page.locator("#who-explorer").get_by_role("button", name="letters").click()
    expect(page.locator("#explorer .explorer.words")).to_have_count(0)
    assert line(page) == FIRST or masked(page)


def shown(symbol: str) -> str:
    return "?" if symbol == "_" else symbol
