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
from safetensors import safe_open
from torch import Tensor

from cloze import checkpoint
from cloze.checkpoint import CHECKPOINTS
from cloze.corpus import Corpus
from cloze.encoder import DIRECTIONS, Direction, EncoderConfig
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss
from cloze.masking import IGNORE, MaskedBatch, held_out_batch
from cloze.prediction import CHARACTERS, MaskedPredictor, shipped_model, unigram
from cloze.vocabulary import ALPHABET, GAP, VOCABULARY, normalise
from web import weights
from web.browser import load_engine, served, write_with_blank

TOLERANCE = 1e-4
LINES = {
    "she took her umbrella because it was raining": [0, 9, 10, 30],
    "the old man walked slowly down to the harbour and looked at ship": [63],
    "_ne g_p is known to nobody\nand the other lines go on": [0, 5, 26],
    "_": [0],
    "a": [0],
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_with_blank(folder)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


@pytest.fixture
def engine(page: Page, address: str) -> Page:
    """A page that has loaded the modules and the three models."""
    load_engine(page, address)
    page.evaluate(ANSWERED)
    return page


@cache
def held_out() -> MaskedBatch:
    return held_out_batch(Corpus.load().held_out_windows(64))


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

LOGITS = """([name, lines]) => JSON.stringify(JSON.parse(lines).flatMap(([ids, selected]) =>
  predictors[name].model.logitsAt(ids, selected).map((row) => [...row])))"""


def page_logits(engine: Page, name: Direction) -> Tensor:
    """Return the page's logits at every selected position of the held-out windows, (|M|, |V|)."""
    batch = held_out()
    lines = [
        [ids.tolist(), selected.nonzero().flatten().tolist()]
        for ids, selected in zip(batch.inputs, batch.selected, strict=True)
        if selected.any()
    ]
    return torch.tensor(json.loads(engine.evaluate(LOGITS, [name, json.dumps(lines)])))


@pytest.mark.parametrize(
    "name", ["both", *(pytest.param(name, marks=pytest.mark.slow) for name in ("left", "right"))]
)
def test_every_held_out_logit_is_torchs(engine: Page, name: Direction) -> None:
    inputs, labels = held_out()
    selected = labels != IGNORE
    found = page_logits(engine, name)
    expected = weights.rounded(name).logits_at(inputs, selected)
    assert len(inputs) > 1000
    assert found.shape == expected.shape
    assert (found - expected).abs().max() < TOLERANCE
    exact = shipped_model(name).logits_at(inputs, selected)
    assert (found - exact).abs().max() > TOLERANCE  # what the limit would notice
    loss = mlm_loss(found, labels[selected]).item()
    assert abs(loss - held_out_loss(shipped_model(name), held_out())) < 0.001


SHAPES = [
    EncoderConfig(d_model=12, n_heads=3, n_layers=1, d_ff=5, max_len=9, direction="left"),
    EncoderConfig(d_model=2, n_heads=1, n_layers=3, d_ff=1, max_len=17, direction="right"),
    EncoderConfig(d_model=30, n_heads=5, n_layers=4, d_ff=7, max_len=6, rotary_base=2),
]


@pytest.mark.parametrize("config", SHAPES, ids=lambda config: config.direction)
def test_a_model_of_any_shape_is_torchs(engine: Page, folder: Path, config: EncoderConfig) -> None:
    torch.manual_seed(0)
    model = MaskedLM(config).eval()
    for tensor in model.parameters():  # biases and norms, too, that they cannot be left out
        torch.nn.init.normal_(tensor, std=0.5)
    checkpoint.save_model(folder / "any.safetensors", model, {})
    engine.evaluate(
        "async () => window.any = (await readModel(await bytes('any.safetensors'), 'any')).model"
    )
    for length in range(1, config.max_len + 1):
        ids = torch.randint(0, len(VOCABULARY), (1, length))
        selected = torch.rand(1, length) < 0.3
        selected[0, int(torch.randint(0, length, ()))] = True
        asked = [ids[0].tolist(), selected[0].nonzero().flatten().tolist()]
        found = engine.evaluate(
            "([ids, at]) => any.logitsAt(ids, at).map((row) => [...row])", asked
        )
        assert torch.tensor(found).allclose(model.logits_at(ids, selected), atol=TOLERANCE)
        attention = model.encoder.attention(ids)[:, 0, :, length - 1]
        looks = engine.evaluate("ids => any.encoder.attention(ids, ids.length - 1)", asked[0])
        assert close(looks, attention.tolist())
    too_long = engine.evaluate(
        "(n) => answered(() => any.logitsAt(Array(n).fill(1), [0, n - 1]))", config.max_len + 1
    )
    with pytest.raises(ValueError, match="at most") as error:
        model(torch.ones(1, config.max_len + 1, dtype=torch.int64))
    assert too_long == {"said": str(error.value)}


# ── answers ──


@pytest.mark.parametrize("name", DIRECTIONS)
def test_answers_are_pythons(engine: Page, name: Direction) -> None:
    ours = predictor(name)
    theirs = engine.evaluate(
        """(name) => {
          const { maxLen, nLayers, nHeads, symbols, baseline } = predictors[name];
          const costs = symbols.known.map((_, i) => baseline.cost(i));
          const { known, size, unit } = symbols;
          return { name: predictors[name].name, maxLen, nLayers, nHeads, known, size, unit, costs,
                   probabilities: baseline.probabilities, text: baseline.text };
        }""",
        name,
    )
    assert ours.baseline is not None
    assert theirs == {
        "name": name,
        "maxLen": ours.max_len,
        "nLayers": ours.n_layers,
        "nHeads": ours.n_heads,
        "known": list(CHARACTERS.known),
        "size": len(VOCABULARY),
        "unit": CHARACTERS.unit,
        "costs": pytest.approx([ours.baseline.cost(i) for i in range(28)]),
        "probabilities": ours.baseline.probabilities,
        "text": ours.baseline.text,
    }
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


@pytest.mark.parametrize(
    "name", ["both", *(pytest.param(name, marks=pytest.mark.slow) for name in ("left", "right"))]
)
def test_long_answers_are_pythons(engine: Page, name: Direction) -> None:
    ours = predictor(name)

    def ask(what: str, *asked: object) -> Any:
        ask = "([name, what, ...asked]) => predictors[name][what](...asked)"
        return engine.evaluate(ask, [name, what, *asked])

    for text, gaps in LINES.items():
        line, last = list(text), gaps[-1]
        if text != GAP:
            assert close(ask("surprise", line), ours.surprise(line).tolist())
        for at in gaps:
            changes = ours.occlusion(line, gaps, at).tolist()
            assert close(ask("occlusion", line, gaps, at), changes)
        found = ask("attention", line, gaps, last)
        assert close(found, ours.attention(line, gaps, last).tolist())
        assert sum(found[1][6]) == pytest.approx(1)
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
    *("", " ", "\n\n", "_", "__", "[MASK]", "the [mask] sat", "[MA SK]", "a" * 64, "a" * 65),
    *("a" * 100_000, "_" * 65, "Café Zoë", "naïve æther œuvre Straße ẞ ﬁn ŉ", "don’t can't", "'"),
    *(
        "😀",
        "😀" * 70,
        "👩‍👩‍👧 family",
        "123",
        "٣٤",
        "½",
        "①",
        "²",
        "1 a",
        "привет",
        "漢字",
        "שלום a",
    ),
    *("<img src=x onerror=alert(1)>", "&lt;b&gt;", "<b>", "a<b>c</b>", "\u202ea", "a\u200bb"),
    *("a\tb", "a\r\nb\rc", "a \n \n b", "\x00", "a\x1fb", "a\x85b", "a\u00a0b", "\ufeff", "\u3000"),
    *("e\u0301", "\u0301", "a\u0345b", "x\u0334y", "İstanbul ıħđ", "ÆØÅ", "ﷺ", "Ⅷ", "K", "ſ", "-"),
    *("1é", "é" * 2000, "x" * 40 + "ﬀ" * 12, "x" * 40 + "ﬀ" * 13, "the wom_n", "a" * 1500 + "?"),
]
SYMBOLS = [
    *(
        "a",
        "Z",
        " ",
        "\n",
        "K",
        "İ",
        "_",
        "",
        "ab",
        "é",
        "7",
        "😀",
        "<b>",
        "\t",
        "'",
        '"',
        "it's \"",
    ),
    *("\\", "\u202e", "\u00a0 \u00a0", "\x07", "\U000e0001", "\U0010ffff", "x" * 61),
    *("a  b", "\n" * 40, "😀" * 61, "x" * 30 + "\u0001" * 20, "\r\n\x0b", "[MASK]", "\u2028"),
]


