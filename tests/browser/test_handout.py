"""The handouts as Chromium prints them: two pages on either paper, with nothing cut off."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader

from lecture import handout
from tests.browser.watch import low_contrasts

MILLIMETRE = 96 / 25.4  # in CSS pixels
INSIDE = {"A4": 210 - 22, "Letter": 215.9 - 22}  # the width between the margins
POINTS = {"A4": (595, 842), "Letter": (612, 792)}
EXERCISES = {60: 9, 90: 10}

each = pytest.mark.parametrize(
    ("minutes", "paper"),
    [
        pytest.param(*one, marks=[] if one == (90, "A4") else [pytest.mark.slow])
        for one in product(handout.LECTURES, handout.PAPERS)
    ],
)


@pytest.fixture(scope="module")
def computed() -> dict[str, Any]:
    return handout.contents()


@each
def test_it_is_two_pages_of_its_paper_with_nothing_cut_off_and_room_to_write(
    minutes: int, paper: str, computed: dict[str, Any], page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "handout.pdf"
    handout.printed(page, handout.page(minutes, paper, computed), path)
    sheets = PdfReader(path).pages
    assert len(sheets) == 2
    for sheet in sheets:
        assert (round(sheet.mediabox.width), round(sheet.mediabox.height)) == POINTS[paper]
        assert not list(sheet.images), "a figure was printed as pixels"
    text = " ".join(" ".join(sheet.extract_text() for sheet in sheets).split())
    assert f"{minutes} minutes on masked language modeling" in text
    for number in range(1, EXERCISES[minutes] + 1):
        assert f"{number} · " in text
    assert "run.py lab" in text
    page.set_viewport_size({"width": int(INSIDE[paper] * MILLIMETRE), "height": 2000})
    page.emulate_media(media="print")
    beyond = page.evaluate("""() => [...document.querySelectorAll("section")].flatMap(section => {
        const {right, bottom} = section.getBoundingClientRect();
        return [...section.querySelectorAll("*")].filter(part => {
            const box = part.getBoundingClientRect();
            return box.right > right + 1 || box.bottom > bottom + 1;
        }).map(part => part.outerHTML.slice(0, 80));
    })""")
    assert beyond == []
    heights = page.evaluate(
        "[...document.querySelectorAll('.room i')].map(line => line.clientHeight)"
    )
    assert len(heights) >= 13
    assert min(heights) >= 5.5 * MILLIMETRE
    figures = page.locator("img")
    assert figures.count() == 5
    for i in range(5):
        assert len(figures.nth(i).get_attribute("alt") or "") > 40
        box = figures.nth(i).bounding_box()
        assert box
        assert box["width"] > 100 * MILLIMETRE
    assert low_contrasts(page.locator("body")) == []


def test_the_answers_are_those_of_the_models(computed: dict[str, Any]) -> None:
    for minutes in handout.LECTURES:
        text = re.sub(r"<[^>]+>", "", handout.page(minutes, "A4", computed))
        answers = " ".join(text[text.index("Answers.") :].split())
        assert f"L = log 2 + log 4 = {math.log(8):.2f} nats = 3 bits" in answers
        assert "1/100 costs 4.61 nats = 6.64 bits" in answers
        assert "6: 0.33; 0.64 nats" in answers  # H(1/3) = 0.6365
        assert ("81% masks, 10% random, 9% kept" in answers) == (minutes == 90)
        assert "28² = 784 and 28⁵ = 17 210 368" in answers
    for bet in computed["bets"]:
        bits = bet["bits"]
        assert bits["both"] < 1 or bet["line"] == "we had ▢un at the party"
    asked, ended, both, nobody = (bet["bits"] for bet in computed["bets"])
    assert asked["left"] > 1 > asked["right"]
    assert ended["right"] > 1 > ended["left"]
    assert min(both["left"], both["right"]) > 1 > both["both"]
    assert nobody["both"] > 1
    assert 2.5 < computed["own_position"] < 2.7
    assert set(filter(None, computed["fates"])) == set("MRK")
    strip = zip(computed["strip"], computed["fates"], computed["labels"], strict=True)
    for shown, fate, label in strip:
        masked, kept = shown == "▒", shown == label
        assert fate == ("" if not label else "M" if masked else "K" if kept else "R")
    costs, shares = computed["costs"], computed["shares"]
    assert math.isclose(sum(shares.values()), 1)
    for one, other in zip(costs, [*costs][1:], strict=False):
        assert math.isclose(shares[one] / shares[other], math.exp(costs[other] - costs[one]))
    first, at_once = computed["unmasked"].values()
    assert (first[-1], at_once[-1]) == ("we walked home in the rain", "we walked hole in the rain")
    prices = list(computed["harder"].values())
    assert prices == sorted(prices)


@pytest.mark.slow
def test_the_command_prints_all_and_refuses_in_a_sentence(
    browser: Browser,
    computed: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @contextmanager
    def shared(_: str) -> Iterator[Browser]:
        yield browser

    monkeypatch.setattr(handout, "browsing", shared)
    monkeypatch.setattr(handout, "contents", lambda: computed)
    assert handout.main([str(tmp_path / "new")]) == 0
    names = [f"{m}_minutes_{paper}.pdf" for m in handout.LECTURES for paper in handout.PAPERS]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "new" / name) for name in names]
    monkeypatch.setattr(handout, "chromium", lambda: None)
    assert handout.main([]) == 1
    assert capsys.readouterr().out.startswith("There is no Chromium")
