"""What the page answers its explorer is what Python answers in a notebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from cloze.encoder import DIRECTIONS
from cloze.inside import kept
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
  predictors.both.kept ??= await readKept(await bytes("inside.safetensors"), "inside");
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
    about = {models["both"]: kept(shipped_model())}  # what is kept was made for the exact weights
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cloze.widgets.explorer.inside.kept", about.get)
        yield MaskExplorer(
            {name: MaskedPredictor(model, name, unigram()) for name, model in models.items()}
        )


def close(found: Any, expected: Any) -> bool:
    """Tell whether two answers are one, but for the last digits of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return abs(found - expected) < 1e-4
    return bool(found == expected)


UNCHANGED: dict[str, Any] = {"reader": "", "everywhere": False, "other": [], "parts": {}}


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