def random_texts(count: int) -> list[str]:
    """Draw texts of ordinary letters and of whatever this Python's Unicode has."""
    draw = random.Random(0)
    signs = [c for c in map(chr, range(sys.maxunicode + 1)) if known(c)]
    drawn = []
    for _ in range(count):
        usual = draw.choice([0, 0.5, 0.9])
        drawn.append(
            "".join(
                draw.choice("abcé _'’\n") if draw.random() < usual else draw.choice(signs)
                for _ in range(draw.choice([1, 3, 20, 70]))
            )
        )
    return drawn


def known(character: str) -> bool:
    """Tell characters from what is none, or not in this Python's Unicode, or anybody's own."""
    return unicodedata.category(character) not in ("Cn", "Cs", "Co")


def answer_of(ask: Callable[..., object], *asked: object) -> object:
    """Return what a call returns, or the sentence of its error."""
    try:
        return ask(*asked)
    except ValueError as error:
        return {"said": str(error)}


def test_lines_are_read_as_in_python(engine: Page) -> None:
    def read(text: str) -> dict[str, object]:
        line, note = CHARACTERS.read(text, 64)
        words = [list(word) for word in CHARACTERS.words(line)]
        return {"line": list(line), "note": note, "written": CHARACTERS.write(line), "words": words}

    texts = [*TEXTS, *SYMBOLS, *random_texts(2000)]
    found = engine.evaluate(
        """(texts) => Promise.all(texts.map((text) => answered(() => {
          const { line, note } = CHARACTERS.read(text, 64);
          return { line, note, written: CHARACTERS.write(line), words: CHARACTERS.words(line) };
        })))""",
        texts,
    )
    expected = [answer_of(read, text) for text in texts]
    assert [pair for pair in zip(texts, found, expected, strict=True) if pair[1] != pair[2]] == []
    refused = [text for text in expected if "said" in str(text)]
    assert 100 < len(refused) < len(texts) - 100


