"""The explorer by hand: every action, what is shown of every answer, and that nothing breaks it."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page

from cloze.encoder import DIRECTIONS
from cloze.explorer import MaskExplorer
from cloze.explorer.widget import EXAMPLES, VIEWS
from cloze.prediction.answers import occlusion, top_k
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import GAP, VOCABULARY
from tests.browser.conftest import Take
from tests.browser.hand import Hand
from tests.markup import assert_usable, read
from tests.widgets.test_explorer import CORPUS, LINE, MODELS


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(MODELS, LINE, corpus=CORPUS)


def letters(driven: Hand) -> list[Any]:
    return read(driven.html).select("button.letter")


def said(driven: Hand) -> str:
    return read(driven.html).select_one('[role="status"]').get_text()  # type: ignore[union-attr]


# ── clicks ───────────────────────────────────────────────────────────────────────────────────────


def test_without_tools_there_is_the_line_and_what_is_guessed(hand: Take) -> None:
    bare = MaskExplorer(shipped_model(), "once upon a time", [12], tools=False)
    state = bare.alone()
    assert state is not None
    assert (state["readers"], state["tools"]) == (["both"], False)
    driven = hand(bare)
    page = assert_usable(driven.html)
    pressed = {str(each["data-do"]) for each in page.select("[data-do]")}
    assert pressed == {"toggle", "fill", "present"}
    driven.act("toggle", at=4)
    assert bare.masked == {4, 12}


def test_a_click_on_another_masked_position_looks_at_it_first(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={4, 5}, focus=4)
    driven.act("toggle", at="5")
    assert (explorer.masked, explorer.focus) == ({4, 5}, 5)
    driven.act("toggle", at="5")
    assert explorer.masked == {4}
    assert said(driven).startswith("Position 5 unmasked.")


def test_words_are_masked_one_after_another_from_the_focus(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(focus=5)
    seen = []
    for _ in range(4):
        before = explorer.masked
        driven.act("word")
        seen.append("".join(LINE[i] for i in sorted(explorer.masked - before)))
    assert seen == ["took", "her", "umbrella", "she"]
    driven.act("word")
    assert "Every word is masked" in driven.problem


def test_random_masks_are_drawn_afresh(hand: Take) -> None:
    explorer = MaskExplorer(shipped_model(), "a" * 64)
    driven = hand(explorer)
    draws = []
    for _ in range(12):
        driven.act("random")
        draws.append(explorer.masked)
    assert all(draws)
    assert len(set(draws)) > 10
    assert sum(map(len, draws)) / (12 * 64) == pytest.approx(0.15, abs=0.07)


def test_a_typed_line_is_normalised_and_cut_and_says_what_it_lost(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={1})
    driven.act("line", text="Été <b>& co</b>, _es! 😀")
    assert explorer.line == "ete b co b _es"
    assert explorer.masked == {explorer.line.index(GAP)}
    assert "2 accents folded" in said(driven)
    assert "characters dropped" in said(driven)
    driven.act("line", text="ab " * 30)
    assert driven.problem == ""
    assert explorer.line == ("ab " * 30)[:64]
    assert said(driven) == "Your line has 89 characters; these are the first 64."


def test_a_line_that_cannot_be_read_changes_nothing(driven: Hand, explorer: MaskExplorer) -> None:
    driven.tell(masked={1})
    driven.act("line", text="!?")
    assert (explorer.line, explorer.masked) == (LINE, {1})
    alert = read(driven.html).select_one('[role="alert"]')
    assert alert is not None
    assert alert.get_text() == driven.problem != ""


def test_every_example_can_be_taken(driven: Hand, explorer: MaskExplorer) -> None:
    offered = read(driven.html).select('select[data-do="example"] option')
    assert [str(each["value"]) for each in offered] == ["", *EXAMPLES]
    for name, example in EXAMPLES.items():
        driven.act("example", value=name)
        assert explorer.line == example.line
        assert "".join(explorer.line[i] for i in sorted(explorer.masked)) == example.masked
        assert said(driven).startswith(f"Example: {name}.")


# ── when the answer comes ────────────────────────────────────────────────────────────────────────

# Python answers when it is let; until then it is busy.
BUSY = """() => {
  const { ask } = widget.model;
  window.asked = [];
  widget.model.ask = (what, sent) =>
    new Promise((done) => asked.push([what, sent, () => ask(what, sent).then(done)]));
}"""
LET = "n => { const [, , go] = asked[n]; go(); }"


def test_a_click_masks_at_once_and_only_the_newest_question_is_answered(
    driven: Hand, page: Page
) -> None:
    driven.act("toggle", at="4")
    before = read(driven.html).select_one(".panel")
    assert before is not None
    page.evaluate(BUSY)
    for at in ("7", "8", "9"):  # without waiting for an answer
        page.evaluate("at => void widget.act('toggle', { at })", at)
    page.wait_for_function("widget.html.includes('position 9, masked')")
    busy = read(driven.html)
    assert [b["data-with-at"] for b in busy.select('.letter[aria-pressed="true"]')] == list("4789")
    panel = busy.select_one('.panel[aria-busy="true"]')
    assert panel is not None
    assert panel.get_text() == before.get_text(), "the last answer, visibly waiting"
    page.evaluate(LET, 0)
    page.wait_for_function("asked.length === 2")
    what, sent, _ = page.evaluate("asked.map(([what, sent]) => [what, sent, 0])")[1]
    assert (what, sent["masked"]) == ("guesses", [4, 7, 8, 9])
    assert "aria-busy" in driven.html, "an answer to an outdated state is not shown"
    page.evaluate(LET, 1)
    page.wait_for_function("!widget.html.includes('aria-busy')")
    assert "What is at position 9?" in driven.html
    page.wait_for_function("asked.length === 3")
    page.evaluate(LET, 2)
    page.wait_for_function("widget.html.includes('masking one more')")


def test_a_model_that_fails_says_so_until_it_answers_again(
    driven: Hand, explorer: MaskExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("my layer is broken")

    with monkeypatch.context() as patch:
        patch.setattr(MODELS["both"], "logits_at", broken)
        driven.act("toggle", at="4")
        assert driven.problem == "RuntimeError: my layer is broken"
        assert letters(driven)[4]["aria-pressed"] == "true"
        assert "aria-busy" not in driven.html
        explorer.view = "inside"  # what only looks does not fail
    explorer.update()
    driven.tell()
    assert driven.problem == ""
    assert "Heads" in driven.html


# ── what is shown ────────────────────────────────────────────────────────────────────────────────


def chart(driven: Hand) -> tuple[list[str], dict[str, list[str]]]:
    """Return the headings of the picture, and by its candidate what each row says."""
    table = assert_usable(driven.html).select_one("table.chart")
    assert table is not None
    heads, *rows = ([cell.get_text() for cell in row(["th", "td"])] for row in table("tr"))
    names = [row.select_one("th").get_text() for row in table.select("tbody tr")]  # type: ignore[union-attr]
    return heads, dict(zip(names, rows, strict=True))


def test_left_grows_to_the_left_right_to_the_right_and_the_others_stand_beside(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={0, 4}, focus=4)
    heads, rows = chart(driven)
    costs = [explorer.predictions[direction].known_costs[1] for direction in DIRECTIONS]
    titles = [
        "from the left, sees only what is before the gap, ",
        "from the right, sees only what is after the gap, ",
        "from both sides",
    ]
    expected = [f"{title} costs {cost:.2f} nats" for title, cost in zip(titles, costs, strict=True)]
    assert heads == [expected[0], "character", *expected[1:]]
    *candidates, others = rows
    places = [VOCABULARY.ids[{"␣": " ", "↵": "\n"}.get(sign, sign[0])] for sign in candidates]
    both = explorer.predictions["both"][4][places].tolist()
    assert both == sorted(both, reverse=True), "in the order of the last reader"
    assert {top_k(explorer.predictions[d][4], 1)[0].character for d in DIRECTIONS} <= {
        VOCABULARY.symbols[i] for i in places
    }
    for sign, i in zip(candidates, places, strict=True):
        numbers = [f"{explorer.predictions[d][4][i].item():.2f}" for d in DIRECTIONS]
        assert rows[sign][:4] == [numbers[0], sign, *numbers[1:]]
    assert others == f"{28 - len(candidates)} others"
    page = read(driven.html)
    [row] = page.select("tr.truth")
    assert row["data-key"] == "t"
    assert [tick.get_text() for tick in page.select(".tick")] == ["✓"]
    told = [str(each["aria-label"]) for each in page.select(".candidate")]
    assert [each for each in told if "truth" in each] == ["fill position 4 with t, the truth"]


def test_on_the_line_is_seen_what_the_answer_leans_on(hand: Take) -> None:
    explorer = MaskExplorer(line="she asked a question", masked=[12])
    driven = hand(explorer)
    costs = occlusion(shipped_model(), VOCABULARY.encode(explorer.line), [12], 12)
    shaded = {b["data-with-at"]: b for b in letters(driven) if "occlusion" in b["class"]}
    assert len(shaded) == 19
    darkest = max(shaded.values(), key=lambda b: int(b["style"].split()[1].rstrip("%")))
    assert darkest["data-with-at"] == "13"
    assert f"if masked: +{costs[13]:.2f} nats" in darkest["aria-label"]
    assert f"masking one more character costs, in nats: u at 13 +{costs[13]:.2f}" in driven.html
    driven.act("toggle", at="2")
    driven.act("focus", at="0")
    assert "occlusion" not in driven.html
    driven.tell(line="umb_ella")
    assert "masking one more character changes the answer by, in nats: " in driven.html


def test_the_loss_is_the_formula_with_its_numbers(driven: Hand, explorer: MaskExplorer) -> None:
    driven.tell(masked={0, 4})
    costs = explorer.predictions["both"].known_costs
    text = read(driven.html).get_text()
    logs = " + ".join(f"log {math.exp(-cost):.2f}" for cost in costs)
    assert f"L = −Σ log P(x_i | x̃) = −({logs}) = {costs[0]:.2f} + {costs[1]:.2f}" in text
    assert f"Loss {explorer.loss:.2f} nats per gap, 2 gaps." in said(driven)
    assert f"{2 * math.log(29):.2f}" in text
    assert "unigram" in text


def test_whose_frequencies_are_shown_is_said(hand: Take) -> None:
    assert "how frequent each character is in the shipped corpus" in hand(MaskExplorer()).html
    assert "unigram" not in hand(MaskExplorer(MODELS, LINE, {4})).html
    driven = hand(MaskExplorer(MODELS, LINE, {13}, corpus=CORPUS))  # which has no such letter
    assert "how frequent each character is in your corpus" in driven.html
    [row] = [each for each in read(driven.html).select(".costs tr") if "unigram" in f"{each}"]
    assert [cell.get_text() for cell in row.select("td")] == ["∞"] * 2


def test_truth_and_guesses_stay_back_until_they_are_revealed(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={13, 14}, focus=13)
    driven.act("guess_first")
    for view in VIEWS:
        driven.tell(view=view)
        page = read(driven.html)
        assert page.select("table") == []
        assert letters(driven)[13]["aria-label"].startswith("position 13, masked")
        assert "truth" not in " ".join(button["aria-label"] for button in letters(driven))
        assert "Loss" not in said(driven)
        assert "nats" not in page.get_text()
        assert not re.search(r"\d\.\d\d", page.get_text()), view
    driven.act("toggle", at="13")
    assert "stays masked until you reveal" in said(driven)
    driven.act("unmask")
    assert "reveal, then unmask" in driven.problem
    assert explorer.masked == {13, 14}
    driven.act("view", view="guesses")
    driven.act("guess", at="13", key="U")
    assert "you guess u" in letters(driven)[13]["aria-label"]
    driven.act("reveal")
    text = read(driven.html).get_text()
    assert "✓" in text
    assert "You: u 1. One extra hand" in text
    driven.act("toggle", at="3")
    assert explorer.revealed is False


def test_one_person_guesses_once_for_each_line(hand: Take) -> None:
    explorer = MaskExplorer(guess_first="once")
    driven = hand(explorer)
    [at] = explorer.masked
    assert "truth" not in " ".join(button["aria-label"] for button in letters(driven))
    assert not read(driven.html).select("table, .stakes")
    for key in "eI":  # the second takes the place of the first
        driven.act("guess", at=f"{at}", key=key)
    assert explorer.hands == {at: {"i": 1}}
    driven.act("reveal")
    page = read(driven.html)
    assert "You guessed i, and it is right. From both sides: i 0.99" in page.get_text()
    [gap] = page.select(".letter.told > span")
    assert (gap.get_text(), page.get_text().count("it is right")) == ("i", 1)
    assert "is its surprise, −log of the probability" in page.get_text()
    assert not page.select("[data-do=reveal], .chart .room")
    assert explorer.paid == []
    driven.act("toggle", at="0")
    assert read(driven.html).select("table.chart"), "the line is revealed"
    driven.act("example", value="only the left side knows")
    assert not read(driven.html).select("table")
    driven.act("guess", at=f"{explorer.focus}", key="q")
    driven.act("reveal")
    assert "You guessed q, and it is wrong." in driven.html
    [own] = [row for row in read(driven.html).select(".chart tr") if row.select(".mine")]
    assert own["data-key"] == "q", "one's own guess is marked"
    driven.act("example", value="a typo")  # nothing is hidden in it
    assert not read(driven.html).select("[data-do=reveal]")
    driven.act("line", text="my own words")
    driven.act("toggle", at="0")
    assert read(driven.html).select("table.chart"), "who has typed it knows it"


def test_a_head_says_what_its_reader_sees_and_the_line_shows_it(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={4})
    seen = [
        "left" if "seen-left" in b["class"] else "right"
        for b in letters(driven)
        if "seen-" in f"{b['class']}"
    ]
    assert seen == ["left"] * 4 + ["right"] * (len(explorer.line) - 5)
    [left, right] = [each.get_text() for each in read(driven.html).select("thead b[tabindex]")]
    assert left == "from the left, sees only what is before the gap, "
    assert right == "from the right, sees only what is after the gap, "


def test_a_gap_without_a_truth_has_guesses_and_no_cost(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.act("line", text="umbr_lla")
    assert explorer.loss is None
    page = assert_usable(driven.html)
    assert page.select("table.chart")
    assert not page.select(".truth")
    assert "L =" not in page.get_text()
    driven.act("toggle", at="4")
    assert "does not say what belongs at 4" in driven.problem


def test_two_gaps_are_guessed_apart_and_together(driven: Hand, explorer: MaskExplorer) -> None:
    driven.tell(masked={14}, view="pair")
    offered = read(driven.html).select_one('.panel button[data-do="toggle"]')
    assert offered is not None
    driven.act("toggle", at=str(offered["data-with-at"]))
    assert explorer.masked == {14, 15}
    page = assert_usable(driven.html)
    assert "Positions 14 and 15." in page.get_text()
    apart, together = page.select("table.chart")
    answer = explorer.predictions["both"]
    best = (answer[14].max() * answer[15].max()).item()
    first = apart.select_one("tbody tr td")
    assert first is not None
    assert first.get_text() == f"{best:.2f}"
    assert together.get_text() != apart.get_text()


def test_surprise_shows_what_each_character_costs_alone(hand: Take) -> None:
    explorer = MaskExplorer(line="the children plaied in the garden")
    driven = hand(explorer)
    driven.act("view", view="surprise")
    costs = [float(b["aria-label"].split(", ")[-1].removesuffix(" nats")) for b in letters(driven)]
    assert costs.index(max(costs)) == explorer.line.index("ied")
    page = read(driven.html)
    assert "Most surprising: i at 16" in page.get_text()
    bars = [float(str(bar["style"]).split()[1]) for bar in page.select(".letter.grown i")]
    assert bars.index(max(bars)) == 16


# ── nothing breaks it ────────────────────────────────────────────────────────────────────────────


def assert_consistent(explorer: MaskExplorer, page: BeautifulSoup) -> None:
    """Check everything that holds in every state."""
    buttons = page.select("button.letter")
    assert len(buttons) == len(explorer.line)
    pressed = {i for i, b in enumerate(buttons) if b["aria-pressed"] == "true"}
    assert pressed == explorer.masked
    gaps = {i for i, character in enumerate(explorer.line) if character == GAP}
    assert gaps <= explorer.masked
    assert set(explorer.filled) <= explorer.masked
    assert set(explorer.hands) <= explorer.masked
    assert all(n > 0 for raised in explorer.hands.values() for n in raised.values())
    assert buttons[explorer.focus]["tabindex"] == "0"
    open_ = explorer.masked - set(explorer.filled)
    assert set(explorer.predictions.positions) == open_
    assert (explorer.loss is None) == (not open_ - gaps)
    if explorer.guess_first and not explorer.revealed:
        assert not any("truth" in buttons[at]["aria-label"] for at in explorer.masked)
    assert not page.select("[aria-busy]")
    assert len(repr(explorer)) < 110


TEXTS = ["the old man", "a_b [mask]ing _ _", "e" * 65, "", "naïve <img src=x>&", "שלום 😀"]


def test_whatever_is_done_one_after_the_other_python_and_the_browser_agree(
    driven: Hand, explorer: MaskExplorer
) -> None:
    chance = random.Random(0)
    done: Counter[str] = Counter()
    for _ in range(60):
        page = assert_usable(driven.html)
        assert_consistent(explorer, page)
        controls = page.select("[data-do]:not([aria-disabled])")
        # Of what has been done least, any.
        least = min(done[str(each["data-do"])] for each in controls)
        control = chance.choice([each for each in controls if done[str(each["data-do"])] == least])
        along: dict[str, object] = {
            key.removeprefix("data-with-"): value
            for key, value in control.attrs.items()
            if key.startswith("data-with-")
        }
        do = str(control["data-do"])
        if do == "line":
            along["text"] = chance.choice(TEXTS)
        elif control.name == "input":
            along["value"] = chance.choice(["", "3", "0", "10001", "x"])
        elif control.name == "select":
            along["value"] = chance.choice(control("option"))["value"]
        driven.act(do, **along)
        done[do] += 1
        if chance.random() < 0.2:
            positions = range(len(explorer.line))
            driven.tell(masked=chance.sample(positions, min(3, len(positions))))
    assert len(done) > 9, done
