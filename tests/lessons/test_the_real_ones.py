"""What notebook 13 rests on: equal functions, measurements, the question to a real BERT."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cloze.lessons.the_real_ones import asking
from cloze.prediction.predictors import MaskedPredictor
from cloze.prediction.shipped import shipped_model
from cloze.teaching.measurements import load_results
from cloze.tokenizer import plain_words
from measured.the_real_ones import family


def test_ours_rebuilt_is_the_same_function() -> None:
    apart = family.apart()
    assert apart.keys() == load_results("the_real_ones", "family")["apart"].keys()
    assert max(apart.values()) < 1e-4


def test_where_there_is_no_network_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    def unreachable(name: str) -> None:
        raise OSError(f"We couldn't connect to the hub for {name}\nand more")

    monkeypatch.setenv("CLOZE_NETWORK", "1")
    monkeypatch.setattr(transformers.AutoModelForMaskedLM, "from_pretrained", unreachable)
    assert re.fullmatch(r"not asked: BERT could not be fetched \(We .*bert.*\)", asking.ask_bert())


def test_a_bert_that_is_there_is_asked_every_question(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    words = {word for sentence in asking.ASKED for word in plain_words(sentence)}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizer(str(tmp_path / "vocab.txt"))
    shape: dict[str, Any] = {
        "vocab_size": len(vocabulary),
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    model: Any = BertForMaskedLM(BertConfig(**shape))
    said = asking.ask_bert(model.eval(), tokenizer).splitlines()
    assert len(said) == len(asking.ASKED)
    assert said[0].startswith("I drank [MASK] in the morning. → ")
    assert all(line.count(", ") == 4 for line in said)


def test_the_words_encoder_answers_in_words() -> None:
    words = MaskedPredictor(shipped_model("words"))
    said = asking.answers(words, "They sailed to the United [MASK] of America.")
    assert (len(said), said[0]) == (5, "states")
