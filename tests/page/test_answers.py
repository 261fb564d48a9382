"""What answers the page's widgets is what answers those in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from cloze.encoder import DIRECTIONS
from cloze.explorer import MaskExplorer
from cloze.explorer.widget import EXAMPLES
from cloze.heads import MaskedLM
from cloze.lenses import measurements_of
from cloze.lessons.writing_with_gaps.unmasking import frames
from cloze.prediction.generation import POLICIES
from cloze.prediction.predictors import MaskedPredictor, unigram
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import CHARACTERS
from cloze.vocabulary import GAP
from tests.browser.hand import state_of
from tests.page.node import Node
from web import weights

ASK = "async ([what, sent]) => new Readers(() => predictors)[what](sent)"
BEGIN = "(examples) => beginning(predictors.both, examples)"
LINE = "i do not know who it was"
GAPPED = "i do n_t know who it was"
LONG = "the old man walked slowly down to the harbour and looked at ship"


@pytest.fixture(scope="module")
def explorer() -> Iterator[MaskExplorer]:
    models = {name: weights.rounded(name) for name in DIRECTIONS}
    # What is kept was made for the exact weights.
    about = {model: measurements_of(shipped_model(name)) for name, model in models.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cloze.explorer.inside.measurements_of", about.get)
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
        return abs(found - expected) < within * max(1.0, abs(expected))
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
    {"masked": [3, 14, 15], "focus": 15},
    {"masked": [3, 14], "focus": 5},
    {"masked": [], "focus": 0},
    {"truth": list(GAPPED), "masked": [6], "focus": 6},
    {"truth": list("_ne g_p and\nall"), "masked": [0, 5], "focus": 0},
    {"truth": ["_"], "masked": [0], "focus": 0},
    {"truth": list(LONG), "masked": [0, 62, 63], "focus": 63},
    inside(parts={"0.3": "off", "1.0": "off", "0": "off"}),
    inside(parts={"0.1": "off", "0": "off"}, everywhere=True),
    inside(parts={"0.1": "swap", "1": "off"}, other=list(OTHER)),
    inside(parts={"0": "swap", "1.4": "swap"}, other=list(OTHER), everywhere=True),
    inside(reader="left", parts={"1.2": "off"}),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_alike(
    node: Node, explorer: MaskExplorer, question: dict[str, Any]
) -> None:
    must_be_alike(node, ASK, explorer, {"truth": list(LINE)} | question)


def must_be_alike(node: Node, ask: str, explorer: MaskExplorer, question: dict[str, Any]) -> None:
    """Ask the page all that can be asked of a line, and compare with Python."""
    sent = {"filled": {}, "hands": {}, "inside": UNCHANGED} | question
    asked = {
        "guesses": True,
        "occlusion": sent["focus"] in sent["masked"],
        "pair": len(sent["masked"]) > 1,
        "inside": sent["focus"] in sent["masked"],
        "surprise": GAP not in sent["truth"],
    }
    for name in filter(asked.get, asked):
        ours = json.loads(json.dumps(getattr(explorer, f"answer_{name}")(**sent)))
        assert close(node.evaluate(ask, [name, sent]), ours), name


ASK_WORDS = """async ([what, sent]) => {
  globalThis.words ??= await loadWords(await bytes("words.safetensors"), module);
  return new Readers(() => ({ both: words }))[what](sent);
}"""
SENTENCE = "Zoë opened her umbrella, didn't she?"
WITHOUT = SENTENCE.replace("umbrella", "door")


@pytest.mark.parametrize(
    "question",
    [
        {"masked": [3], "focus": 3, "hands": {"3": {"box": 2}}},
        {"truth": WITHOUT.replace("door", "___"), "masked": [1, 4], "focus": 4},
        {"masked": [3, 5], "focus": 5, "filled": {"4": "."}},
        inside(parts={"0.3": "off", "4.0": "off", "1": "off"}) | {"masked": [4], "focus": 4},
        inside(parts={"2.1": "swap", "3": "off"}, other=WITHOUT, everywhere=True)
        | {"masked": [4], "focus": 4},
    ],
)
def test_a_question_of_words_is_answered_alike(node: Node, question: dict[str, Any]) -> None:
    explorer = MaskExplorer(shipped_model("words"), SENTENCE)
    question = {"truth": SENTENCE} | question
    for part, name in ((question, "truth"), (question.get("inside", {}), "other")):
        if part.get(name):
            part[name] = explorer.answer_read(part[name])["truth"]
    must_be_alike(node, ASK_WORDS, explorer, question)


DRAWN = """() => {
  const { config } = predictors.both.engine;
  const engine = new Engine(new WebAssembly.Instance(module), config);
  engine.c.begin(0, config.neighbour_focus);
  return [...engine.parameters];
}"""


def test_a_model_before_training_is_looked_into_alike(
    node: Node, explorer: MaskExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = MaskedLM(shipped_model().config).eval()
    torch.nn.utils.vector_to_parameters(torch.tensor(node.evaluate(DRAWN)), fresh.parameters())
    monkeypatch.setattr("cloze.explorer.inside._untrained", lambda _: fresh)
    changes = inside(untrained=True, parts={"0.1": "swap", "1": "off"}, other=list(OTHER))
    sent = {"truth": list(LINE), "filled": {}, "hands": {}} | changes
    ours = json.loads(json.dumps(explorer.answer_inside(**sent)))
    assert close(node.evaluate(ASK, ["inside", sent]), ours)
    assert {rung["translated"] for rung in ours["rungs"]} == {None}
    sent["inside"]["untrained"] = False  # and it is as trained as before
    ours = json.loads(json.dumps(explorer.answer_inside(**sent)))
    assert close(node.evaluate(ASK, ["inside", sent]), ours)


@pytest.mark.parametrize("text", ["Été, _!", "ab " * 30])
def test_what_is_typed_is_read_alike(node: Node, explorer: MaskExplorer, text: str) -> None:
    assert node.evaluate(ASK, ["read", {"text": text}]) == explorer.answer_read(text)


def test_it_begins_alike(node: Node, explorer: MaskExplorer) -> None:
    explorer.guess_first = "once"
    examples = {name: each._asdict() for name, each in EXAMPLES.items()}
    ours = state_of(explorer)
    theirs = node.evaluate(BEGIN, examples)
    shared = theirs.keys() & ours.keys()
    assert {name: theirs[name] for name in shared} == {name: ours[name] for name in shared}
    assert ours.keys() - shared == {"present", "tabbable", "tooltip"} & ours.keys()
    assert theirs["symbols"]["known"] == list(CHARACTERS.known)


WRITTEN = """(runs) => Promise.all(runs.map(async (chosen) => {
  const model = await writing((chosen) => unmasked(predictors.both, chosen), { line: "_" });
  await model.ask("write", chosen);
  return model.get("frames");
}))"""
GAPS = "the ___ __ _____ sat on the ___ and __"


def written(node: Node, runs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Let the page write lines: all frames of each."""
    answers: list[list[dict[str, Any]]] = node.evaluate(WRITTEN, runs)
    return answers


