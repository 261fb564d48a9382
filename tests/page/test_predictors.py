"""The page's models against torch: logits, answers, what is read, damaged files."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
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
from tests.page.node import Node
from web import weights

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

LOGITS = """([name, lines]) => lines.flatMap(([ids, selected]) => {
  const found = predictors[name].engine.logits(
    Int32Array.from(ids), ids.length, Int32Array.from(selected));
  return selected.map((_, row) => [...found.subarray(29 * row, 29 * row + 29)]);
})"""


def page_logits(node: Node, name: Direction) -> Tensor:
    """Return the page's logits at every selected position of the held-out windows, (|M|, |V|)."""
    batch = held_out()
    lines = [
        [ids.tolist(), selected.nonzero().flatten().tolist()]
        for ids, selected in zip(batch.inputs, batch.selected, strict=True)
        if selected.any()
    ]
    return torch.tensor(node.evaluate(LOGITS, [name, lines]))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_held_out_logits_are_torchs(node: Node, name: Direction) -> None:
    inputs, labels = held_out()
    selected = labels != IGNORE
    found = page_logits(node, name)
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
def test_answers_are_pythons(node: Node, name: Direction) -> None:
    ours = predictor(name)
    for text, gaps in LINES.items():
        line = list(text)
        answer = ours.predict(line, gaps)
        found = node.evaluate(
            """([name, line, gaps]) => {
              const answer = predictors[name].predict(line, gaps);
              const { positions, probabilities, costs } = answer;
              return { positions, probabilities, costs,
                       at: answer.at(gaps[0]), cost: answer.cost(gaps[0]) };
            }""",
            [name, line, gaps],
        )
        assert found["positions"] == list(answer.positions)
        assert close(found["probabilities"], answer.probabilities.tolist())
        assert close(found["costs"], [answer.cost(at) for at in answer.positions])
        assert close(found["at"], answer[gaps[0]].tolist())
        assert close(found["cost"], answer.cost(gaps[0]))


def test_long_answers_are_pythons(node: Node) -> None:
    ours = predictor("both")

    def ask(what: str, *asked: object) -> Any:
        ask = "([name, what, ...asked]) => predictors[name][what](...asked)"
        return node.evaluate(ask, ["both", what, *asked])

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


def test_a_newer_question_stops_an_older_one(node: Node) -> None:
    found = node.evaluate(
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
            setTimeout(() => newer.abort());
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


def test_lines_and_symbols_are_read_as_in_python(node: Node) -> None:
    def read(text: str) -> dict[str, object]:
        line, note = CHARACTERS.read(text, 64)
        words = [list(word) for word in CHARACTERS.words(line)]
        return {"line": list(line), "note": note, "written": CHARACTERS.write(line), "words": words}

    found = node.evaluate(
        """(texts) => texts.map((text) => {
          try {
            const { line, note } = CHARACTERS.read(text, 64);
            return { line, note, written: CHARACTERS.write(line), words: CHARACTERS.words(line) };
          } catch ({ message }) {
            return { said: message };
          }
        })""",
        TEXTS,
    )
    for text, theirs in zip(TEXTS, found, strict=True):
        assert theirs == answer_of(read, text), text
    assert 10 < sum("said" in each for each in found) < len(TEXTS) - 10
    symbols = [*TEXTS, *ALPHABET]
    found = node.evaluate(
        """(all) => all.map((each) => {
          try {
            return CHARACTERS.readSymbol(each);
          } catch ({ message }) {
            return { said: message };
          }
        })""",
        symbols,
    )
    for symbol, theirs in zip(symbols, found, strict=True):
        ours = answer_of(CHARACTERS.read_symbol, symbol)
        assert theirs == ours or ("said" in theirs and "said" in str(ours)), symbol


@pytest.mark.slow
def test_every_character_of_unicode_is_normalised_as_in_python(node: Node) -> None:
    code_points = [i for i in range(sys.maxunicode + 1) if known(chr(i))]
    found = node.evaluate(
        """(codes) => codes.map((code) => {
          const { text, folded, dropped } = normalise(`a${String.fromCodePoint(code)}b`);
          return [text, folded, dropped];
        })""",
        code_points,
    )
    assert len(code_points) > 140_000
    different = []
    for code, theirs in zip(code_points, found, strict=True):
        ours = normalise(f"a{chr(code)}b")
        if theirs != [ours.text, ours.folded, ours.dropped]:
            different.append((hex(code), theirs, ours))
    assert different == []


# ── damage ──

READ = """async (path) => readModel(await bytes(path), "both.safetensors", module).then(
  () => "read", (error) => `${error.constructor.name}: ${error.message}`)"""
DAMAGED = "CheckpointError: both.safetensors is damaged: "
NO_CHECKPOINT = "CheckpointError: both.safetensors is not a checkpoint of Cloze, "


def read_changed(node: Node, path: Path, content: bytes) -> str:
    """Let the page read a model's file; return the class of its error and its message."""
    path.write_bytes(content)
    return str(node.evaluate(READ, str(path)))


def test_damaged_weights_get_one_sentence(node: Node, page_folder: Path, tmp_path: Path) -> None:
    good = (page_folder / "both.safetensors").read_bytes()
    header = 8 + int.from_bytes(good[:8], "little")
    draw = random.Random(0)
    for at in (0, 8, header - 60, header, draw.randrange(len(good))):
        flipped = bytearray(good)
        flipped[at] ^= 1 << draw.randrange(8)
        found = read_changed(node, tmp_path / "flipped", bytes(flipped))
        assert found.startswith((DAMAGED, NO_CHECKPOINT)), at
    for size in (0, 8, header, len(good) - 1):
        found = read_changed(node, tmp_path / "cut", good[:size])
        assert found.startswith((DAMAGED, NO_CHECKPOINT)), size
    assert read_changed(node, tmp_path / "longer", good + b"\0").startswith(NO_CHECKPOINT)


@pytest.fixture
def no_digests(node: Node) -> Iterator[None]:
    """No digests, as on a page that came neither encrypted nor from this machine."""
    node.evaluate("() => Object.defineProperty(crypto, 'subtle', { get() {}, configurable: true })")
    yield
    node.evaluate("() => { delete crypto.subtle }")


@pytest.mark.usefixtures("no_digests")
def test_where_a_browser_digests_nothing_what_can_be_seen_is_told(
    node: Node, page_folder: Path, tmp_path: Path
) -> None:
    good = (page_folder / "both.safetensors").read_bytes()
    assert read_changed(node, tmp_path / "good", good) == "read"
    for bad in (good[:-1], good[:-2] + b"\x00\x7e"):  # 7e00: NaN
        assert read_changed(node, tmp_path / "bad", bad).startswith("CheckpointError: ")


def test_weights_of_another_kind_get_one_sentence(node: Node, tmp_path: Path) -> None:
    for name, sentence in {
        "causal": "holds no masked language model; choose another file.",
        "replaced": "holds no masked language model; choose another file.",
        "world": "reads other symbols than the page; use it in Python.",
    }.items():
        content = (CHECKPOINTS / f"{name}.safetensors").read_bytes()
        found = read_changed(node, tmp_path / "other", content)
        assert found == f"CheckpointError: both.safetensors {sentence}"
