"""The explorer over words: a world of three sentences, whose truth is counted."""

import pytest

from cloze.explorer import MaskExplorer
from cloze.explorer.widget import Example
from cloze.heads import MaskedLM
from cloze.prediction.predictors import TruthPredictor
from cloze.world import GAPS_ONLY, World

WORLD = World({"the cat sat": 1 / 3, "the dog sat": 1 / 3, "a cat ran": 1 / 3})


def truth() -> TruthPredictor:
    return TruthPredictor(WORLD, corruption=GAPS_ONLY)


EXAMPLES = {"who sat": Example("the dog sat", "dog"), "two words": Example("a cat ran", "cat ran")}


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(truth(), "the cat sat", examples=EXAMPLES)


def test_only_what_reads_the_same_symbols_is_compared(explorer: MaskExplorer) -> None:
    model = MaskedLM()
    with pytest.raises(ValueError, match="reads the same symbols"):
        MaskExplorer({"truth": truth(), "both": model})
    explorer.model = {"one": truth(), "other": truth()}
    assert list(explorer.predictions) == ["one", "other"]
    explorer.model = model
    assert len(explorer.truth) == len(explorer.line) == 11
    assert [each["name"] for each in explorer.examples] == ["who sat", "two words"]
    assert explorer.symbols["unit"] == "character"
    explorer.line = "umbrella"
    with pytest.raises(ValueError, match="'umbrella' is not among the 6 words"):
        explorer.model = truth()
    assert explorer.line == "umbrella"