def test_symbols_are_read_as_in_python(engine: Page) -> None:
    symbols = [*SYMBOLS, *TEXTS, *random_texts(500), *ALPHABET]
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
    for at in [0, 7, 8, 40, header - 60, header, *draw.sample(range(len(good)), 20)]:
        flipped = bytearray(good)
        flipped[at] ^= 1 << draw.randrange(8)
        yield f"bit flipped at {at}", bytes(flipped)
    for size in (0, 4, 8, 100, header, len(good) - 1):
        yield f"cut at {size}", good[:size]
    yield "longer", good + b"\0"
    yield "text", b"<!doctype html><title>Not found</title>"


DAMAGED = [
    "CheckpointError",
    "both.safetensors is damaged: it is not what was written; reload the page, or build it again.",
]


def test_damaged_weights_get_one_sentence(engine: Page, folder: Path) -> None:
    for what, content in damaged_files((folder / "both.safetensors").read_bytes()):
        (folder / "bad.safetensors").write_bytes(content)
        assert read_again(engine, "bad.safetensors") == DAMAGED, what


def test_weights_that_do_not_fit_their_config_get_one_sentence(engine: Page, folder: Path) -> None:
    with safe_open(folder / "both.safetensors", "pt") as file:
        metadata = json.loads(file.metadata()["cloze"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del metadata["sha256"]
    weight, bias = tensors["head.weight"], tensors["head.bias"]
    for bad in (
        {name: tensor for name, tensor in tensors.items() if tensor is not bias},
        {**tensors, "more": bias.clone()},
        {**tensors, "head.weight": weight.T},
        {**tensors, "head.bias": bias[:-1].clone()},
    ):
        checkpoint.write(folder / "bad.safetensors", bad, metadata)
        assert read_again(engine, "bad.safetensors") == DAMAGED, list(bad)
    checkpoint.write(folder / "bad.safetensors", tensors, metadata)
    assert read_again(engine, "bad.safetensors") == ["read"]


def test_where_a_browser_digests_nothing_what_can_be_seen_is_told(
    engine: Page, folder: Path
) -> None:
    """As on a page that came neither encrypted nor from this machine."""
    engine.evaluate("Object.defineProperty(crypto, 'subtle', { value: undefined })")
    assert read_again(engine, "both.safetensors") == ["read"]
    good = (folder / "both.safetensors").read_bytes()
    for bad in (good[:-1], good + b"\0", good[:-2] + b"\x00\x7e", b"<!doctype html>"):  # 7e00: NaN
        (folder / "bad.safetensors").write_bytes(bad)
        assert read_again(engine, "bad.safetensors") == DAMAGED


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("causal", "both.safetensors holds no masked language model; name another file."),
        ("replaced", "both.safetensors holds no masked language model; name another file."),
        ("world", "both.safetensors reads words, not characters; name another file."),
        ("masked", "No file of weights holds the unigram; build the page again."),
    ],
)
def test_other_weights_get_one_sentence(
    engine: Page, folder: Path, name: str, sentence: str
) -> None:
    (folder / "other.safetensors").write_bytes((CHECKPOINTS / f"{name}.safetensors").read_bytes())
    assert read_again(engine, "other.safetensors") == ["CheckpointError", sentence]


def read_again(engine: Page, name: str) -> Any:
    """Read a file of weights as that of both sides; return the error's class and its message."""
    return engine.evaluate(
        """async (name) => {
          const both = await bytes(name);
          return readPredictors({ both }).then(
            () => ["read"], (error) => [error.constructor.name, error.message]);
        }""",
        name,
    )
