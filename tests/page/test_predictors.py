"""What the page reads: lines and symbols as Python does, and files that are damaged."""

from __future__ import annotations

import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cloze.checkpoint import CHECKPOINTS
from cloze.prediction.symbols import CHARACTERS
from cloze.vocabulary import ALPHABET, normalise
from tests.page.node import Node


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
