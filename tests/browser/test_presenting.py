"""Every widget, however much it shows, fits a telephone and is seen from afar in a lecture hall."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from cloze.corpus import Corpus
from cloze.encoder import DIRECTIONS
from cloze.explorer import Gap, Inside, MaskExplorer, Tally
from cloze.heads import MaskedLM
from cloze.lessons.corrupt_and_repair.widget import LineSpoiler
from cloze.lessons.the_explorer.widget import GuessingGame
from cloze.lessons.the_loss.probability_bet import letter_counts
from cloze.lessons.the_loss.widget import ProbabilityBet
from cloze.lessons.the_mask.widget import MaskDraws
from cloze.lessons.vectors.search import EncoderVectors, Index
from cloze.lessons.vectors.widget import Search
from cloze.lessons.what_to_hide.widget import Hiding
from cloze.lessons.writing_with_gaps.widget import Unmasking
from cloze.prediction.shipped import shipped_model
from cloze.tasks.vectors import passages
from cloze.training import Record, TrainingRun
from cloze.widgets import Quiz, TrainingCurve
from cloze.widgets.sight import Sight
from cloze.widgets.widget import Widget
from tests.browser.conftest import Put
from tests.browser.hand import state_of
from tests.browser.jupyter import Notebook
from tests.browser.watch import low_contrasts

HALLS = {(1024, 768): 20, (1280, 800): 22, (1920, 1080): 30}
"""Screens, and the least size of type in pixels: a fortieth of the height."""
LINE = "she took her umbrella because it was raining"
LONG = "the children played all day in the old garden behind the houses"
HANDS = {"u": 12, "a": 9, "o": 5, "e": 3, "i": 2, "t": 1}
WORLD = "on monday the doctor studied the small red cell under the microscope again"


def looked(view: str) -> MaskExplorer:
    explorer = MaskExplorer(line=LINE, masked=() if view == "surprise" else [4, 13, 14])
    explorer.view = view
    return explorer


def room(*, revealed: bool) -> MaskExplorer:
    explorer = MaskExplorer(line=LINE, masked=[13])
    explorer.guess_first = True
    explorer.hands = {13: HANDS}
    explorer.revealed = revealed
    return explorer


def tally() -> Tally:
    entered = Tally()
    costs = {"room": 0.4, "left": 4.8, "right": 0.4, "both": 0.02}
    entered.paid = [{"line": LINE, "at": 13, "n_hands": 16, "costs": costs}]
    return entered


def words() -> MaskExplorer:
    readers = {str(side): shipped_model(f"world_{side}") for side in DIRECTIONS}
    explorer = MaskExplorer(readers, WORLD, [8])
    explorer.guess_first = True
    explorer.hands = {8: {"cell": 12, "bone": 3, "bird": 1}}
    return explorer


def unmasking() -> Unmasking:
    player = Unmasking("the ___ __ _______ sat on the ___ and ____")
    player.at = 1
    return player


def bet() -> ProbabilityBet:
    letters = "bchlnrt"
    widget = ProbabilityBet(letter_counts(Corpus.load(), "_ook"), "_ook", letters)
    widget.chips = dict.fromkeys(letters, 1)
    widget.revealed = True
    return widget


def drawn() -> MaskDraws:
    draws = MaskDraws(LINE)
    draws.draws, draws.counts = 10, {"M": 50, "R": 6, "K": 5}
    return draws


def quiz(name: str) -> Quiz:
    form = Quiz(name)
    form.answers = dict.fromkeys(range(1, len(form.questions) + 1), "b")
    return form


def curve() -> TrainingCurve:
    run = TrainingRun(MaskedLM(), Corpus.load())
    run.history = [
        Record(step, 64, 60.0, 3 * 0.998**step, 2.9 * 0.998**step if step % 100 == 0 else None)
        for step in range(1, 801)
    ]
    return TrainingCurve(run, {"uniform": 3.37, "unigram": 2.84, "both neighbours": 1.9})


def search() -> Search:
    vectors = {"raw": EncoderVectors(shipped_model().encoder)}
    return Search(Index(passages(Corpus.load().held_out), vectors), "the boat left the harbour")


GALLERY: dict[str, Callable[[], Widget]] = {
    "guesses": lambda: looked("guesses"),
    "two gaps": lambda: looked("pair"),
    "inside": Inside,
    "surprise": lambda: looked("surprise"),
    "a long line": lambda: MaskExplorer(line=LONG, masked=[13]),
    "hands": lambda: room(revealed=False),
    "room": lambda: room(revealed=True),
    "words": words,
    "tally": tally,
    "gap": Gap,
    "game": lambda: GuessingGame(seed=7),
    "bet": bet,
    "draws": drawn,
    "hiding": lambda: Hiding(LINE, rate=0.3, shape="words"),
    "sight": lambda: Sight("the red fox", 4),
    "quiz": lambda: quiz("the_real_ones"),
    "curve": curve,
    "spoiling": lambda: LineSpoiler(
        "Thank you for inviting me to your party last week. It was late."
    ),
    "unmasking": unmasking,
    "search": search,
}
SIZES = """root => [...root.querySelectorAll("*")].filter(each => !each.closest("svg")
    && [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .map(each => parseFloat(getComputedStyle(each).fontSize))"""
# Below: the parts that reach beyond the window (what may be wider scrolls within its own box); the
# controls that a finger would miss; the tables beside the button above them, and those that scroll.
WIDE = """root => [...root.querySelectorAll("*")].filter(each => !each.closest(".scroll *")
    && getComputedStyle(each).clipPath === "none"
    && each.getBoundingClientRect().right > innerWidth).map(each => each.outerHTML)"""
SMALL = """root => [...root.querySelectorAll(
        "button, select, input:not([type=radio]), label:has([type=radio])")]
    .filter(each => each.checkVisibility() && Math.min(each.offsetWidth, each.offsetHeight) < 24)
    .map(each => each.outerHTML)"""
BESIDE = """root => [...root.querySelectorAll(".scroll")]
    .filter(each => each.clientWidth < 0.9 * root.querySelector(".cloze").clientWidth)
    .map(each => each.outerHTML)"""
SCROLLING = """root => [...root.querySelectorAll(".scroll:not(:has(.sight, .line))")]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML)"""
SEEN = """([least, width]) => {
    const root = document.querySelector("#first .cloze-root"), shown = root.firstElementChild;
    const boxes = [shown, ...shown.querySelectorAll(".scroll, .letter, .track")];
    return innerWidth === width && shown.offsetHeight <= innerHeight
        && boxes.every(each => each.scrollWidth <= each.clientWidth + 1)
        && parseFloat(getComputedStyle(shown).fontSize) >= least; }"""


def show_in(hall: tuple[int, int], page: Page) -> None:
    page.set_viewport_size({"width": hall[0], "height": hall[1]})
    page.wait_for_function(SEEN, arg=[HALLS[hall], hall[0]])


@pytest.mark.parametrize("name", GALLERY)
def test_all_of_it_fits_400_pixels_and_is_seen_from_the_back_row(
    put: Put, page: Page, name: str
) -> None:
    widget = GALLERY[name]()
    shown = put(widget)
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 400, "height": 900})
    assert shown.evaluate(WIDE) == []
    assert shown.evaluate(SMALL) == []
    assert shown.evaluate(BESIDE) == []
    page.set_viewport_size({"width": 320, "height": 900})  # what JupyterLab leaves of 400
    assert shown.evaluate(SCROLLING) == []
    widget.present = True
    page.evaluate("state => fromPython(state)", state_of(widget))
    show_in((1024, 768), page)
    for light in ("true", "false"):
        page.evaluate("light => { document.body.dataset.jpThemeLight = light }", light)
        assert low_contrasts(page, "#first") == [], light


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_all_of_it_is_seen_in_larger_halls(put: Put, page: Page, name: str) -> None:
    put(GALLERY[name]().presented())
    for hall in HALLS:
        show_in(hall, page)


@pytest.mark.parametrize("name", ["surprise", "curve"])
def test_type_follows_jupyterlabs(put: Put, page: Page, name: str) -> None:
    shown = put(GALLERY[name]()).locator(".cloze")
    before = shown.evaluate(SIZES)
    page.evaluate("document.documentElement.style.setProperty('--jp-content-font-size1', '28px')")
    assert shown.evaluate(SIZES) == pytest.approx([2 * size for size in before], abs=0.01)


def size(widget: Locator) -> float:
    found: float = widget.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
    return found


def test_the_button_presents_where_a_page_may_not_fill_the_screen(put: Put, page: Page) -> None:
    shown = put(MaskDraws(LINE))
    page.evaluate("() => { Element.prototype.requestFullscreen = () => Promise.reject('no') }")
    before = size(shown.locator(".cloze"))
    button = shown.get_by_role("button", name="Present")
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_be_focused()
    assert size(shown.locator(".cloze")) > 1.2 * before
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert size(shown.locator(".cloze")) == before


def test_a_quiz_turns_its_pages_in_a_lecture_hall(put: Put) -> None:
    form = Quiz("the_loss")
    form.present = True
    shown = put(form)
    expect(shown.locator("legend")).to_have_count(1)
    circle = shown.get_by_role("radio").first.bounding_box()
    assert circle is not None
    assert circle["width"] > 0.7 * size(shown.locator(".present"))
    shown.get_by_role("button", name="Next").press("Enter")
    expect(shown.locator("legend")).to_contain_text("2. ")
    expect(shown.get_by_role("status")).to_contain_text("Question 2 of 5.")
    shown.get_by_role("radio").first.check()
    assert list(form.answers) == [2]
    for _ in range(3):
        shown.get_by_role("button", name="Next").click()
    expect(shown.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    shown.get_by_role("button", name="Present").click()
    expect(shown.locator("legend")).to_have_count(5)


def test_in_jupyterlab_it_fits_the_notebooks_panel_and_the_screen(lab: Notebook) -> None:
    lab.new(
        "from cloze.lessons.what_to_hide.widget import Hiding\n"
        f"hiding = Hiding({LINE!r}, rate=0.3, shape='words')\nhiding.present = True\nhiding"
    )
    lab.page.set_viewport_size({"width": 1280, "height": 800})
    lab.run(0)
    widget = lab.widget()
    expect(widget.locator("table")).to_be_visible()
    panel = lab.page.locator(".jp-WindowedPanel-outer:visible").first
    high = panel.evaluate("panel => panel.clientHeight")
    assert widget.evaluate("each => each.offsetHeight") <= high < 800
    in_place = size(widget)
    assert in_place >= 14
    button = widget.get_by_role("button", name="Present")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    for leave in (button.click, lambda: lab.page.evaluate("document.exitFullscreen()")):
        button.click()
        lab.page.wait_for_function(
            "least => { const each = document.fullscreenElement?.querySelector('.present');"
            " return each && each.offsetHeight <= innerHeight"
            " && parseFloat(getComputedStyle(each).fontSize) > least; }",
            arg=in_place,
        )
        leave()
        expect(button).to_have_attribute("aria-pressed", "false")
        lab.page.wait_for_function("document.fullscreenElement === null")
    assert lab.fresh("print(hiding.present)") == "False"
