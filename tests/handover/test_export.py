"""The folder that Hugging Face loads."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.__main__ import main
from cloze.checkpoint import CHECKPOINTS, SHIPPED, WORDS, load_model, provenance, save_model
from cloze.encoder import EncoderConfig
from cloze.handover import export
from cloze.handover.export import to_hugging_face
from cloze.heads import MaskedLM
from cloze.prediction.symbols import symbols_of
from cloze.vocabulary import ALPHABET, MASK, normalise
from cloze.world import World

CAPTURE = pytest.CaptureFixture[str]
LINE = "the qu[MASK]ck brown f[MASK]x jumps"
WORLD = CHECKPOINTS / "world.safetensors"
ROOT = Path(__file__).resolve().parents[2]
SMALL = EncoderConfig(d_model=16, n_heads=2, n_layers=1, d_ff=16, max_len=9)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """The folder of each checkpoint that is exported here."""
    import cloze.handover.huggingface  # noqa: F401 - makes the architecture known

    home = tmp_path_factory.mktemp("hf")
    folders = {
        path: home / path.stem for path in (SHIPPED, CHECKPOINTS / "left.safetensors", WORLD, WORDS)
    }
    for path, folder in folders.items():
        assert main(["export", str(folder), "--checkpoint", str(path)]) == 0
    return folders


def loaded(folder: Path) -> Any:
    from transformers import AutoModelForMaskedLM

    return AutoModelForMaskedLM.from_pretrained(folder).eval()


def tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


# Hugging Face: the model


@pytest.mark.parametrize("name", ["masked", "left", "world", "words"])
@torch.no_grad()
def test_the_folder_holds_the_same_function(exported: dict[Path, Path], name: str) -> None:
    path = CHECKPOINTS / f"{name}.safetensors"
    ours, theirs = load_model(path), loaded(exported[path])
    assert type(theirs).__module__ == "cloze.handover.huggingface"
    for length in (1, ours.config.max_len):
        known = ours.config.vocab_size
        input_ids = torch.arange(3 * length).reshape(3, length) % known
        logits = theirs(input_ids).logits
        torch.testing.assert_close(logits[..., :known], ours(input_ids), atol=1e-4, rtol=0)
        assert logits.shape[-1] == len(tokenizer(exported[path])) > known
        assert logits.softmax(-1)[..., known:].max() < 1e-30


@torch.no_grad()
def test_padding_never_leaks(exported: dict[Path, Path]) -> None:
    model, tokenize = loaded(exported[SHIPPED]), tokenizer(exported[SHIPPED])
    alone, batch = (
        tokenize(lines, padding=True, return_tensors="pt")
        for lines in ([LINE], [LINE, LINE[:20] * 2])
    )
    length = alone["input_ids"].shape[1]
    expected = model(**alone).logits[0]
    assert (batch["input_ids"][0, length:] == tokenize.pad_token_id).all()
    by_id = {"input_ids": batch["input_ids"]}  # then padding is known by its id
    for inputs in (batch, by_id):
        torch.testing.assert_close(model(**inputs).logits[0, :length], expected, atol=1e-4, rtol=0)


def test_the_folder_says_what_made_it_and_holds_nothing_else(exported: dict[Path, Path]) -> None:
    folder = exported[SHIPPED]
    code, tokenizer = "encoder.py huggingface.py", "tokenizer.json tokenizer_config.json"
    names = f"README.md config.json {code} model.safetensors {tokenizer}"
    assert sorted(path.name for path in folder.iterdir()) == names.split()
    package = ROOT / "src" / "cloze"  # one encoder, not two
    assert (folder / "encoder.py").read_bytes() == (package / "encoder.py").read_bytes()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.suffix != ".py"}
    assert len(modes) == 1
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "license: cc0-1.0" in card
    for value in provenance().values():
        assert str(value) in card


@pytest.mark.parametrize("name", ["masked", "left", "world", "words"])
def test_the_example_of_the_card_works(exported: dict[Path, Path], name: str) -> None:
    from transformers import pipeline

    folder = exported[CHECKPOINTS / f"{name}.safetensors"]
    card = (folder / "README.md").read_text(encoding="utf-8")
    example, answer = re.findall(r'fill\("(.+)"\)|line reads \*(.+)\*\.', card)
    guesses = pipeline("fill-mask", str(folder))(example[0], top_k=1)
    text = example[0]
    for guess in guesses if text.count(MASK) > 1 else [guesses]:
        (best,) = guess if isinstance(guess, list) else [guess]
        text = text.replace(MASK, best["token_str"], 1)
    assert text == answer[1]


def test_a_model_of_ones_own_claims_no_licence(tmp_path: Path) -> None:
    save_model(tmp_path / "mine.safetensors", MaskedLM(SMALL), {"seed": 7})
    to_hugging_face(tmp_path / "mine", tmp_path / "mine.safetensors")
    card = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "license" not in card
    assert "| seed | 7 |" in card


# Hugging Face: the tokenizer


def test_special_symbols_have_ids_of_their_own(exported: dict[Path, Path]) -> None:
    for path, folder in exported.items():
        tokenize, vocabulary = tokenizer(folder), load_model(path).vocabulary
        special = [tokenize.mask_token_id, tokenize.pad_token_id, tokenize.unk_token_id]
        assert len(set(special)) == 3
        assert tokenize.convert_tokens_to_ids(list(vocabulary.symbols)) == [*range(len(vocabulary))]
        unknown = [] if path == WORDS else [tokenize.unk_token_id]
        assert tokenize("я", add_special_tokens=False)["input_ids"] == unknown


def test_pieces_are_cut_as_they_were_for_training(exported: dict[Path, Path]) -> None:
    tokenize, words = tokenizer(exported[WORDS]), symbols_of(load_model(WORDS).vocabulary)

    @given(st.text("abcdeinrst .,'-_’“”—–éÉß9½§\u034f\u0903\ufe0f", min_size=1))
    @settings(max_examples=60, deadline=None)
    def holds(text: str) -> None:
        line = f"tea {text.replace('_', ' [MASK] ')}"
        ids = words.input_ids(words.read(line, 10**6)[0]).tolist()
        assert tokenize(line)["input_ids"] == ids

    holds()


def test_text_is_normalised_as_it_was_for_training(exported: dict[Path, Path]) -> None:
    tokenize = tokenizer(exported[SHIPPED])

    @given(st.text(ALPHABET + "".join(map(chr, range(32, 48))) + "AZ\r\t[]’“”…éÉàüßæÆœøłđðþıħﬁ"))
    def holds(text: str) -> None:
        assert tokenize.decode(tokenize(text)["input_ids"]).strip() == normalise(text).text

    holds()


def test_sentences_of_the_world_go_there_and_back(exported: dict[Path, Path]) -> None:
    tokenize, world = tokenizer(exported[WORLD]), World.load()
    for sentence in world.sentences[::100]:
        encoded = tokenize(f"{sentence.capitalize()}.")["input_ids"]
        assert encoded == world.encode(sentence).tolist()
        assert tokenize.decode(encoded, skip_special_tokens=True) == sentence


ELSEWHERE = """
import socket, sys

