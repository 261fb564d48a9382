"""The explorer in Python: what is read, set and kept, without a browser."""

import json
import math
from typing import Any

import pytest
import torch

from cloze.baselines import letter_frequencies
from cloze.corpus import Corpus, Piece
from cloze.encoder import DIRECTIONS, Direction, EncoderConfig
from cloze.explorer import MaskExplorer
from cloze.explorer.widget import EXAMPLES, Example
from cloze.heads import MaskedLM
from cloze.prediction.answers import top_k
from cloze.prediction.predictors import listed
from cloze.vocabulary import VOCABULARY
from tests.markup import read

LINE = "she took her umbrella"


def small(direction: Direction = "both", max_len: int = 64) -> MaskedLM:
    torch.manual_seed(0)
    config = EncoderConfig(
        d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=max_len, direction=direction
    )
    return MaskedLM(config).eval()


CORPUS = Corpus((Piece("a", "to took the other thing " * 9),), (Piece("b", "took"),))
MODELS: dict[str, MaskedLM] = {direction: small(direction) for direction in DIRECTIONS}


@pytest.fixture
def explorer() -> MaskExplorer:
    return MaskExplorer(MODELS, LINE, corpus=CORPUS)


def question(explorer: MaskExplorer) -> dict[str, Any]:
    """Return what the browser asks about what is seen."""
    names = ("truth", "masked", "filled", "hands", "focus")
    state = json.loads(json.dumps(explorer.get_state(names)))
    return {name: state[name] for name in names}


def test_the_default_line_opens_with_a_gap_and_no_other_line_does() -> None:
    explorer = MaskExplorer(MODELS)
    line, part = next(iter(EXAMPLES.values()))
    assert (explorer.line, explorer.masked) == (line, {line.index(part)})
    assert explorer.focus == line.index(part)
    assert MaskExplorer(MODELS, masked=()).masked == frozenset()
    assert MaskExplorer(MODELS, masked={2}).masked == {2}
    assert MaskExplorer(MODELS, line).masked == frozenset()
    own = {"mine": Example("a line", ""), "yours": Example("another", "n")}
    assert MaskExplorer(MODELS, examples=own).masked == frozenset()


def test_a_line_takes_its_masks_with_it(explorer: MaskExplorer) -> None:
    explorer.masked, explorer.filled = {4, 5}, {5: "q"}
    explorer.hands = {4: {"t": 2}}
    assert explorer.focus == 4
    explorer.line = "Été, um_rella!"
    assert explorer.line == "ete um_rella"
    assert (explorer.masked, explorer.filled, explorer.hands) == ({6}, {}, {})
    assert (explorer.focus, explorer.truth) == (6, list("ete um_rella"))
    assert explorer.words == [[0, 3], [4, 12]]
    assert explorer.loss is None
    explorer.masked = frozenset()
    assert explorer.masked == {6}, "its truth is not known"


def test_a_cell_that_masks_begins_afresh(explorer: MaskExplorer) -> None:
    explorer.masked = {1, 2, 4}
    explorer.filled, explorer.hands = {4: "x"}, {1: {"h": 3}, 2: {"e": 1}}
    explorer.focus = 2
    explorer.guess_first = explorer.revealed = True
    explorer.masked = {1, 2}
    assert (explorer.filled, explorer.hands) == ({}, {})
    assert (explorer.focus, explorer.revealed) == (1, False)


def test_a_cell_and_a_click_are_answered_alike(explorer: MaskExplorer) -> None:
    explorer.masked = {0, 4}
    explorer.focus = 4
    answer = explorer.answer_guesses(**question(explorer))
    rows = answer["candidates"]
    shown = [VOCABULARY.ids[row["symbol"]] for row in rows]
    assert [reader["name"] for reader in answer["readers"]] == [*DIRECTIONS]
    for i, reader in enumerate(answer["readers"]):
        theirs = explorer.predictions[reader["name"]]
        assert [row["p"][i] for row in rows] == theirs[4][shown].tolist()
        assert set(theirs[4].topk(5).indices.tolist()) <= {*shown}
        assert reader["costs"] == {0: theirs.cost(0), 4: theirs.cost(4)}
    for at in (0, 4):
        best = top_k(explorer.predictions["both"][at])
        assert answer["best"][at] == [pytest.approx(tuple(guess)) for guess in best]
    assert "t" in [row["symbol"] for row in rows]
    frequency = letter_frequencies(CORPUS)[VOCABULARY.ids["t"]].item()
    assert answer["baseline"]["costs"][4] == pytest.approx(-math.log(frequency))
    assert explorer.loss == pytest.approx(sum(explorer.predictions["both"].known_costs) / 2)
    assert repr(explorer) == f"MaskExplorer('{LINE}', 2 masked, loss {explorer.loss:.2f} nats)"


def test_what_fills_a_gap_is_read_by_the_models(explorer: MaskExplorer) -> None:
    explorer.masked = {13, 14}
    before = explorer.predictions["both"][14]
    explorer.filled = {13: "q"}
    assert explorer.predictions.positions == (14,)
    assert not torch.allclose(before, explorer.predictions["both"][14])


def test_only_the_shipped_models_live_on_a_page(explorer: MaskExplorer) -> None:
    assert explorer.alone() is None
    line, part = next(iter(EXAMPLES.values()))
    at = line.index(part)
    assert MaskExplorer().alone() == {"line": line, "masked": [at], "focus": at, "view": "guesses"}


def test_where_nothing_runs_the_guesses_are_a_table_unless_they_are_hidden() -> None:
    explorer = MaskExplorer(guess_first="once")
    line, part = next(iter(EXAMPLES.values()))
    gapped = line.replace(part, "_", 1)
    page = read(str(explorer.still()))
    assert page.get_text() == gapped
    assert repr(explorer) == f"MaskExplorer('{gapped}', 1 masked)"
    assert (explorer.alone() or {})["guess_first"] == "once"
    explorer.revealed = True
    [_, *rows] = read(str(explorer.still())).select("tr")
    at, answer = line.index(part), explorer.predictions["both"]
    cells = [cell.get_text() for cell in rows[-1].select("td")]
    assert cells == [f"{at}", "both", listed(top_k(answer[at])), f"{answer.cost(at):.2f}"]
    assert "guess_first" not in (explorer.alone() or {})


def test_an_infinite_cost_is_written_for_json(explorer: MaskExplorer) -> None:
    explorer.masked = {13}  # a letter that the baseline never saw
    costs = explorer.answer_guesses(**question(explorer))["baseline"]["costs"]
    assert costs == {13: "Infinity"}


# ── Python ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("masked", {99}, "A position in this line is a whole number from 0 to 20, not 99"),
        ("masked", "abc", "Positions are a list of whole numbers"),
        ("focus", 21, "A position of this line is a whole number from 0 to 20, not 21"),
        ("line", "?!", "The line is empty"),
    ],
)
def test_a_bad_value_is_named_and_changes_nothing(
    explorer: MaskExplorer, name: str, value: object, sentence: str
) -> None:
    before = getattr(explorer, name)
    with pytest.raises(ValueError, match=sentence):
        setattr(explorer, name, value)
    assert getattr(explorer, name) == before


def test_a_model_of_ones_own_answers_alone_and_anew_when_it_has_learned() -> None:
    own = small()
    explorer = MaskExplorer(own, LINE, {4})
    assert list(explorer.predictions) == ["both"]
    with torch.no_grad():
        own.head.bias[VOCABULARY.ids["q"]] += 50
    explorer.update()
    assert top_k(explorer.predictions["both"][4])[0].character == "q"
