"""Models of word pieces: lines of pieces, checkpoints in 8 bits, the shipped words' encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from cloze.__main__ import main
from cloze.checkpoint import in_8_bits, in_float32, load_model, save_model
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.prediction.lines import fill, score
from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.symbols import WordPieces
from cloze.tokenizer import SEP, Tokenizer, plain_words
from cloze.vocabulary import MASK, TextError

TEXT = "the cat sat on the mat and the dog sat on the cat ( the end ) . isn't it ?"
TOKENIZER = Tokenizer.train(" ".join(plain_words(TEXT)), 60)
PIECES = WordPieces(TOKENIZER.vocabulary)


def small() -> MaskedLM:
    torch.manual_seed(0)
    size = len(TOKENIZER.vocabulary)
    config = EncoderConfig(vocab_size=size, max_len=12, d_model=16, n_heads=2, d_ff=16)
    return MaskedLM(config, TOKENIZER.vocabulary).eval()


def test_words_keep_apostrophes_and_lose_accents_and_capitals() -> None:
    said = plain_words("The café isn’t _open_ — “Tea”, 1912!")
    assert " ".join(said) == 'the cafe isn\'t open - " tea " , 1912 !'
    assert plain_words("a_b", keep="_") == ["a", "_", "b"]


def test_a_line_is_read_asked_and_written() -> None:
    line, _ = PIECES.read("The cat's [mask] (on) mäts.", 20)
    assert line[:2] == ("the", "cat")
    assert "_" in line
    assert PIECES.write(line) == "the cat's _ (on) mats."
    assert PIECES.read(PIECES.write(line), 20)[0] == line
    assert [len(word) for word in PIECES.words(line)][:1] == [1]
    assert sum(map(len, PIECES.words(line))) == len(line)
    ids = PIECES.input_ids(line)
    assert TOKENIZER.vocabulary.decode(ids).count(SEP) == 2
    assert TOKENIZER.vocabulary.symbols[ids[line.index("_") + 1]] == MASK


def test_what_cannot_be_read_is_one_sentence() -> None:
    for typed, most, why in (("§", 9, "empty"), ("the cat", 1, "shorten"), ("x", 9, "not among")):
        with pytest.raises(TextError, match=why):
            PIECES.read(typed, most)
    assert PIECES.read_symbol("Cat") == "cat"
    for wrong in (3, "_", "", "cat dog"):
        with pytest.raises(ValueError, match="A gap holds one piece"):
            PIECES.read_symbol(wrong)


def test_a_tokenizer_comes_back_from_its_pieces() -> None:
    assert Tokenizer.of(TOKENIZER.vocabulary) == TOKENIZER


def test_8_bits_keep_a_model_up_to_half_a_step(tmp_path: Path) -> None:
    model = small()
    save_model(tmp_path / "whole.safetensors", model, {})
    save_model(tmp_path / "small.safetensors", model, {}, bits=8)
    again = load_model(tmp_path / "small.safetensors")
    assert again.vocabulary == model.vocabulary
    for name, tensor in model.state_dict().items():
        step = tensor.abs().amax(dim=-1, keepdim=True) / 127 if tensor.dim() == 2 else 1e-9
        assert ((again.state_dict()[name] - tensor).abs() <= 0.501 * step).all(), name
    kept = in_8_bits(again.state_dict())  # what was rounded once is not changed again
    for name, tensor in in_float32(kept).items():
        torch.testing.assert_close(tensor, again.state_dict()[name])


def test_a_line_is_filled_and_scored() -> None:
    model = small()
    filled = fill("the cat _ on _ mat.", model)
    assert filled.typed == "the cat _ on _ mat."
    assert "_" not in filled.text
    assert len(score("the cat sat", model)) == 3
    apart, together = MaskedPredictor(model).pairs(("the", "_", "_"), [1, 2], 1, 2)
    assert len(apart) == len(together) == 5


def test_the_command_fills_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fill", "They sailed to the United _ of America.", "--words"]) == 0
    assert "they sailed to the united states of america." in capsys.readouterr().out
