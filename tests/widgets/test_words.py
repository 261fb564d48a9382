"""The explorer over words: a world of three sentences, whose truth is counted."""

import math
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from cloze.heads import MaskedLM
from cloze.prediction import Predictor, TruthPredictor, Words
from cloze.vocabulary import BEGIN, END, MASK, Vocabulary
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.state import VIEWS
from cloze.widgets.explorer.widget import Example
from cloze.world import GAPS_ONLY, World
from tests.markup import assert_usable, read

WORLD = World({"the cat sat": 1 / 3, "the dog sat": 1 / 3, "a cat ran": 1 / 3})


def truth() -> TruthPredictor:
    return TruthPredictor(WORLD, corruption=GAPS_ONLY)


EXAMPLES = {"who sat": Example("the dog sat", "dog"), "two words": Example("a cat ran", "cat ran")}


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(truth(), "the cat sat", examples=EXAMPLES)


def rows(explorer: MaskExplorer) -> list[list[str]]:
    table = read(explorer.html).select("table.chart")[0]
    return [[cell.get_text() for cell in row(["th", "td"])] for row in table("tr")]


def test_the_words_of_a_picture_stand_apart_where_no_style_does_it() -> None:
    picture = MaskExplorer({"truth": truth()}, "the cat sat", {1}).picture()
    (line,) = read(picture._repr_html_()).select('[role="img"]')
    assert line.get_text().split() == ["the", "?", "sat"]


def test_a_click_hides_a_word_and_the_truth_guesses(explorer: MaskExplorer) -> None:
    explorer.act("toggle", at=1)
    assert rows(explorer) == [
        [
            "word",
            f"truth costs {math.log(2):.2f} nats = 1.00 bits",
            f"without looking costs {math.log(4.5):.2f} nats = {math.log2(4.5):.2f} bits",
        ],
        ["cat✓", "0.50", "0.22"],
        ["dog", "0.50", "0.11"],
        ["4 others", "0.00", "0.67"],
    ]
    assert explorer.loss == pytest.approx(math.log(2))
    assert explorer.predictions["truth"].cost(1) == explorer.loss
    page = assert_usable(explorer.html)
    assert len(page.select(".words .line .word")) == len(page.select(".letter")) == 3
    assert "The line, 3 words." in str(page.select_one(".line"))
    text = page.get_text()
    assert "log|V|: all 10 symbols equally likely" in text
    assert "unigram: how frequent each word is in this world" in text


def test_what_an_answer_leans_on_follows_from_predictions_alone(explorer: MaskExplorer) -> None:
    explorer.masked = {1}  # cat or dog, whatever else is hidden
    assert "Truth: the answer does not depend on any single word" in explorer.html
    explorer.line, explorer.masked = "a cat ran", {0}  # but for ran it could be the
    assert f"Hiding one more costs, in nats: ran at 2 +{math.log(2):.2f}." in explorer.html
    explorer.line, explorer.masked = "a dog sat", {0}  # ruled out: only the answer's change counts
    assert explorer.loss == math.inf
    assert f"cat at 1 +{math.log(2):.2f}" not in explorer.html
    assert_usable(explorer.html)


class Misled:
    """Pays less for every gap more: whatever it reads misleads it, but by how much is set."""

    vocabulary = Vocabulary(("a", "cat", "dog", "sat", "the"), (MASK, BEGIN, END))

    def __init__(self, helps: Sequence[float]) -> None:
        self.helps = torch.tensor(helps)
        self.truth = self.vocabulary.encode(" ".join(MISLEADING[: len(helps)]))

    def logits_at(self, input_ids: Tensor, selected: Tensor) -> Tensor:
        rows, places = selected.nonzero(as_tuple=True)
        hidden = input_ids[:, 1:-1] == self.vocabulary.mask_id
        costs = (3.0 - (hidden * self.helps).sum(1))[rows]
        others = ((1 - (-costs).exp()) / 4).log()[:, None].repeat(1, len(self.vocabulary))
        return others.scatter(1, self.truth[places - 1, None], -costs[:, None])


