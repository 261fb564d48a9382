"""Byte-pair encoding: equal to what the library `tokenizers` does, and back again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Theirs
from tokenizers import models, pre_tokenizers, trainers

from cloze.tokenizer import START, Tokenizer
from cloze.vocabulary import TextError

WORDS = st.lists(st.text("aabbcdé", min_size=1, max_size=9), min_size=1, max_size=12)


def theirs(text: str, vocab_size: int) -> Any:
    """Train the library's byte-pair encoding, with words cut as ours are."""
    tokenizer: Any = Theirs(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement=START, prepend_scheme="always", split=True),
        ]
    )
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


@settings(max_examples=60)
@given(WORDS, st.integers(0, 30), st.data())
def test_it_is_that_of_the_library(words: list[str], more: int, data: st.DataObject) -> None:
    text = " ".join(words)
    letters = sorted(set("".join(words)))
    probe = " ".join(data.draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=4)))
    vocab_size = len(letters) + 1 + more
    ours, other = Tokenizer.train(text, vocab_size), theirs(text, vocab_size)
    learned = json.loads(other.to_str())["model"]["merges"]
    assert [list(pair) for pair in ours.merges] == [list(pair) for pair in learned]
    assert {piece: i for i, piece in enumerate(ours.vocabulary.ordinary)} == other.get_vocab()
    encoded = other.encode(probe)
    assert ours.pieces(probe) == encoded.tokens
    assert ours.encode(probe).tolist() == encoded.ids


def test_a_character_that_was_not_learned_is_named() -> None:
    with pytest.raises(TextError, match="'X' in 'abX' is not among the 4"):
        Tokenizer.train("abc", 10).pieces("abX")