connections = []
def refuse(*where, **how):
    connections.append(where)
    raise OSError("no network")
socket.getaddrinfo = socket.socket.connect = refuse
sys.modules["cloze"] = None  # there is no such package

from transformers import (
    AutoModelForMaskedLM, AutoTokenizer, PreTrainedTokenizerFast, pipeline
)

folder, again = sys.argv[1:]
trusted = {"trust_remote_code": True}
model = AutoModelForMaskedLM.from_pretrained(folder, **trusted)
tokenizer = AutoTokenizer.from_pretrained(folder, **trusted)
alone = PreTrainedTokenizerFast.from_pretrained(folder)  # and nobody is asked
text = "Ich heiße Müller, 5 [MASK]"
assert alone(text)["input_ids"] == tokenizer(text)["input_ids"]
model.save_pretrained(again)
tokenizer.save_pretrained(again)
first, second = pipeline("fill-mask", again, **trusted)("the qu[MASK]ck brown f[MASK]x jumps")
print(type(model).__module__, first[0]["token_str"], second[0]["token_str"], connections)
"""


@pytest.mark.slow
def test_elsewhere_the_folder_brings_its_code_and_asks_no_network(
    exported: dict[Path, Path], tmp_path: Path
) -> None:
    offline = {"HF_HUB_OFFLINE", "PYTHONPATH"}
    result = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(exported[SHIPPED]), str(tmp_path / "again")],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        env={k: v for k, v in os.environ.items() if k not in offline} | {"HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    module, *printed = result.stdout.split()
    assert module.startswith("transformers_modules.")
    assert printed == ["i", "o", "[]"]


# What cannot be exported


def test_a_refusal_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(ValueError, match="exists; name a new folder"):
        to_hugging_face(tmp_path)
    with pytest.raises(ValueError, match="says what comes next"):
        to_hugging_face(tmp_path / "new", CHECKPOINTS / "causal.safetensors")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


def test_what_is_not_finished_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(export, "_card", broken)
    with pytest.raises(KeyboardInterrupt):
        to_hugging_face(tmp_path / "folder")
    assert not [*tmp_path.iterdir()]
