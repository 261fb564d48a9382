"""Models of words as what widgets ask, from the command line, and in checkpoints."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from cloze.__main__ import main
from cloze.checkpoint import load_model, save_model
from cloze.encoder import EncoderConfig
from cloze.heads import MaskedLM
from cloze.prediction.lines import score
from cloze.prediction.predictors import MaskedPredictor, TruthPredictor
from cloze.prediction.symbols import Words
from cloze.vocabulary import MASK, PAD, TextError, Vocabulary
from cloze.world import GAPS_ONLY, World

WORLD = World({"the dog barks": 0.5, "the cat sleeps": 0.25, "the dog sleeps": 0.25})
LINE = ("the", "dog", "sleeps")


def small() -> MaskedLM:
    torch.manual_seed(0)
    config = EncoderConfig(
        vocab_size=len(WORLD.vocabulary), max_len=WORLD.max_len, d_model=16, n_heads=2, d_ff=16
    )
    return MaskedLM(config, WORLD.vocabulary).eval()


def test_words_are_encoded_and_decoded() -> None:
    words = Vocabulary(("cat", "sat"), (MASK, PAD))
    assert words.decode(words.encode(f"sat  {MASK} cat"), gap="_") == "sat _ cat"
    assert (words.n_ordinary, words.mask_id, words.pad_id, len(words)) == (2, 2, 3, 4)
    with pytest.raises(TextError, match=r"'cart' at position 4 .* the nearest is 'cat'"):
        words.encode("sat cart")


def test_a_checkpoint_brings_its_words(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, small(), {})
    again = load_model(path)
    assert again.vocabulary == WORLD.vocabulary
    ids = WORLD.encode("the _ sleeps")[None]
    assert torch.equal(again(ids), small()(ids))
    extended = MaskedLM(EncoderConfig(vocab_size=30), Vocabulary().with_specials(PAD))
    save_model(path, extended, {})
    assert load_model(path).vocabulary == extended.vocabulary


def test_a_model_of_words_answers_in_words() -> None:
    predictor = MaskedPredictor(small(), "both")
    answer = predictor.predict(LINE, [1])
    n = WORLD.vocabulary.n_ordinary
    expected = small()(WORLD.encode("the _ sleeps")[None])[0, 2, :n].softmax(0).detach()
    torch.testing.assert_close(answer[1], expected)
    dog = float(expected[WORLD.vocabulary.ids["dog"]])
    assert answer.cost(1) == pytest.approx(-math.log(dog), abs=1e-5)
    assert predictor.surprise(LINE)[1] == pytest.approx(answer.cost(1), abs=1e-5)
    pair = predictor.joint(LINE, [1, 2], 1, 2)
    torch.testing.assert_close(pair.sum(1), predictor.predict(LINE, [1, 2])[1])
    torch.testing.assert_close(score("the dog sleeps", small()), predictor.surprise(LINE))
    opened = predictor.opened(LINE, [1])
    assert opened
    logits = opened.module(opened.input_ids)[0, opened.before + 1]
    torch.testing.assert_close(opened.log_probs(logits).exp(), answer[1])


def test_words_are_read_as_they_are_typed() -> None:
    symbols = Words(WORLD.vocabulary)
    assert symbols.read("The dog, [MASK]!", 3) == (("the", "dog", "_"), "")
    assert symbols.write(LINE) == "the dog sleeps"
    assert symbols.words(LINE) == [range(1), range(1, 2), range(2, 3)]
    assert symbols.read_symbol("Cat") == "cat"
    with pytest.raises(ValueError, match="'cow' is not among the 5 words"):
        symbols.read_symbol("cow")


def test_the_truth_is_a_predictor() -> None:
    truth = TruthPredictor(WORLD, corruption=GAPS_ONLY)
    answer = truth.predict(("the", "cat", "sleeps"), [1])
    assert answer[1][WORLD.vocabulary.ids["cat"]] == pytest.approx(0.5)
    assert answer.cost(1) == pytest.approx(math.log(2))
    assert truth.predict(("the", "cat", "_"), [2]).cost(2) is None
    assert truth.predict(("the", "cat", "barks"), [2]).cost(2) == math.inf
    pair = truth.joint(LINE, [1, 2], 1, 2)
    ids = WORLD.vocabulary.ids
    assert pair[ids["cat"]][ids["barks"]] == 0
    apart, together = truth.pairs(LINE, [1, 2], 1, 2, k=40)
    assert together[0][0] == ("dog", "barks")
    assert together[0][1] == pytest.approx(0.5)
    first, second = truth.predict(LINE, [1, 2]).probabilities
    expected = first[ids["cat"]] * second[ids["barks"]]
    assert dict(apart)["cat", "barks"] == pytest.approx(expected.item())
    with pytest.raises(TextError, match="can have become"):
        truth.predict(("the", "_"), [1])


def test_a_world_is_trained_and_judged_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.toml").write_text(
        "[choice]\nx = ['cat sleeps', 'dog barks']\n[[scene]]\nshare = 1.0\nsentence = 'the {x}'\n"
    )
    assert main(["train", "m.safetensors", "--world", "w.toml", "--steps", "2"]) == 0
    assert load_model("m.safetensors").config.max_len == 5
    assert " 640 positions " in capsys.readouterr().out
    assert main(["evaluate", "m.safetensors", "--world", "w.toml"]) == 0
    floor, above = capsys.readouterr().out.splitlines()
    assert floor.startswith("floor")
    assert above.startswith("model above it")
    assert main(["fill", "the _ barks", "--checkpoint", "m.safetensors"]) == 0
    assert "the _ barks" in capsys.readouterr().out
    for words in (
        ["evaluate", "m.safetensors"],
        ["evaluate", "--world", "w.toml"],
        ["fill", "the _ flies", "--checkpoint", "m.safetensors"],
    ):
        assert main(words) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