def test_lines_are_written_as_in_python(node: Node) -> None:
    """At temperature 0; above it the page draws by numbers of its own."""
    policies = [policy for policy in POLICIES if policy not in ("random order", "Gibbs")]
    runs: list[dict[str, Any]]
    runs = [{"line": GAPS, "policy": each, "temperature": 0, "seed": 5} for each in policies]
    model = weights.rounded()
    for run, theirs in zip(runs, written(node, runs), strict=True):
        ours = [*frames(model, **run)]
        assert ["".join(each["line"]) for each in theirs] == ["".join(each.line) for each in ours]
        assert [each["fates"] for each in theirs] == [[*each.fates] for each in ours]
        for mine, other in zip(ours, theirs, strict=True):
            assert other["probabilities"] == pytest.approx(mine.probabilities, abs=1e-3)


def test_an_order_that_is_drawn_comes_to_every_gap(node: Node) -> None:
    gaps = [at for at, symbol in enumerate(GAPS) if symbol == "_"]
    chosen = {"line": GAPS, "temperature": 0, "seed": 5}
    runs = [{"policy": policy, **chosen} for policy in ("random order", "Gibbs")]
    for rounds, shown in zip((1, 3), written(node, runs), strict=True):
        new = [[at for at, fate in enumerate(each["fates"]) if fate == "new"] for each in shown]
        assert new[0] == []
        steps = new[1 if rounds == 1 else 2 :]  # Gibbs fills all in its first step
        for start in range(0, len(steps), len(gaps)):
            order = [at for step in steps[start : start + len(gaps)] for at in step]
            assert sorted(order) == gaps
            assert order != gaps
        assert len(steps) == rounds * len(gaps)


def test_what_is_drawn_is_as_frequent_as_it_is_probable(node: Node) -> None:
    line, n = "he look_d at __ ship", 200
    temperature = 0.5
    chosen = {"line": line, "policy": "all at once", "temperature": temperature}
    runs = [{"seed": seed, **chosen} for seed in range(n)]
    texts = ["".join(shown[-1]["line"]) for shown in written(node, runs)]
    assert texts[:5] == ["".join(shown[-1]["line"]) for shown in written(node, runs[:5])]
    gaps = [at for at, symbol in enumerate(line) if symbol == "_"]
    answer = MaskedPredictor(weights.rounded()).predict([*line], gaps)
    for at in gaps:
        bent = answer[at].double() ** (1 / temperature)
        bent /= bent.sum()
        for symbol, p in zip(CHARACTERS.known, bent.tolist(), strict=True):
            drawn = sum(text[at] == symbol for text in texts)
            assert abs(drawn - n * p) < 4.5 * (n * p * (1 - p)) ** 0.5 + 1, (at, symbol)