MISLEADING = ["the", "cat", "sat", "a", "dog"]


@pytest.mark.parametrize(
    ("helps", "said"),
    [
        (
            (0.4, 0, 0.4),
            "does not depend on any single word; hiding one more even helps, in nats: "
            "the at 0 −0.40, sat at 2 −",
        ),
        (
            (0.01, 0, 0.01),
            "does not depend on any single word; hiding one more costs less than 0.05 nats.",
        ),
        (
            (-0.4, 0, -0.4),
            "depends on what is shaded. Hiding one more costs, in nats: the at 0 +0.40, "
            "sat at 2 +0.40",
        ),
        (
            (0.9, 0, 0.8, 0.7, -0.3),
            "depends on what is shaded. Hiding one more costs, in nats: the at 0 −0.90, "
            "sat at 2 −0.80, dog at 4 +0.30.",
        ),
    ],
)
def test_what_is_said_of_the_shades_is_what_is_seen(helps: Sequence[float], said: str) -> None:
    model = Misled(helps)
    misled = Predictor(model, Words(model.vocabulary), len(helps), "truth")
    explorer = MaskExplorer(misled, " ".join(MISLEADING[: len(helps)]), [1])
    assert f"Truth: the answer {said}" in explorer.html
    shaded = [str(each["style"]) for each in read(explorer.html).select(".letter.heat")]
    assert ("shaded" in said) == any(style != "--heat: 0%" for style in shaded)


def test_every_action_works_on_words(explorer: MaskExplorer) -> None:
    explorer.act("span", start=0, end=2)
    explorer.act("fill", at=0, symbol="a")
    assert explorer.loss == math.inf
    assert "∞ nats" in explorer.html
    assert "inf" not in explorer.html + repr(explorer)
    explorer.act("example", value="two words")
    assert (explorer.line, explorer.masked, explorer.focus) == ("a cat ran", {1, 2}, 1)
    explorer.act("line", text="the _ sat")
    assert (explorer.masked, explorer.loss) == ({1}, None)
    explorer.act("guess_first")
    (form,) = assert_usable(explorer.html).select('form[data-do="guess"]')
    assert [option["value"] for option in form("option")] == list(WORLD.vocabulary.ordinary)
    explorer.act("guess", at=1, key="dog")
    explorer.act("reveal")
    assert "Your guess: dog. The model gives it 0.50 truth." in explorer.html


def test_every_view_needs_predictions_alone(explorer: MaskExplorer) -> None:
    explorer.masked = {0, 1}
    explorer.view = "pair"
    apart, together = read(explorer.html).select("table.chart")
    found = [table.select_one("tr") for table in (apart, together)]
    assert [row.get_text() for row in found if row] == ["the cat0.50", "the cat0.50"]
    explorer.masked = {1, 2}
    explorer.line = "a cat ran"
    explorer.masked = {0, 2}
    assert "a ran" in read(explorer.html).select("table.chart")[1].get_text()
    explorer.masked = ()
    explorer.view = "surprise"
    assert "Most surprising: " in explorer.html
    explorer.view = "attention"
    assert "Truth: this model has no attention to show." in explorer.html
    for view in VIEWS:
        explorer.view = view
        assert_usable(explorer.html)


def test_only_what_reads_the_same_symbols_is_compared(explorer: MaskExplorer) -> None:
    model = MaskedLM()
    with pytest.raises(ValueError, match="reads the same symbols"):
        MaskExplorer({"truth": truth(), "both": model})
    explorer.model = {"one": truth(), "other": truth()}
    assert list(explorer.predictions) == ["one", "other"]
    explorer.model = model
    assert len(read(explorer.html).select(".letter")) == len(explorer.line) == 11
    explorer.line = "umbrella"
    with pytest.raises(ValueError, match="'umbrella' is not among the 6 words"):
        explorer.model = truth()
    assert explorer.line == "umbrella"
