"""The engine of the page against torch, in a real browser: logits, answers, sentences."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page
from torch import Tensor

from cloze.checkpoint import CHECKPOINTS
from cloze.corpus import Corpus
from cloze.encoder import DIRECTIONS, Direction
from cloze.heads import symbol_log_probs
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, held_out_batch
from cloze.prediction.predictors import MaskedPredictor, unigram
from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import CHARACTERS
from cloze.vocabulary import ALPHABET, GAP, VOCABULARY, normalise
from web import weights
from web.browser import load_engine

TOLERANCE = 1e-4
OF_PROBABILITIES = 1e-5
LINES = {
    "she took her umbrella because it was raining": [0, 9, 10, 30],
    "the old man walked slowly down to the harbour and looked at ship": [63],
    "_ne g_p is known to nobody\nand the other lines go on": [0, 5, 26],
    "_": [0],
    "everything _": [11],
}
"""Lines by their gaps: at both ends, side by side, of unknown truth, and nothing else."""
# What a call returns, or the sentence of its error; mistakes in the code go on to the test.
ANSWERED = """() => window.answered = async (ask) => {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return { said: error.message };
  }
}"""


@pytest.fixture(scope="module")
def engine(engine: Page) -> Page:
    engine.evaluate(ANSWERED)
    return engine


@cache
def held_out() -> MaskedBatch:
    """Some of the held-out windows, which takes a twentieth of the time of all."""
    return MaskedBatch(*(each[::20] for each in held_out_batch(Corpus.load().held_out_windows(64))))


@cache
def predictor(name: Direction) -> MaskedPredictor:
    return MaskedPredictor(weights.rounded(name), name, unigram())


def close(found: Any, expected: Any) -> bool:
    """Tell whether nested lists of numbers, and None, have one shape and nearly one content."""
    if isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(close, found, expected))
    if expected is None:
        return found is None
    return abs(found - expected) < TOLERANCE


# ── logits ──

LOGITS = """([name, lines]) => JSON.stringify(JSON.parse(lines).flatMap(([ids, selected]) => {
  const found = predictors[name].engine.logits(
    Int32Array.from(ids), ids.length, Int32Array.from(selected));
  return selected.map((_, row) => [...found.subarray(29 * row, 29 * row + 29)]);
}))"""


def page_logits(engine: Page, name: Direction) -> Tensor:
    """Return the page's logits at every selected position of the held-out windows, (|M|, |V|)."""
    batch = held_out()
    lines = [
        [ids.tolist(), selected.nonzero().flatten().tolist()]
        for ids, selected in zip(batch.inputs, batch.selected, strict=True)
        if selected.any()
    ]
    return torch.tensor(json.loads(engine.evaluate(LOGITS, [name, json.dumps(lines)])))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_held_out_logits_are_torchs(engine: Page, name: Direction) -> None:
    inputs, labels = held_out()
    selected = labels != IGNORE
    found = page_logits(engine, name)
    expected = weights.rounded(name).logits_at(inputs, selected)
    assert len(inputs) > 50
    assert found.shape == expected.shape
    assert (found - expected).abs().max() < TOLERANCE
    ours, theirs = (symbol_log_probs(logits, VOCABULARY).exp() for logits in (expected, found))
    assert (ours - theirs).abs().max() < OF_PROBABILITIES
    exact = shipped_model(name).logits_at(inputs, selected)
    assert (found - exact).abs().max() > TOLERANCE  # what the limit would notice
    costs = [mlm_loss(each, labels[selected]).item() for each in (found, exact)]
    assert costs[0] == pytest.approx(costs[1], abs=0.001)


# ── answers ──


@pytest.mark.parametrize("name", DIRECTIONS)
def test_answers_are_pythons(engine: Page, name: Direction) -> None:
    ours = predictor(name)
    for text, gaps in LINES.items():
        line = list(text)
        answer = ours.predict(line, gaps)
        found = engine.evaluate(
            """([name, line, gaps]) => {
              const answer = predictors[name].predict(line, gaps);
              const { positions, probabilities, costs, knownCosts, loss } = answer;
              return { positions, probabilities, costs, knownCosts, loss,
                       at: answer.at(gaps[0]), cost: answer.cost(gaps[0]) };
            }""",
            [name, line, gaps],
        )
        assert found["positions"] == list(answer.positions)
        assert close(found["probabilities"], answer.probabilities.tolist())
        assert close(found["costs"], [answer.cost(at) for at in answer.positions])
        assert close(found["knownCosts"], answer.known_costs)
        assert close(found["loss"], answer.loss)
        assert close(found["at"], answer[gaps[0]].tolist())
        assert close(found["cost"], answer.cost(gaps[0]))
    nothing = engine.evaluate(
        "(name) => { const { loss, positions } = predictors[name].predict(['a'], []);"
        " return { loss, positions } }",
        name,
    )
    assert nothing == {"loss": None, "positions": []}


