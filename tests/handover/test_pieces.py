"""Models of word pieces from a folder: their answers, and broken folders."""

import json
import math
import pickle
import shutil
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from cloze.explorer import Inside, MaskExplorer
from cloze.handover import pieces
from cloze.handover.packages import quiet
from cloze.handover.pieces import PiecePredictor
from cloze.inside import run
from cloze.lessons.your_own_text.letters import FOLDER
from tests.handover.folders import folder, tokenizer

LINES = (
    "the children walked _ the harbour , and it was raining",
    "she took her _ because it _ all day",
    "un_ed __",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def bert(home: Path) -> Path:
    return folder("bert", home / "bert")


@pytest.fixture(scope="module", params=["bert", "roberta", "modernbert"])
def made(request: pytest.FixtureRequest, home: Path, bert: Path) -> Path:
    """The folder of a small model of each kind."""
    if request.param == "roberta":
        return folder("roberta", home / "roberta")
    return bert if request.param == "bert" else FOLDER


def theirs(path: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    with quiet():
        return AutoModelForMaskedLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)


# What it answers


@torch.no_grad()
def test_the_probabilities_are_those_of_transformers(made: Path) -> None:
    model, tokenize = theirs(made)
    ours = PiecePredictor(made)
    known = torch.tensor([i for i in range(len(tokenize)) if i not in special(tokenize)])
    for line in LINES:
        encoded = tokenize(line.replace("_", tokenize.mask_token), return_tensors="pt")
        gaps = encoded["input_ids"][0] == tokenize.mask_token_id
        expected = model(**encoded).logits[0, gaps][:, known].softmax(-1)
        read, _ = ours.symbols.read(line, ours.max_len)
        answer = ours.predict(read, ())
        assert len(answer.positions) == line.count("_")
        assert (answer.probabilities - expected).abs().max() < 1e-5


def special(tokenize: Any) -> set[int]:
    return {*tokenize.all_special_ids} - {tokenize.unk_token_id}


@torch.no_grad()
def test_surprise_and_attention_fit_the_logits(made: Path) -> None:
    model, tokenize = theirs(made)
    model.set_attn_implementation("eager")
    ours = PiecePredictor(made)
    line, _ = ours.symbols.read("the cat sat on the mat", ours.max_len)
    truth = tokenize("the cat sat on the mat", return_tensors="pt")["input_ids"]
    hidden = truth.clone()
    hidden[0, 2] = tokenize.mask_token_id
    answer = model(hidden, output_attentions=True)
    logits = answer.logits[0, 2].clone()
    logits[[*special(tokenize), *range(len(tokenize), len(logits))]] = -math.inf
    cost = -logits.log_softmax(-1)[truth[0, 2]].item()
    assert ours.surprise(line)[1].item() == pytest.approx(cost, abs=1e-4)
    opened = ours.opened(line, [1])
    assert opened
    inside = run(opened.module, opened.input_ids)
    assert torch.allclose(inside["pattern", 1][0, 3, 2], answer.attentions[1][0, 3, 2], atol=1e-5)
    log_probs = opened.log_probs(inside["logits"][0, opened.before + 1])
    assert torch.allclose(log_probs.exp(), ours.predict(line, [1])[1], atol=1e-5)
    widget = Inside("the cat sat on the mat", 1, model=ours)
    widget.inside = widget.inside | {"parts": {"1.3": "off", "0": "off"}}
    *_, last = widget.way()["rungs"]
    assert last["before"] == pytest.approx(cost, abs=1e-4)
    assert last["own"]["cost"] != pytest.approx(cost, abs=1e-4)


def test_many_pieces_are_asked_in_parts(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = PiecePredictor(bert)
    line, _ = ours.symbols.read("the cat sat on the mat", ours.max_len)
    expected = ours.surprise(line)
    monkeypatch.setattr(pieces, "LOGITS_AT_ONCE", 1)
    assert torch.allclose(ours.surprise(line), expected, atol=1e-5)


def test_the_longest_line_is_read(made: Path) -> None:
    ours = PiecePredictor(made)
    line = ours.symbols.read("the " * ours.max_len, 1000)[0][: ours.max_len]
    assert ours.predict(line, [0]).probabilities.isfinite().all()
    assert ours.max_len == {"bert": 38, "roberta": 35, FOLDER.name: 128}[made.name]
    with pytest.raises(ValueError, match=r"The line has \d+ pieces and the model reads"):
        ours.symbols.read("the " * 200, ours.max_len)


# How pieces are read and written


def test_a_line_goes_there_and_back(made: Path) -> None:
    symbols = PiecePredictor(made).symbols
    assert len({*symbols.vocabulary.symbols}) == len(symbols.vocabulary)
    for text in (*LINES, "She said : don't !\nTwo  lines é 🙂 [UNK]", "qu_ck __ it", "_ cat_"):
        line, _ = symbols.read(text, 1000)
        assert line.count("_") == text.count("_")
        assert symbols.read(symbols.write(line), 1000) == (line, "")
        assert [at for word in symbols.words(line) for at in word] == [*range(len(line))]


@pytest.mark.parametrize(
    ("kind", "line", "words"),
    [
        ("bert", "u ##m ##b ##re ##ll ##a _ it", [[0, 1, 2, 3, 4, 5], [6], [7]]),
        ("roberta", "um b re ll a _ ␣it", [[0, 1, 2, 3, 4], [5], [6]]),
    ],
)
def test_marks_can_be_seen(kind: str, line: str, words: list[list[int]]) -> None:
    symbols = pieces.Pieces.of(tokenizer(kind))
    read, _ = symbols.read("umbrella _ it", 99)
    assert " ".join(read) == line
    assert [[*word] for word in symbols.words(read)] == words


def test_bytes_and_taken_names_can_be_told_apart() -> None:
    symbols = pieces.Pieces.of(tokenizer("roberta"))
    assert {"\\xf0", "↵", "␣", "␣the"} <= {*symbols.known}
    assert "_" not in symbols.known
    assert any(name.startswith("_·") for name in symbols.known)


def test_a_guess_is_a_piece_or_a_word_that_is_one() -> None:
    symbols = pieces.Pieces.of(tokenizer("roberta"))
    assert symbols.read_symbol("␣the") == symbols.read_symbol(" the") == "␣the"
    assert symbols.read_symbol("because") == "␣because"
    with pytest.raises(ValueError, match="not 'umbrella': the tokenizer splits it into um b re l"):
        symbols.read_symbol("umbrella")
    for typed in ("_", "", 7, "<mask>"):
        with pytest.raises(ValueError, match="A gap holds one piece, not"):
            symbols.read_symbol(typed)
    for text, sentence in (("", "is empty"), ("a <s> b", "<s> is a special token of this model")):
        with pytest.raises(ValueError, match=sentence):
            symbols.read(text, 99)


def test_the_explorer_shows_it(made: Path) -> None:
    ours = PiecePredictor(made)
    explorer = MaskExplorer(ours, "she took her _ because it was raining", [0])
    assert explorer.masked == {0, explorer.predictions.positions[1]}
    assert explorer.loss == pytest.approx(ours.predict(explorer.predictions.line, [0]).loss)
    assert f"<td>{made.name}</td>" in explorer.predictions._repr_html_()
    assert "MaskExplorer('she took her _ because " in repr(explorer)


# Folders without such a model


class Harm:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("harmed"),)


def pickled(path: Path) -> None:
    (path / "model.safetensors").unlink()
    (path / "pytorch_model.bin").write_bytes(pickle.dumps(Harm()))


def with_code(path: Path) -> None:
    (path / "evil.py").write_text("from pathlib import Path\nPath('harmed').touch()\n")
    config(path, model_type="evil", auto_map={"AutoConfig": "evil.C"})


def config(path: Path, file_name: str = "config.json", **changed: Any) -> None:
    file = path / file_name
    before = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(before | changed), encoding="utf-8")


