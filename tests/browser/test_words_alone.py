"""The explorer with words of a small world and the truth beside the models, without Jupyter."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from cloze.encoder import DIRECTIONS
from cloze.explorer import MaskExplorer
from cloze.heads import MaskedLM
from cloze.prediction.predictors import Predictor, TruthPredictor
from cloze.prediction.shipped import shipped_model
from cloze.world import World
from tests.browser.conftest import Put
from tests.browser.test_view_alone import letter

LINE = "on monday the doctor studied the small red cell under the microscope again"


@pytest.fixture
def explorer() -> MaskExplorer:
    readers: dict[str, MaskedLM | Predictor] = {"truth": TruthPredictor(World.load())}
    readers |= {side: shipped_model(f"world_{side}") for side in DIRECTIONS}
    return MaskExplorer(readers, LINE, [8])


def test_the_truth_stands_beside_the_models(put: Put, explorer: MaskExplorer) -> None:
    widget = put(explorer)
    widget.get_by_text("The whole line, 1 gap").click()
    for name in ("truth", "from the left", "from the right", "from both sides"):
        expect(widget.get_by_role("rowheader", name=name, exact=True).last).to_be_attached()
    expect(widget).to_contain_text("bone")  # what the left side has in mind as well
    letter(widget, 11).click()
    expect(widget.locator('.letter[aria-pressed="true"]')).to_have_count(2)
    assert explorer.masked == {8, 11}


def test_a_line_that_is_not_of_this_world_is_refused_in_a_sentence(
    put: Put, explorer: MaskExplorer
) -> None:
    widget = put(explorer)
    field = widget.get_by_label("Your line")
    for typed, said in (
        ("the dokter studied the cell", "'dokter' is not among the 140 words"),
        ("the " * 20, "has 20 words, and no sentence of this world has more than 15"),
        ("the _", "Nothing that is said in this world can have become"),
    ):
        field.fill(typed)
        field.press("Enter")
        expect(widget.get_by_role("alert").filter(has_text=said)).to_be_visible()
    assert explorer.line == LINE