def test_long_answers_are_pythons(engine: Page) -> None:
    ours = predictor("both")

    def ask(what: str, *asked: object) -> Any:
        ask = "([name, what, ...asked]) => predictors[name][what](...asked)"
        return engine.evaluate(ask, ["both", what, *asked])

    for text, gaps in LINES.items():
        line, last = list(text), gaps[-1]
        if text != GAP:
            assert close(ask("surprise", line), ours.surprise(line).tolist())
        changes = ours.occlusion(line, gaps, last).tolist()
        assert close(ask("occlusion", line, gaps, last), changes)
        if len(gaps) > 1:
            table = ask("joint", line, gaps, last, gaps[0])
            assert close(table, ours.joint(line, gaps, last, gaps[0]).tolist())
            assert sum(map(sum, table)) == pytest.approx(1)


def test_a_newer_question_stops_an_older_one(engine: Page) -> None:
    found = engine.evaluate(
        """async () => {
          const { both } = predictors;
          const line = [..."the old man walked slowly down to the harbour and looked at it"];
          const asks = {
            joint: (options) => both.joint(line, [3, 9], 3, 9, options),
            surprise: (options) => both.surprise(line, options),
            occlusion: (options) => both.occlusion(line, [3], 3, options),
          };
          const said = {};
          for (const [name, ask] of Object.entries(asks)) {
            const newer = new AbortController();
            const older = ask({ signal: newer.signal }).then(() => "answered", ({ name }) => name);
            // As what a click starts does, this waits for its turn, but not for the whole answer.
            scheduler.postTask(() => newer.abort(), { priority: "user-blocking" });
            said[name] = await older;
          }
          return said;
        }"""
    )
    assert found == dict.fromkeys(["joint", "surprise", "occlusion"], "AbortError")


# ── bad input ──

TEXTS = [
    *("", " ", "_", "__", "[MASK]", "the [mask] sat", "[MA SK]", "a" * 64, "a" * 65, "_" * 65),
    *(
        "Café Zoë",
        "naïve æther œuvre Straße ẞ ﬁn ŉ",
        "don’t can't",
        "e\u0301",
        "\u0301",
        "İstanbul ıħđ",
    ),
    *(
        "😀 a",
        "👩‍👩‍👧 family",
        "123",
        "٣٤",
        "½",
        "привет",
        "שלום a",
        "1é",
        "é" * 2000,
        "ﷺ",
        "K",
        "-",
    ),
    *("<img src=x onerror=alert(1)>", "&lt;b&gt;", "a<b>c</b>", "\u202ea", "a\u200bb", "a\u00a0b"),
    *("a", "Z", "\n", "ab", "7", "'", "\\", "\x07", "\U0010ffff", "a  b", "\n" * 40, "😀" * 61),
    *("a\tb", "a\r\nb\rc", "a \n \n b", "\x00", "a\x85b", "\ufeff", "x" * 40 + "ﬀ" * 13),
]


def known(character: str) -> bool:
    """Tell characters from what is none, or not in this Python's Unicode, or anybody's own."""
    return unicodedata.category(character) not in ("Cn", "Cs", "Co")


def answer_of(ask: Callable[..., object], *asked: object) -> object:
    """Return what a call returns, or the sentence of its error."""
    try:
        return ask(*asked)
    except ValueError as error:
        return {"said": str(error)}


