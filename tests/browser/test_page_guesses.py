"""What the page answers its explorer is what Python answers in a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from cloze.encoder import DIRECTIONS
from cloze.heads import MaskedLM
from cloze.lenses import measurements_of
from cloze.prediction.predictors import MaskedPredictor, unigram
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import CHARACTERS
from cloze.vocabulary import GAP
from cloze.widgets import MaskExplorer
from cloze.widgets.explorer.widget import EXAMPLES
from tests.browser.hand import state_of
from web import weights

ASK = """async ([what, sent]) => {
  const { Readers } = await import("./web/answers.js");
  const { Model } = await import("./src/cloze/widgets/browser/widget.js");
  window.paid = new Model({ paid: [] });
  const all = await loadPredictors(bytes, module);
  for (const [name, each] of Object.entries(predictors)) each.kept = all[name].kept;
  return JSON.stringify(await new Readers(() => predictors, paid)[what](sent));
}"""
BEGIN = """async (examples) => {
  const { beginning } = await import("./web/answers.js");
  return beginning(predictors.both, examples);
}"""
LINE = "i do not know who it was"
GAPPED = "i do n_t know who it was"


@pytest.fixture(scope="module")
def explorer() -> Iterator[MaskExplorer]:
    models = {name: weights.rounded(name) for name in DIRECTIONS}
    # What is kept was made for the exact weights.
    about = {model: measurements_of(shipped_model(name)) for name, model in models.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cloze.widgets.explorer.inside.measurements_of", about.get)
        yield MaskExplorer(
            {name: MaskedPredictor(model, name, unigram()) for name, model in models.items()}
        )


PROBABILITIES = {"p", "best", "guesses", "apart", "together"}


def close(found: Any, expected: Any, within: float = 1e-4) -> bool:
    """Tell whether two answers are one: probabilities to 1e-5, other numbers to 1e-4."""
    if isinstance(expected, dict):
        limits = {key: 1e-5 if key in PROBABILITIES else within for key in expected}
        return found.keys() == expected.keys() and all(
            close(found[key], expected[key], limits[key]) for key in found
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            close(*each, within) for each in zip(found, expected, strict=True)
        )
    if isinstance(expected, float):
        return abs(found - expected) < within
    return bool(found == expected)


UNCHANGED: dict[str, Any] = {
    "reader": "",
    "untrained": False,
    "everywhere": False,
    "other": [],
    "parts": {},
}


def inside(**settings: Any) -> dict[str, Any]:
    """Say what is changed inside the model."""
    return {"masked": [14], "focus": 14, "inside": UNCHANGED | settings}


OTHER = LINE[:15] + "x" + LINE[16:]
QUESTIONS: list[dict[str, Any]] = [
    {"masked": [14], "focus": 14},
    {"masked": [14, 15, 20], "focus": 15, "filled": {"20": "x"}},
    {"masked": [14], "focus": 14, "hands": {"14": {"q": 2, " ": 1}}},
    {"masked": [3, 14], "focus": 5},
    {"masked": [], "focus": 0},
    {"truth": list(GAPPED), "masked": [6], "focus": 6},
    inside(parts={"0.3": "off", "1.0": "off", "0": "off"}),
    inside(parts={"0.1": "off", "0": "off"}, everywhere=True),
    inside(parts={"0.1": "swap", "1": "off"}, other=list(OTHER)),
    inside(parts={"0": "swap", "1.4": "swap"}, other=list(OTHER), everywhere=True),
    inside(reader="left", parts={"1.2": "off"}),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_alike(
    engine: Page, explorer: MaskExplorer, question: dict[str, Any]
) -> None:
    sent = {"truth": list(LINE), "filled": {}, "hands": {}, "inside": UNCHANGED} | question
    asked = {
        "guesses": True,
        "occlusion": sent["focus"] in sent["masked"],
        "pair": len(sent["masked"]) > 1,
        "inside": sent["focus"] in sent["masked"],
        "surprise": GAP not in sent["truth"],
    }
    for name in filter(asked.get, asked):
        ours = json.loads(json.dumps(getattr(explorer, f"answer_{name}")(**sent)))
        assert close(json.loads(engine.evaluate(ASK, [name, sent])), ours), name
    engine.evaluate(ASK, ["guesses", sent])
    paid = engine.evaluate("paid.get('paid')")
    assert [each["n_hands"] for each in paid] == ([3] if sent["hands"] else [])


DRAWN = """async () => {
  const { initial } = await import("./web/engine/training.js");
  const { Chance } = await import("./web/engine/chance.js");
  return initial(predictors.both.engine.config, new Chance(0));
}"""


def test_a_model_before_training_is_looked_into_alike(
    engine: Page, explorer: MaskExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = MaskedLM(shipped_model().config).eval()
    torch.nn.utils.vector_to_parameters(torch.tensor(engine.evaluate(DRAWN)), fresh.parameters())
    monkeypatch.setattr("cloze.widgets.explorer.inside._untrained", lambda _: fresh)
    changes = inside(untrained=True, parts={"0.1": "swap", "1": "off"}, other=list(OTHER))
    sent = {"truth": list(LINE), "filled": {}, "hands": {}} | changes
    ours = json.loads(json.dumps(explorer.answer_inside(**sent)))
    assert close(json.loads(engine.evaluate(ASK, ["inside", sent])), ours)
    assert {rung["translated"] for rung in ours["rungs"]} == {None}
    sent["inside"]["untrained"] = False  # and it is as trained as before
    ours = json.loads(json.dumps(explorer.answer_inside(**sent)))
    assert close(json.loads(engine.evaluate(ASK, ["inside", sent])), ours)


@pytest.mark.parametrize("text", ["Été, _!", "ab " * 30])
def test_what_is_typed_is_read_alike(engine: Page, explorer: MaskExplorer, text: str) -> None:
    assert json.loads(engine.evaluate(ASK, ["read", {"text": text}])) == explorer.answer_read(text)


def test_it_begins_alike(engine: Page, explorer: MaskExplorer) -> None:
    explorer.guess_first = "once"
    examples = {name: each._asdict() for name, each in EXAMPLES.items()}
    ours = state_of(explorer)
    theirs = engine.evaluate(BEGIN, examples)
    shared = theirs.keys() & ours.keys() - {"seed"}
    assert {name: theirs[name] for name in shared} == {name: ours[name] for name in shared}
    assert ours.keys() - shared == {"seed", "present", "tabbable", "tooltip"} & ours.keys()
    assert theirs["symbols"]["known"] == list(CHARACTERS.known)
