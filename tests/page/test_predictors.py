"""What the page reads: lines and symbols as Python does, and files that are damaged."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cloze.prediction.shipped import shipped_model
from cloze.prediction.symbols import CHARACTERS, symbols_of
from cloze.vocabulary import ALPHABET, normalise
from tests.page.node import Node


def test_a_newer_question_stops_an_older_one(node: Node) -> None:
    found = node.evaluate(
        """async () => {
          const { both } = predictors;
          const line = [..."the old man walked slowly down to the harbour and looked at it"];
          const asks = {
            pairs: (options) => both.pairs(line, [3, 9], 3, 9, 5, options),
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
    assert found == dict.fromkeys(["pairs", "surprise", "occlusion"], "AbortError")


TEXTS = [
    *("", "_", "the [mask] sat", "[MA SK]", "a" * 65, "Café Zoë", "æther œuvre Straße ẞ ﬁn ŉ"),
    *("don’t can't", "e\u0301", "\u0301", "İstanbul ıħđ", "😀 a", "👩‍👧 family", "٣٤ ½"),
    *("שלום a", "1é", "é" * 2000, "ﷺ", "K", "-", "<img src=x>", "\u202ea", "a\u00a0b"),
    *("a", "Z", "\n", "7", "'", "a  b", "\n" * 40, "a\tb\r\nc", "a \n \n b", "\ufeff"),
    "Don't worry, it's 1803: Zoë's ___ sank near [MASK], Captain Xylqu said.",
    *(
        "“Où?” — y‐z …",
        "Ｆｕｌｌ ½ x² 3.14 e-mail",
        "a__b _ _ <mask>[maſK]",
        "o''b 'tis ''n'",
        "日本 ok",
    ),
    *(
        "antidisestablishmentarianism (floccinaucinihilipilification)!",
        "word " * 63,
        "##s ▁a [SEP]",
    ),
]
TYPED = ["the", "Umbrella", "##ing", "Xylqu", "Café", "!", "two words", "a_b"]


def known(character: str) -> bool:
    """Tell characters from what is none, or not in this Python's Unicode, or anybody's own."""
    return unicodedata.category(character) not in ("Cn", "Cs", "Co")


def answer_of(ask: Callable[..., object], *asked: object) -> object:
    """Return what a call returns, or the sentence of its error."""
    try:
        return ask(*asked)
    except ValueError as error:
        return {"said": str(error)}


SYMBOLS = """async () => {
  globalThis.words ??= await loadWords(await bytes("words.safetensors"), module);
  globalThis.symbols = { characters: CHARACTERS, words: words.symbols };
  return words.symbols.known;
}"""


@pytest.mark.parametrize("name", ["characters", "words"])
def test_lines_and_symbols_are_read_as_in_python(node: Node, name: str) -> None:
    ours = CHARACTERS if name == "characters" else symbols_of(shipped_model("words").vocabulary)
    known = node.evaluate(SYMBOLS)
    assert name == "characters" or known == list(ours.known)

    def read(text: str) -> dict[str, object]:
        line, note = ours.read(text, 62)
        words = [list(word) for word in ours.words(line)]
        ids = ours.input_ids(line).tolist()
        write = ours.write(line)
        return {"line": list(line), "note": note, "written": write, "words": words, "ids": ids}

    found = node.evaluate(
        """([name, texts]) => texts.map((text) => {
          const { read, write, words, ids } = symbols[name];
          try {
            const { line, note } = read(text, 62);
            return { line, note, written: write(line), words: words(line), ids: ids(line) };
          } catch ({ message }) {
            return { said: message };
          }
        })""",
        [name, TEXTS],
    )
    for text, theirs in zip(TEXTS, found, strict=True):
        assert theirs == answer_of(read, text), text
    typed = [*TEXTS, *ALPHABET, *TYPED]
    found = node.evaluate(
        """([name, all]) => all.map((each) => {
          try {
            return symbols[name].readSymbol(each);
          } catch ({ message }) {
            return { said: message };
          }
        })""",
        [name, typed],
    )
    for symbol, theirs in zip(typed, found, strict=True):
        answer = answer_of(ours.read_symbol, symbol)
        assert theirs == answer or ("said" in theirs and "said" in str(answer)), symbol


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


READ = """async (path) => readModel(await bytes(path), "both.safetensors", module).then(
  () => "read", (error) => `${error.constructor.name}: ${error.message}`)"""


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
    path = tmp_path / "both.safetensors"
    for content, answer in (
        (good, "read"),
        (good[:-1], "CheckpointError: "),
        (good[:-2] + b"\x00\x7e", "CheckpointError: "),  # 7e00: NaN
    ):
        path.write_bytes(content)
        assert node.evaluate(READ, str(path)).startswith(answer)