def test_lines_and_symbols_are_read_as_in_python(engine: Page) -> None:
    def read(text: str) -> dict[str, object]:
        line, note = CHARACTERS.read(text, 64)
        words = [list(word) for word in CHARACTERS.words(line)]
        return {"line": list(line), "note": note, "written": CHARACTERS.write(line), "words": words}

    found = engine.evaluate(
        """(texts) => Promise.all(texts.map((text) => answered(() => {
          const { line, note } = CHARACTERS.read(text, 64);
          return { line, note, written: CHARACTERS.write(line), words: CHARACTERS.words(line) };
        })))""",
        TEXTS,
    )
    for text, theirs in zip(TEXTS, found, strict=True):
        assert theirs == answer_of(read, text), text
    assert 10 < sum("said" in each for each in found) < len(TEXTS) - 10
    symbols = [*TEXTS, *ALPHABET]
    found = engine.evaluate(
        "(all) => Promise.all(all.map((each) => answered(() => CHARACTERS.readSymbol(each))))",
        symbols,
    )
    for symbol, theirs in zip(symbols, found, strict=True):
        ours = answer_of(CHARACTERS.read_symbol, symbol)
        assert theirs == ours or ("said" in theirs and "said" in str(ours)), symbol


@pytest.mark.slow
def test_every_character_of_unicode_is_normalised_as_in_python(engine: Page) -> None:
    code_points = [i for i in range(sys.maxunicode + 1) if known(chr(i))]
    found = json.loads(
        engine.evaluate(
            """(codes) => JSON.stringify(JSON.parse(codes).map((code) => {
              const { text, folded, dropped } = normalise(`a${String.fromCodePoint(code)}b`);
              return [text, folded, dropped];
            }))""",
            json.dumps(code_points),
        )
    )
    assert len(code_points) > 140_000
    different = []
    for code, theirs in zip(code_points, found, strict=True):
        ours = normalise(f"a{chr(code)}b")
        if theirs != [ours.text, ours.folded, ours.dropped]:
            different.append((hex(code), theirs, ours))
    assert different == []


# ── damage ──


def damaged_files(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files that are not what was written."""
    header = 8 + int.from_bytes(good[:8], "little")
    draw = random.Random(0)
    for at in (0, 8, header - 60, header, draw.randrange(len(good))):
        flipped = bytearray(good)
        flipped[at] ^= 1 << draw.randrange(8)
        yield f"bit flipped at {at}", bytes(flipped)
    for size in (0, 8, header, len(good) - 1):
        yield f"cut at {size}", good[:size]
    yield "longer", good + b"\0"
    yield "text", b"<!doctype html><title>Not found</title>"


DAMAGED = [
    "CheckpointError",
    "both.safetensors is damaged: it is not what was written; reload the page, or build it again.",
]


def test_damaged_weights_get_one_sentence(engine: Page, page_folder: Path) -> None:
    for what, content in damaged_files((page_folder / "both.safetensors").read_bytes()):
        (page_folder / "bad.safetensors").write_bytes(content)
        assert read_again(engine, "bad.safetensors") == DAMAGED, what


def test_where_a_browser_digests_nothing_what_can_be_seen_is_told(
    page: Page, built: str, page_folder: Path
) -> None:
    """As on a page that came neither encrypted nor from this machine."""
    load_engine(page, built)
    page.evaluate("Object.defineProperty(crypto, 'subtle', { value: undefined })")
    assert read_again(page, "both.safetensors") == ["read"]
    good = (page_folder / "both.safetensors").read_bytes()
    for bad in (good[:-1], good + b"\0", good[:-2] + b"\x00\x7e", b"<!doctype html>"):  # 7e00: NaN
        (page_folder / "bad.safetensors").write_bytes(bad)
        assert read_again(page, "bad.safetensors") == DAMAGED


def test_other_weights_get_one_sentence(engine: Page, page_folder: Path) -> None:
    no_mlm = "both.safetensors holds no masked language model; name another file."
    for name, sentence in {
        "causal": no_mlm,
        "replaced": no_mlm,
        "world": "both.safetensors reads words, not characters; name another file.",
        "masked": "No file of weights holds the unigram; build the page again.",
    }.items():
        content = (CHECKPOINTS / f"{name}.safetensors").read_bytes()
        (page_folder / "other.safetensors").write_bytes(content)
        assert read_again(engine, "other.safetensors") == ["CheckpointError", sentence]


def read_again(engine: Page, name: str) -> Any:
    """Read a file of weights as that of both sides; return the error's class and its message."""
    return engine.evaluate(
        """async (name) => {
          const both = await bytes(name);
          return readPredictors({ both }, module).then(
            () => ["read"], (error) => [error.constructor.name, error.message]);
        }""",
        name,
    )
