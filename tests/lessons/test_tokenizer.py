"""Byte-pair encoding: equal to what the library `tokenizers` does, and back again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Theirs
from tokenizers import models, pre_tokenizers, trainers

from cloze.corpus import Corpus
from cloze.lessons.the_real_ones.tokenizer import (
    START,
    Tokenizer,
    merge,
    pair_counts,
    shown,
    word_counts,
)
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


def assert_equal(text: str, vocab_size: int, probe: str) -> None:
    ours, other = Tokenizer.train(text, vocab_size), theirs(text, vocab_size)
    learned = json.loads(other.to_str())["model"]["merges"]
    assert [list(pair) for pair in ours.merges] == [list(pair) for pair in learned]
    assert {piece: i for i, piece in enumerate(ours.vocabulary.ordinary)} == other.get_vocab()
    encoded = other.encode(probe)
    assert ours.pieces(probe) == encoded.tokens
    assert ours.encode(probe).tolist() == encoded.ids


@settings(deadline=None, max_examples=150)
@given(WORDS, st.integers(0, 30), st.data())
def test_it_is_that_of_the_library(words: list[str], more: int, data: st.DataObject) -> None:
    text = " ".join(words)
    letters = sorted(set("".join(words)))
    probe = " ".join(data.draw(st.lists(st.text(letters, min_size=1, max_size=12), max_size=4)))
    assert_equal(text, len(letters) + 1 + more, probe)


def test_it_is_that_of_the_library_on_the_corpus() -> None:
    corpus = Corpus.load()
    text = "\n".join(piece.text for piece in corpus.train[:40])
    assert_equal(text, 1000, corpus.held_out[0].text)


def test_pairs_are_counted_and_merged_from_the_left() -> None:
    words = word_counts("aa aa b")
    assert words == {("▁", "a", "a"): 2, ("▁", "b"): 1}
    assert pair_counts(words) == {("▁", "a"): 2, ("a", "a"): 2, ("▁", "b"): 1}
    assert merge(("a", "a", "a"), ("a", "a")) == ("aa", "a")


def test_pieces_are_shown_as_bert_writes_them() -> None:
    pieces = ["[CLS]", "▁un", "believ", "able", "▁true", "[SEP]"]
    assert shown(pieces) == ["[CLS]", "un", "##believ", "##able", "true", "[SEP]"]
    assert shown(["▁", "x"]) == ["▁", "##x"]


def test_a_character_that_was_not_learned_is_named() -> None:
    with pytest.raises(TextError, match="'X' in 'abX' is not among the 4"):
        Tokenizer.train("abc", 10).pieces("abX")
