"""The handout as a browser prints it: two pages on A4 and Letter, with nothing cut off."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from cloze.lessons.one_side_or_both.checks import posterior
from cloze.lessons.writing_with_gaps.unmasking import frames
from cloze.loss import to_bits
from cloze.masking import mask_tokens, seeded
from cloze.prediction.causal import text_costs
from cloze.prediction.predictors import compare
from cloze.prediction.shipped import shipped_model
from cloze.vocabulary import VOCABULARY, visible
from lecture import handout

BEYOND = """() => [...document.querySelectorAll("section")].flatMap(section => {
    const {right, bottom} = section.getBoundingClientRect();
    return [...section.querySelectorAll("*")].filter(part => {
        const box = part.getBoundingClientRect();
        return box.right > right + 1 || box.bottom > bottom + 1;
    }).map(part => part.outerHTML.slice(0, 80));
})"""
HANDOUT = handout.page()
TEXT = re.sub(r"<[^>]+>", "", HANDOUT)
ANSWERS = " ".join(TEXT[TEXT.index("Answers.") :].split())


@pytest.fixture
def opened(page: Page) -> Page:
    page.set_content(HANDOUT)
    page.emulate_media(media="print")
    return page


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_is_two_pages(opened: Page, paper: str, tmp_path: Path) -> None:
    opened.pdf(path=tmp_path / "handout.pdf", format=paper)
    sheets = PdfReader(tmp_path / "handout.pdf").pages
    assert len(sheets) == 2
    text = " ".join(" ".join(sheet.extract_text() for sheet in sheets).split())
    assert all(f"{number} · " in text for number in range(1, 11))
    assert not [*sheets[0].images, *sheets[1].images], "a figure was printed as pixels"


def test_nothing_is_cut_off_and_there_is_room_to_write(opened: Page) -> None:
    assert opened.evaluate(BEYOND) == []
    heights = opened.locator(".room i").evaluate_all("all => all.map(each => each.clientHeight)")
    assert min(heights) >= 20  # CSS pixels, 5.3 mm
    widths = opened.locator("img").evaluate_all("all => all.map(each => each.clientWidth)")
    assert len(widths) == 5
    assert min(widths) > 380


def test_its_numbers_are_those_of_the_models() -> None:
    bets = re.findall(r"^(.*▢.*)$", re.sub(r"</?t[dr]>", "\n", HANDOUT), re.M)[1:]
    for line, answer in zip(bets, re.findall(r"(\w) \((left.+?)\)", ANSWERS), strict=True):
        at = line.index("▢")
        answers = compare(line.replace("▢", answer[0]), {at})
        bits = [f"{side} {to_bits(each.costs.item()):.1f}" for side, each in answers.items()]
        assert answer[1] == f"{', '.join(bits)} bits"
    costs = {letter: text_costs(f"the c{letter}t sat on the mat").sum().item() for letter in "aou"}
    assert all(f">{cost:.1f}<" in HANDOUT for cost in costs.values())
    shares = [f"{letter} {share:.3f}" for letter, share in posterior(costs).items()]
    assert f"7: {', '.join(shares)};" in ANSWERS
    for policy in ("easiest first", "all at once"):
        *_, last = frames(shipped_model(), "we w__k__ ho__ in the rain", policy, 0)
        assert "".join(last.line) in TEXT
    masked = mask_tokens(
        VOCABULARY.encode("rain fell on the old umbrella all day"), generator=seeded(58)
    )
    reads = "".join(f"<td>{visible(VOCABULARY.symbols[i])}</td>" for i in masked.inputs.tolist())
    assert reads in HANDOUT.replace(' class="asked"', "")
