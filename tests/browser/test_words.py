"""The explorer over words by hand: a world of three sentences, whose truth is counted."""

from __future__ import annotations

import math

import pytest

from cloze.explorer import Example, MaskExplorer
from cloze.explorer.widget import VIEWS
from cloze.heads import MaskedLM
from cloze.prediction.predictors import TruthPredictor
from cloze.world import GAPS_ONLY, World
from tests.browser.hand import Hand
from tests.markup import assert_usable, read

WORLD = World({"the cat sat": 1 / 3, "the dog sat": 1 / 3, "a cat ran": 1 / 3})


def truth() -> TruthPredictor:
    return TruthPredictor(WORLD, corruption=GAPS_ONLY)


EXAMPLES = {"who sat": Example("the dog sat", "dog"), "two words": Example("a cat ran", "cat ran")}


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(truth(), "the cat sat", examples=EXAMPLES)


def rows(driven: Hand) -> list[list[str]]:
    table = read(driven.html).select("table.chart")[0]
    return [[cell.get_text() for cell in row(["th", "td"])] for row in table("tr")]


def test_a_click_hides_a_word_and_the_truth_guesses(driven: Hand, explorer: MaskExplorer) -> None:
    driven.act("toggle", at="1")
    assert rows(driven) == [
        [
            "word",
            f"truth costs {math.log(2):.2f} nats",
        ],
        ["cat✓", "0.50"],
        ["dog", "0.50"],
        ["4 others", "0.00"],
    ]
    assert explorer.loss == pytest.approx(math.log(2))
    assert explorer.predictions["truth"].cost(1) == explorer.loss
    page = assert_usable(driven.html)
    assert len(page.select(".words .line .word")) == len(page.select(".letter")) == 3
    assert "The line, 3 words." in str(page.select_one(".line"))
    text = page.get_text()
    assert "log|V|: all 10 symbols equally likely" in text
    assert "unigram: how frequent each word is in this world" in text


def test_what_an_answer_leans_on_follows_from_predictions_alone(
    driven: Hand, explorer: MaskExplorer
) -> None:
    driven.tell(masked={1})  # cat or dog, whatever else is hidden
    assert "Truth: masking one more word changes next to nothing." in driven.html
    driven.tell(line="a cat ran", masked={0})  # but for ran it could be the
    assert f"masking one more word costs, in nats: ran at 2 +{math.log(2):.2f}." in driven.html
    driven.tell(line="a dog sat", masked={0})  # ruled out: only the answer's change counts
    assert explorer.loss == math.inf
    assert f"cat at 1 +{math.log(2):.2f}" not in driven.html
    assert_usable(driven.html)


def test_every_action_works_on_words(driven: Hand, explorer: MaskExplorer) -> None:
    driven.act("span", start="0", end="2")
    driven.act("fill", at="0", symbol="a")
    assert explorer.loss == math.inf
    assert "∞ nats" in driven.html
    assert "inf" not in driven.html + repr(explorer)
    driven.act("example", value="two words")
    assert (explorer.line, explorer.masked, explorer.focus) == ("a cat ran", {1, 2}, 1)
    driven.act("line", text="the _ sat")
    assert repr(explorer) == "MaskExplorer('the _ sat', 1 masked)"
    driven.act("guess_first")
    (form,) = assert_usable(driven.html).select('form[data-do="guess"]')
    assert [option["value"] for option in form("option")] == list(WORLD.vocabulary.ordinary)
    driven.act("guess", at="1", key="dog")
    driven.act("reveal")
    assert "You: dog 1. One extra hand" in driven.html


def test_every_view_needs_predictions_alone(driven: Hand) -> None:
    driven.tell(masked={0, 1}, view="pair")
    apart, together = read(driven.html).select("table.chart")
    found = [table.select_one("tr") for table in (apart, together)]
    assert [row.get_text() for row in found if row] == ["the cat0.50", "the cat0.50"]
    driven.tell(line="a cat ran", masked={0, 2})
    assert "a ran" in read(driven.html).select("table.chart")[1].get_text()
    driven.tell(masked=(), view="surprise")
    assert "Most surprising: " in driven.html
    driven.tell(masked={1}, view="inside")
    assert "Truth: this model has no inside that can be shown." in driven.html
    for view in VIEWS:
        driven.tell(view=view)
        assert_usable(driven.html)


def test_only_what_reads_the_same_symbols_is_compared() -> None:
    with pytest.raises(ValueError, match="reads the same symbols"):
        MaskExplorer({"truth": truth(), "both": MaskedLM()})
    two = MaskExplorer({"one": truth(), "other": truth()}, "the cat sat", examples=EXAMPLES)
    assert list(two.predictions) == ["one", "other"]
    letters = MaskExplorer(MaskedLM(), examples=EXAMPLES | {"long": Example("the cat " * 9, "")})
    assert [each["name"] for each in letters.examples] == ["who sat", "two words"]