def classifier(path: Path) -> None:
    from transformers import AutoConfig, BertForSequenceClassification

    with quiet():
        shape = AutoConfig.from_pretrained(path)
        BertForSequenceClassification(shape).save_pretrained(path)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (shutil.rmtree, "There is no folder"),
    "pickled weights": (pickled, "only in pytorch_model.bin, and reading such a file can run code"),
    "code of its own": (with_code, "contains custom code"),
    "a decoder": (partial(config, is_decoder=True), "a model of the kind bert does not fill gaps"),
    "no head": (classifier, "no weights called cls.predictions.bias, so it was saved for"),
    "other pieces": (
        lambda path: tokenizer("bert", 300).save_pretrained(path),
        "its tokenizer has 300 pieces and the model 608",
    ),
    "layers": (partial(config, num_hidden_layers=10**9), "it has more than 1,000 layers"),
    "no width": (partial(config, hidden_size=None, num_attention_heads=0), "Validation error"),
    "half a tokenizer": (
        lambda path: (path / "tokenizer.json").write_text('{"version'),
        "its files do not fit together, or one of them is damaged",
    ),
    "no room": (
        lambda path: config(path, "tokenizer_config.json", model_max_length=2),
        "it reads no line of a single piece",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_folder_gets_one_sentence(
    name: str, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connected(*_: Any) -> None:
        raise AssertionError("Somebody was asked for more.")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", connected)
    path = shutil.copytree(bert, tmp_path / "mine")
    make, sentence = BROKEN[name]
    make(path)
    with pytest.raises(ValueError, match=r"^[^\n]{,500}\.$") as caught:
        PiecePredictor(path)
    assert sentence in str(caught.value), str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "harmed").exists()
