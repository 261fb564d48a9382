"""The lectures in a real browser: every screen in sight, its keys, its notes, its widgets."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, ViewportSize, expect

from run import ROOT
from tests.browser import jupyter
from tests.browser.conftest import STOCK_ERRORS, without
from tests.browser.watch import Watch, settled, violations

SIZES: list[ViewportSize] = [
    {"width": 1024, "height": 768},
    {"width": 1280, "height": 800},
    {"width": 1920, "height": 1080},
]
LEAST = 0.022
"""The smallest type for the room, as a share of the height of the page."""
# Elements that reach beyond the screen or are cut off, and text too small for the room, except
# what only the lecturer needs.
BEYOND = """least => {
    const screen = document.querySelector(".screen:not([hidden])");
    const foot = document.querySelector("main").getBoundingClientRect();
    const seen = each => each.checkVisibility() && getComputedStyle(each).clipPath === "none";
    const found = [];
    for (const each of screen.querySelectorAll("*")) {
        if (!seen(each)) continue;
        const box = each.getBoundingClientRect();
        const scrolls = getComputedStyle(each).overflow !== "visible" && !each.closest(".track");
        const tall = each.scrollHeight > each.clientHeight + 1;
        const cut = scrolls && (tall || each.scrollWidth > each.clientWidth + 1);
        if (cut || box.bottom > foot.bottom + 1 || box.right > foot.right + 1 || box.top < -1)
            found.push(`beyond: ${each.outerHTML.slice(0, 200)}`);
        const says = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        const size = parseFloat(getComputedStyle(each).fontSize) / innerHeight;
        const lecturers = each.closest(
            ".controls, .hands-on, .does, small, sub, option, svg, .status, .quiet");
        if (says && !lecturers && size < least)
            found.push(`small, ${size.toFixed(4)}: ${each.outerHTML.slice(0, 200)}`);
    }
    return found;
}"""

TEMPLATES = ROOT / "lecture/voila/templates/lecture"
SCRIPT = TEMPLATES / "static/lecture.js"
BAR = "<template" + (TEMPLATES / "index.html.j2").read_text("utf-8").split("<template")[1]


class Lecture:
    """A lecture on a page, and a lecturer."""

    def __init__(self, page: Page, minutes: str, watch: Watch) -> None:
        self.page = page
        self.minutes = minutes
        self.watch = watch
        self.screens: list[str] = page.locator(".screen").evaluate_all(
            "all => all.map(each => each.querySelector('h1, h2').textContent.replace('¶', ''))"
        )

    @property
    def screen(self) -> Locator:
        """The screen that is seen."""
        return self.page.locator(".screen:not([hidden])")

    def at(self, number: int) -> None:
        """Expect that a screen is seen, counted from 1."""
        expect(self.screen).to_have_id(f"screen-{number}")

    def open(self, words: str) -> Locator:
        """Go to the screen whose headline has these words."""
        [number] = [n for n, title in enumerate(self.screens, start=1) if words in title]
        self.page.evaluate("number => { location.hash = number }", number)
        self.at(number)
        return self.screen

    def leave(self) -> None:
        """Take the focus from whatever has it."""
        self.page.evaluate("document.activeElement.blur()")


@pytest.fixture(scope="module", params=["90", pytest.param("60", marks=pytest.mark.slow)])
def shown(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lecture]:
    """A lecture that has loaded; at the end there must be no error and no request to a network."""
    watch = Watch()
    page = context.new_page()
    watch.over(page)
    with jupyter.lecture(tmp_path_factory.mktemp("lecture"), request.param) as server:
        page.goto(f"{server.url}/?token={jupyter.TOKEN}", wait_until="commit")
        # The title is there before the kernel, and the bar says what it is waiting for.
        expect(page.locator(".screen:not([hidden]) h1")).to_contain_text("What is missing?")
        expect(page.get_by_role("status").filter(has_text="Getting ready")).to_be_visible()
        expect(page.locator("body[data-ready]")).to_be_visible(timeout=180_000)
        yield Lecture(page, request.param, watch)
        page.close()
    assert watch.requests == []
    assert without(watch.errors, STOCK_ERRORS) == []


longer = pytest.mark.parametrize("shown", ["90"], indirect=True)
"""For what need not be tried twice: the longer lecture has all screens of the shorter one."""


@pytest.fixture
def lecture(shown: Lecture) -> Lecture:
    """The lecture at its first screen, in the least size, light, and with no focus anywhere."""
    shown.page.bring_to_front()  # behind another page, its frames come once a second
    shown.page.set_viewport_size(SIZES[0])
    shown.page.evaluate("location.hash = 1; document.body.dataset.jpThemeLight = true")
    shown.at(1)
    shown.leave()
    return shown


@pytest.mark.parametrize(
    "size",
    [SIZES[0], *(pytest.param(size, marks=pytest.mark.slow) for size in SIZES[1:])],
    ids=lambda size: f"{size['width']}x{size['height']}",
)
def test_from_the_first_to_the_last_screen_all_is_in_sight(
    lecture: Lecture, size: ViewportSize
) -> None:
    page = lecture.page
    page.set_viewport_size(size)
    beyond = {}
    for number, title in enumerate(lecture.screens, start=1):
        lecture.at(number)
        expect(page).to_have_title(title)
        settled(page)
        beyond[title] = page.evaluate(BEYOND, LEAST)
        page.keyboard.press("PageDown")
    assert {title: found for title, found in beyond.items() if found} == {}
    lecture.at(len(lecture.screens))  # there is none behind the last
    page.keyboard.press("PageUp")
    lecture.at(len(lecture.screens) - 1)


@longer
def test_keys_move_unless_a_widget_has_the_focus(lecture: Lecture) -> None:
    press = lecture.page.keyboard.press
    for key, number in (
        *(("ArrowRight", 2), (" ", 3), ("ArrowDown", 4), ("ArrowLeft", 3), ("ArrowUp", 2)),
        *(("End", len(lecture.screens)), ("Home", 1), ("PageDown", 2)),
    ):
        press(key)
        lecture.at(number)
    letter = lecture.screen.locator('.letter[data-with-at="2"]')
    letter.focus()
    press("ArrowRight")
    lecture.at(2)
    expect(lecture.screen.locator('.letter[data-with-at="3"]')).to_be_focused()
    press("PageDown")  # the remote goes on all the same
    lecture.at(3)
    press("PageUp")
    letter.focus()
    press("Escape")
    press("ArrowRight")
    lecture.at(3)
    press(".")
    expect(lecture.screen).to_be_hidden()
    press("PageDown")  # lights the page again
    lecture.at(3)
    expect(lecture.screen).to_be_visible()
    lecture.page.evaluate("window.same = true")
    press("F5")  # a remote sends it, and it does not begin anew
    lecture.page.wait_for_function("document.fullscreenElement !== null")
    press("f")
    lecture.page.wait_for_function("document.fullscreenElement === null")
    assert lecture.page.evaluate("window.same")


@longer
def test_a_screen_is_reached_by_its_number_and_from_the_overview(lecture: Lecture) -> None:
    lecture.page.keyboard.type("12")
    lecture.page.keyboard.press("Enter")
    lecture.at(12)
    lecture.page.keyboard.press("o")
    overview = lecture.page.get_by_role("dialog", name="All screens")
    titles = overview.get_by_role("button")
    shown = [title.split("\n", 1) for title in titles.all_inner_texts()]
    assert shown == [[str(n), title] for n, title in enumerate(lecture.screens, start=1)]
    for title in titles.all():  # each in one line with its number
        assert title.locator("span").bounding_box()["y"] < title.bounding_box()["y"] + 12  # type: ignore[index]
    expect(titles.nth(11)).to_be_focused()
    for key, focused in (("ArrowDown", 12), ("ArrowLeft", 11), ("Home", 0), ("End", -1)):
        lecture.page.keyboard.press(key)
        expect(titles.nth(focused)).to_be_focused()
    lecture.page.keyboard.type("14")
    expect(titles.nth(13)).to_be_focused()
    lecture.page.keyboard.press("Enter")
    expect(overview).to_be_hidden()
    lecture.at(14)
    lecture.page.keyboard.press("o")
    titles.nth(4).click()
    expect(overview).to_be_hidden()
    lecture.at(5)


@longer
@pytest.mark.parametrize(
    ("words", "answer"),
    [("A bet costs", "text=The true shares"), ("The proof", "img"), ("better", ".hits")],
)
def test_one_key_reveals(lecture: Lecture, words: str, answer: str) -> None:
    revealed = lecture.open(words).locator(answer).first
    expect(revealed).to_be_hidden()
    lecture.leave()
    lecture.page.keyboard.press("r")
    expect(revealed).to_be_visible()
    settled(lecture.page)
    assert lecture.page.evaluate(BEYOND, 0) == []


def test_only_the_lecturer_sees_notes_and_clock(lecture: Lecture) -> None:
    page = lecture.page
    page.evaluate("sessionStorage.clear(); window.real = window.open; window.open = () => null")
    page.get_by_role("button", name="Notes").click()
    expect(page.get_by_text("allow pop-ups for this page")).to_be_visible()
    page.evaluate("window.open = window.real")
    lecture.leave()
    with page.context.expect_page() as opened:
        page.keyboard.press("n")
    notes = opened.value
    lecture.watch.over(notes)
    expect(notes.locator("#left")).to_have_text(f"{lecture.minutes}:00")
    expect(notes.get_by_role("button", name="Start the clock")).to_be_visible()
    expect(notes.locator("#after")).to_have_text(f"Next: {lecture.screens[1]}")
    notes.keyboard.press("PageDown")  # the remote works wherever the focus is
    lecture.at(2)
    expect(notes.locator("#here")).to_contain_text(lecture.screens[1])
    expect(notes.locator("#elapsed")).not_to_have_text("0:00")  # the first step has started it
    expect(notes.locator("#plan")).to_contain_text("5 min planned here")
    first_note = notes.locator("#notes").inner_text().splitlines()[0]
    assert "Do:" in first_note
    assert first_note not in page.locator("body").inner_text()
    assert "elapsed" not in page.locator("body").inner_text()
    assert violations(notes) == []
    notes.get_by_role("button", name="Back").click()
    lecture.at(1)
    notes.get_by_role("button", name="Reset the clock").click()
    expect(notes.locator("#elapsed")).to_have_text("0:00")
    lecture.watch.leave(notes)
    notes.close()


DONE: dict[str, tuple[list[str], str]] = {
    "Hide a letter": (['.letter[data-with-at="1"]'], "Position 1"),
    "15% are asked": (["text='1000 times'"], "Draw 1000"),
    "make the question": (["summary", "text='Draw again'"], "Draw 2"),
    "Every position": (['[aria-label="position 2, e"]'], "Position 2, e, sees 3 of 11"),
    "It learns": (["text='Start'", "text='Stop'"], "Resume"),
    "Two questions": (["[type=radio] >> nth=0"], "1 answered"),
    "the room against": (["q"], "How sure are you?"),
    "In a small world": (['.letter[data-with-at="1"]'], "Position 1"),
    "gap after gap": (["text='Step'"], "Step 1"),
}
"""What is clicked, or typed, on a screen, and the words that then appear there."""


@longer
@pytest.mark.parametrize("words", DONE)
def test_widgets_answer_and_stay_in_sight(lecture: Lecture, words: str) -> None:
    screen = lecture.open(words)
    clicks, answer = DONE[words]
    for click in clicks:
        if len(click) == 1:
            screen.locator("[type=text]").press(click)
        else:
            screen.locator(click).click()
    expect(screen).to_contain_text(answer)
    settled(lecture.page)
    assert lecture.page.evaluate(BEYOND, 0) == []


def test_nobody_without_the_address_sees_a_lecture(lecture: Lecture) -> None:
    with urllib.request.urlopen(lecture.page.url.partition("?")[0]) as answer:
        assert "/login" in answer.url


@longer
def test_what_the_room_has_bet_is_kept_over_the_hour(lecture: Lecture) -> None:
    screen = lecture.open("Hide a letter")
    field = screen.get_by_label("Your line")
    field.press_sequentially("the cat and a dog not far")  # no letter is a key of the lecture
    expect(field).to_have_value("the cat and a dog not far")
    lecture.at(2)
    field.press("Enter")
    screen.locator('.letter[data-with-at="5"]').click()
    expect(screen.locator(".keys")).to_be_visible()
    expect(screen.locator(".cloze-root .chart")).to_have_count(0)  # nothing is given away
    screen.locator(".keys button").first.click()
    screen.get_by_role("button", name="Reveal").click()
    score = lecture.open("Who placed the best bets")
    expect(score.get_by_role("status")).to_contain_text("in nats per gap")


@longer
@pytest.mark.slow
def test_no_screen_has_a_serious_violation(lecture: Lecture) -> None:
    found = {}
    for theme in ("light", "dark"):
        lecture.page.evaluate("location.hash = 1")
        for title in lecture.screens:
            found[theme, title] = violations(lecture.page)
            lecture.page.keyboard.press("PageDown")
        lecture.page.keyboard.press("d")
        expect(lecture.page.locator("body")).to_have_attribute(
            "data-jp-theme-light", str(theme == "dark").lower()
        )
    assert {each: what for each, what in found.items() if what} == {}


def test_a_cell_that_fails_is_reported(page: Page, built: str) -> None:
    page.goto(f"{built}/blank.html#2")
    one, other = (f"<section class='screen'{how}><h2>x</h2></section>" for how in ("", " hidden"))
    head = "<title>x</title><link rel='icon' href='data:,'>"
    page.set_content(f"{head}<main>{one}{other}</main>{BAR}")
    page.add_script_tag(path=SCRIPT)
    for cell in range(3):
        page.evaluate("cell => lecture.arrived(cell, 5)", cell)
    expect(page.get_by_role("status")).to_have_text("Getting ready: 2 of 5")
    page.evaluate("lecture.ended()")
    expect(page.get_by_role("status")).to_contain_text("Something failed on screen 2, and nothing")
    expect(page.locator("progress")).to_have_count(0)
